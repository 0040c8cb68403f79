/* damaged_mods.c - score_mods and derivatives that are damaged at random: refused in words, or texts of another sense
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing crashes, and no failure lacks its words. make check has a few; CLATTN_PART=1: hundreds. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/made_mods.h"

/* One of these is put somewhere, in place of so many bytes. */
static const char *const pieces[] = { "",
                                      "{",
                                      "}",
                                      "(",
                                      ")",
                                      ";",
                                      "\"",
                                      "'",
                                      "/*",
                                      "*/",
                                      "//",
                                      "\\",
                                      "\\\n",
                                      "\n",
                                      "\r",
                                      "#",
                                      "\n#if 0\n",
                                      "\n#else\n",
                                      "\n#endif\n",
                                      "\n#include \"clattn.h\"\n",
                                      "\n#line 0 \"\"\n",
                                      "\n#line 2147483647 \"mods\"\n",
                                      "\n#define s\n",
                                      "\n#undef INFINITY\n",
                                      "\n#define cla_mods x\n",
                                      "\n#pragma OPENCL EXTENSION all : disable\n",
                                      "\n#error no\n",
                                      "\xc3\xa4",
                                      "\xff\xfe",
                                      "\x01",
                                      "\x7f",
                                      "?"
                                      "?/\n",
                                      "?"
                                      "?=",
                                      "<:",
                                      "%:%:",
                                      "cla_e",
                                      "CLA_FN",
                                      "return s;",
                                      "__kernel",
                                      "goto end;",
                                      "s",
                                      "ds",
                                      "table",
                                      "0x",
                                      "1e999",
                                      "'\\",
                                      "__attribute__((",
                                      "asm(",
                                      "&s",
                                      "*table",
                                      "\f" };
enum { PIECES = sizeof pieces / sizeof *pieces };

static void damage(char *text, uint64_t seed)
{
    char tail[MADE_TEXT];
    for (unsigned times = 1 + (unsigned)(made_uniform(seed, 1) * 3); times--;) {
        const size_t n = strlen(text);
        size_t at = (size_t)(made_uniform(seed, 10 + times) * (double)n), gone = 0;
        if (made_uniform(seed, 40 + times) < 0.5)
            at += strcspn(text + at, "\n"); /* between two statements, which more often makes sense */
        else
            gone = (size_t)(made_uniform(seed, 20 + times) * 6);
        snprintf(tail, sizeof tail, "%s", text + (at + gone < n ? at + gone : n));
        text[at] = '\0';
        snprintf(text + at, MADE_TEXT - at, "%s%s", pieces[(int)(made_uniform(seed, 30 + times) * PIECES)], tail);
    }
}

/* A damaged text, or a damaged derivative of one that is whole. There are no captured buffers, so that a plan's own
 * sample runs what compiles. */
struct damaged {
    struct made_texts t;
    clattn_score_mod mod;
    const char *grad;
    clattn_problem p;
};

static void make_damaged(struct damaged *d, uint64_t seed)
{
    const int back = seed / 2 % 2;
    const struct made_mod m = made_mod(seed);
    const struct made_form f = made_form(0, seed % 2);
    made_mod_write(&d->t, &f, &m, 0);
    damage(back ? d->t.grad : d->t.mod, seed);
    d->mod = (clattn_score_mod){ d->t.mod, seed % 5 ? "damaged.cl" : "a \"name\" \\\n", f.flags };
    d->grad = d->t.grad;
    d->p = (clattn_problem)CLATTN_PROBLEM_INIT;
    d->p.d = 4;
    d->p.sizes = (clattn_sizes){ 1, 2, 1, 3, 5, 0, 0, 0 };
    d->p.mods = &d->mod;
    d->p.n_mods = 1;
    d->p.mod_grads = &d->grad;
    d->p.flags = back ? CLATTN_BACKWARD : 0;
}

/* Composed only: the library's own part, which needs no compiler. */
static void test_composed(unsigned times)
{
    static char source[1 << 20];
    static struct damaged d;
    unsigned good = 0;
    for (unsigned i = 0; i < times; i++) {
        size_t needed = 0;
        make_damaged(&d, 1000 + i);
        const cl_int e = clattn_emit_source(NULL, &d.p, "cpu", source, sizeof source, &needed);
        good += !e && needed == strlen(source) + 1 && strstr(source, d.p.flags ? d.t.grad : d.t.mod);
    }
    is_int(good, times, "damaged texts are in their programs as they are");
}

static void test_built(const struct device *device, unsigned seed)
{
    static struct damaged d;
    static char words[1 << 16];
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    make_damaged(&d, seed);
    o.config = d.p.flags ? "cpu" : "naive wg1,bk8";
    const cl_int e = clattn_plan_create(&plan, device->handle, &d.p, &o);
    clattn_error_detail(device->handle, words, sizeof words, NULL);
    const int refused = (e == CLATTN_ERROR_BUILD || e == CLATTN_ERROR_WRONG_RESULT) && !plan && *words;
    if (!ok((!e && plan) || refused, "%s: damaged text %u: %s", device->name, seed, clattn_status_string(e)))
        diag("%s\n%s\n%s", words, d.t.mod, d.t.grad);
    clattn_plan_release(plan);
}

static void test_device(const struct device *d)
{
    enum { NUMBERS = 400, DEALT = 67 };
    test_composed(harness_rest() ? 20000 : 1000);
    for (unsigned n = 0; n < NUMBERS; n++)
        if (harness_deals(n, DEALT))
            test_built(d, n);
}

int main(void)
{
    return each_device(test_device);
}
