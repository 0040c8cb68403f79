/* report.c - what clattn-report makes of words and numbers: names that are left out, facts, findings, compilers' words
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"
#include "tools/report/compiled.h"
#include "tools/report/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What nobody has to know ---- */

static void scrubbed(const struct scrub *s, const char *from, const char *want)
{
    char got[512];
    scrub_text(s, from, got, sizeof got);
    is_str(got, want, "%s", from);
}

static void check_scrub(void)
{
    struct scrub s = { 0, { "" } };
    char four[5];
    scrub_name(&s, "annette");
    scrub_name(&s, "box-7.example");
    scrub_name(&s, "me");
    scrubbed(&s, "In file included from /var/annette/x.cl:3:7: error", "In file included from (path):3:7: error");
    scrubbed(&s, "cannot open '/usr/lib/libze.so'", "cannot open '(path)'");
    scrubbed(&s, "cache=/var/tmp/x, dir:~/kernels ./a.cl", "cache=(path), dir:(path) (path)");
    scrubbed(&s, "C:\\Users\\annette\\x.cl(3,7): error", "(path)(3,7): error");
    scrubbed(&s, "c:/temp/x.cl:3: error", "(path):3: error");
    scrubbed(&s, "\\\\server\\share is gone", "(path) is gone");
    scrubbed(&s, "tmp/a/b.cl", "(path)");
    scrubbed(&s, "user annette on box-7.example", "user (name) on (name)");
    scrubbed(&s, "annettes and me", "annettes and me");
    scrubbed(&s, "GPU-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f", "GPU-(id)");
    scrubbed(&s, "GPU at 0000:65:00.0, and 65:00.0", "GPU at (id), and (id)");
    scrubbed(&s, "f16 b1 h8/2 q1 k4096 d192/128 k:int8:32", "f16 b1 h8/2 q1 k4096 d192/128 k:int8:32");
    scrubbed(&s, "Portable Computing Language / cpu-Intel(R) Core(TM) i7 @ 3.60GHz",
             "Portable Computing Language / cpu-Intel(R) Core(TM) i7 @ 3.60GHz");
    scrubbed(&s, "gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-");
    scrubbed(&s, "OpenCL 3.0 CUDA 12.4.131", "OpenCL 3.0 CUDA 12.4.131");
    scrubbed(&s, "a\tb\nc", "a b c");
    scrubbed(&s, "", "");
    scrub_text(&s, "see /a/b", four, sizeof four);
    is_str(four, "see ", "what does not fit is cut off");
}

/* ---- Facts ---- */

static void add(struct fact all[], size_t *n, int device, const char *line)
{
    struct scrub none = { 0, { "" } };
    ok(fact_read(&all[*n], line, &none) == 0, "read: %.*s", (int)strcspn(line, "\t"), line);
    all[(*n)++].device = device;
}

static const char *as_json(const struct fact *f, char text[512])
{
    FILE *const file = tmpfile();
    size_t n = 0;
    if (file) {
        fact_print_json(file, f);
        rewind(file);
        n = fread(text, 1, 511, file);
        (void)fclose(file);
    }
    text[n] = '\0';
    return text;
}

static void check_facts(void)
{
    struct scrub s = { 0, { "" } };
    struct fact f;
    struct fact_line l;
    char text[512], *const words = calloc(1, 1000);
    fact_begin(&l, "refused");
    fact_add(&l, "f32 b1\th1");
    fact_add(&l, "cpu");
    fact_add(&l, "line 1\nline \"2\" of /var/x/y");
    ok(fact_read(&f, l.text, &s) == 0, "a line is read");
    is_str(fact_value(&f, "problem"), "f32 b1 h1", "no tab is in a value");
    is_str(fact_value(&f, "nothing"), "", "a field that is not there");
    is_str(as_json(&f, text), "{\"problem\": \"f32 b1 h1\", \"config\": \"cpu\", \"words\": \"line 1 line \\\"2\\\" of "
                              "(path)\"}", "JSON");
    fact_free(&f);
    fact_begin(&l, "probe");
    fact_add_number(&l, 12.5, 4);
    fact_add_number(&l, NAN, 4);
    fact_add(&l, "12, \"x\": 3");
    ok(fact_read(&f, l.text, &s) == 0, "a line that ends early is read");
    is_str(as_json(&f, text), "{\"f32_gflops\": 12.5, \"read_gbytes_s\": null, \"copy_gbytes_s\": null, "
                              "\"read_256k_gbytes_s\": null}", "what is no number is null");
    ok(fact_number(&f, "f32_gflops") == 12.5 && isnan(fact_number(&f, "read_gbytes_s")), "numbers");
    fact_free(&f);
    ok(fact_read(&f, "nonsense\tx", &s) != 0, "a line of no kind is refused");
    fact_free(&f);
    memset(words, 'x', 999);
    fact_begin(&l, "log");
    fact_add(&l, words);
    ok(strlen(l.text) == strlen("log\t") + FACT_WORDS, "long words are cut off");
    for (int i = 0; i < 20; i++)
        fact_add(&l, words);
    ok(strlen(l.text) == FACT_LINE - 1, "so is a long line");
    free(words);
}

/* ---- Findings ---- */

static void finds(const struct findings *f, size_t i, const char *kind, const char *part)
{
    const char *const words = i < f->n ? f->all[i].words : "";
    ok(i < f->n && !strcmp(f->all[i].kind, kind) && strstr(words, part), "%d is of kind %s: %s", (int)i + 1, kind,
       words);
}

static void check_findings(void)
{
    struct fact all[32];
    struct findings f;
    size_t n = 0;
    add(all, &n, 0, "left_out\tbench\tnot asked for");
    add(all, &n, 0, "left_out\tkernels\ttime");
    add(all, &n, 0, "left_out\ttuning\ttime");
    add(all, &n, 0, "kernel\tslow\tcpu\tk\t12.5\t1\t64\t0\t0\t0\t1\t");
    add(all, &n, 0, "bench\tdecode\tfine\tcpu\t1\t1\t11\t5\t6\t0.9\tmemory\tprobe\t");
    add(all, &n, 0, "bench\tdecode\thalf\tcpu\t1\t1\t11\t5\t6\t0.4\tmemory\tprobe\t");
    add(all, &n, 0, "bench\tprefill\tworst\tcpu\t1\t1\t11\t5\t6\t0.1\tmemory\tprobe\t");
    add(all, &n, 0, "tuned\tsame\tcpu a\tcpu a\t1\t5\t0\t");
    add(all, &n, 0, "tuned\ttile\tcpu a\tcpu b\t0.5\t5\t0\t");
    add(all, &n, 0, "kernel\tspills\tcpu\tk\t1\t1\t255\t96\t0\t0\t1\t");
    add(all, &n, 0, "kernel\tspills more\tcpu\tk\t1\t1\t255\t960\t0\t0\t1\t");
    add(all, &n, 0, "engine\tmma_nv\tf16\trefused\tnull\t\tnull\t\tneeds an NVIDIA GPU");
    add(all, &n, 0, "engine\tsimt\tf16\tnot built\tnull\t\tnull\t\terror: no such type");
    add(all, &n, 0, "check\trefused\t\t\tnull\trefused\tno f64");
    add(all, &n, 1, "trouble\tchecks\tgradients\tdied of SIGSEGV");
    add(all, &n, 0, "trouble\ttuning\tsearching for x: simt\tit gave no answer for 60 s, and was killed");
    add(all, &n, 0, "check\tright\tcpu\tO\t0.99\twithin\t");
    add(all, &n, 0, "check\toff\tcpu\tO\t1.5\tBEYOND\t");
    add(all, &n, 1, "engine\trow\tf16\tBEYOND\t1\tLSE\t7\trow x\t");
    add(all, &n, 0, "check\tnot a number\tcpu\tdq\tnull\tBEYOND\tNaN");
    add(all, &n, 0, "engine\tcpu\tf16\tWRONG\tnull\t\tnull\t\tO, row 3");
    add(all, &n, 0, "log\tengine mma_nv is not used: it failed its self-test on this device: O, row 3");
    add(all, &n, 0, "log\ta search takes 2 s");
    ok(findings_make(&f, all, n) == 0, "findings are made");
    ok(f.n == 15, "and no more than there are: %d", (int)f.n);
    const struct { const char *kind, *part; } want[] = {
        { "wrong", "" },         { "wrong", "" },           { "wrong", "is off by 7 times its bound" },
        { "wrong", "off with cpu: O is off by 1.5 times its bound" }, { "wrong", "self-test" },
        { "crash", "gradients: died of SIGSEGV" }, { "refused", "engine simt in f16: not built: error: no such type" },
        { "spill", "spills 960 bytes" }, { "spill", "spills 96 bytes" }, { "tile", "cpu b takes 0.5 of the time" },
        { "speed", "worst: 0.1 of the roofline" }, { "speed", "half: 0.4" }, { "compile", "simt: it gave no answer" },
        { "compile", "12.5 s" },
        { "left-out", "left out, all or in part (time): kernels, tuning" },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        finds(&f, i, want[i].kind, want[i].part);
    ok(f.n > 5 && f.all[2].device == 1 && f.all[5].device == 1 && f.all[3].device == 0, "each has its device");
    findings_free(&f);
    for (size_t i = 0; i < n; i++)
        fact_free(&all[i]);
}

/* ---- Compilers ---- */

static void check_logs(void)
{
    static const char ptxas[] =
        "ptxas info    : Compiling entry function 'cla_forward' for 'sm_90'\n"
        "ptxas info    : Function properties for cla_forward\n"
        "    96 bytes stack frame, 104 bytes spill stores, 120 bytes spill loads\n"
        "ptxas info    : Used 168 registers, used 1 barriers, 480 bytes cmem[0]\n"
        "ptxas info    : Used 32 registers\n";
    struct compiled c = { NAN, NAN };
    compiled_read_log(&c, "warning: Used as it is, with bytes spill nothing");
    ok(isnan(c.registers) && isnan(c.spill_bytes), "words that are no numbers say nothing");
    compiled_read_log(&c, ptxas);
    ok(c.registers == 168 && c.spill_bytes == 120, "NVIDIA: %g registers, %g bytes", c.registers, c.spill_bytes);
    c.registers = c.spill_bytes = NAN;
    compiled_read_log(&c, "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads");
    ok(c.spill_bytes == 0, "none is 0");
}

/* MessagePack: a text of n bytes is 0xa0 + n and these, up to 127 one byte, 0xcc and one, 0xcd and two, high first. */
static void check_binaries(void)
{
    static const unsigned char amd[] =
        "\x7f" "ELF..\xb1.sgpr_spill_count\x04" "\xab.vgpr_count\xcc\x80" "\xb1.vgpr_spill_count\xcd\x01\x02"
        "\xab.vgpr_count\x40";
    struct compiled c = { NAN, NAN };
    compiled_read_binary(&c, (const unsigned char *)".vgpr_count 12", 14);
    ok(isnan(c.registers), "text that is no MessagePack says nothing");
    compiled_read_binary(&c, amd, sizeof amd - 1);
    ok(c.registers == 128 && c.spill_bytes == 4 * (258 + 4), "AMD: %g registers, %g bytes", c.registers, c.spill_bytes);
    for (size_t n = 0; n < sizeof amd; n++) {
        unsigned char *const part = malloc(n + 1); /* valgrind and sanitizers see what is read behind it */
        if (part && n) {
            memcpy(part, amd, n);
            compiled_read_binary(&c, part, n);
        }
        free(part);
    }
    ok(1, "binaries that are cut off");
}

int main(void)
{
    check_scrub();
    check_facts();
    check_findings();
    check_logs();
    check_binaries();
    return done_testing();
}
