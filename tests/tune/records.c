/* records.c - records as text: handed out, taken in, and refused where they are unsound or do not fit
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/cache_fixture.h"
#include "tests/lib/fake_measure.h"
#include "tests/lib/unsaved.h"

#include <stddef.h>
#include <sys/types.h>

#include <sha256.h>

static const char *const problems[] = { "f32 b1 h1 q9 k20 d8 causal", "f32 b1 h1 q9 k20 d8", "f32 b1 h1 q1 k20 d8" };
/* What fits narrow rows and not wide ones: here, or there. */
static const struct large {
    const char *narrow, *wide, *config;
} larges[] = { { "f32 b1 h1 q9 k20 d8", "f32 b1 h1 q9 k20 d576", "simt tx32,ty8,tm8,tn8,ch16,cv16,qres1" },
               { "f64 b1 h1 q9 k20 d8", "f64 b1 h1 q9 k20 d576", "simt tx16,ty8,tm8,tn8,ch16,cv16,qres1" },
               { "f64 b1 h1 q9 k20 d8", "f64 b1 h1 q9 k20 d576", "cpu w16,nv4,rk8,rd8,bk128" } };
enum { PROBLEMS = sizeof problems / sizeof *problems, TEXT = 1 << 16, EDITED = 8192 };

/* A handle with a directory of its own. */
struct place {
    const struct device *d;
    char dir[NEST_PATH];
    clattn_handle h;
};

static struct place open_place(const struct device *d, int tune)
{
    struct place x = { .d = d };
    cache_fixture_make(x.dir);
    x.h = cache_fixture_handle(d, tune, x.dir);
    return x;
}

static void close_place(struct place *x)
{
    clattn_release(x->h);
    cache_fixture_remove(x->dir);
}

/* ---- Text ---- */

struct text {
    char *at;
    size_t n;
    int calls, stop_at; /* the call that says no */
};

static cl_int append(void *user, const char *text, size_t len)
{
    struct text *t = user;
    if (++t->calls == t->stop_at)
        return 12345;
    if (t->n + len >= TEXT)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(t->at + t->n, text, len);
    t->n += len;
    t->at[t->n] = '\0';
    return CL_SUCCESS;
}

/* All records of a handle's device, to be freed. */
static char *export_all(clattn_handle h)
{
    struct text t = { calloc(1, TEXT), 0, 0, 0 };
    const cl_int e = t.at ? clattn_wisdom_export(h, append, &t) : CL_OUT_OF_HOST_MEMORY;
    if (e)
        bail("no export: %s", clattn_status_string(e));
    return t.at;
}

/* The record of one class as text, to be freed. */
static char *make_record(clattn_handle h, const char *problem, int effort, const char *config)
{
    const clattn_problem p = each_case(problem).problem;
    const cl_int e = pretend_tune(h, &p, effort, config);
    if (e)
        bail("no record: %s", clattn_status_string(e));
    return export_all(h);
}

/* The sum over all lines before it, made right. */
static void add_up(char *record)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[32];
    SHA256_CTX c;
    char *sum = strstr(record, "\nsum ");
    if (!sum)
        bail("a record without a sum:\n%s", record);
    SHA256_Init(&c);
    SHA256_Update(&c, (const uint8_t *)record, (size_t)(++sum - record));
    SHA256_Final(digest, &c);
    sum += 4;
    for (int i = 0; i < 32; i++) {
        sum[2 * i] = digits[digest[i] >> 4];
        sum[2 * i + 1] = digits[digest[i] & 15];
    }
}

/* A record with another value on the line of that key, and a sum that is right. */
static void edit(char out[EDITED], const char *record, const char *key, const char *value)
{
    char begin[64];
    snprintf(begin, sizeof begin, "\n%s ", key);
    const char *line = strstr(record, begin), *end = line ? strchr(line + 1, '\n') : NULL;
    if (!end)
        bail("a record without %s:\n%s", key, record);
    snprintf(out, EDITED, "%.*s\n%s %s%s", (int)(line - record), record, key, value, end);
    add_up(out);
}

static clattn_import_count import(clattn_handle h, const char *text, cl_int want, const char *what)
{
    clattn_import_count n = { sizeof n, -1, -1, -1, -1 };
    char words[512] = "";
    const cl_int e = clattn_wisdom_import(h, text, strlen(text), &n);
    clattn_error_detail(h, words, sizeof words, NULL);
    if (!ok(e == want && (!e || *words), "%s: import says %s", what, clattn_status_string(want)))
        diag("%s: %s", clattn_status_string(e), words);
    return n;
}

static void is_count(const clattn_import_count *n, int taken, int worse, int foreign, int refused, const char *what)
{
    if (!ok(n->taken == taken && n->worse == worse && n->foreign == foreign && n->refused == refused, "%s: counted",
            what))
        diag("taken %d, worse %d, foreign %d, refused %d", n->taken, n->worse, n->foreign, n->refused);
}

/* ---- There and back ---- */

static void test_round_trip(const struct device *d, const char *second)
{
    struct place x = open_place(d, CLATTN_TUNE_OFF);
    char *one[PROBLEMS] = { NULL };
    for (int i = 0; i < PROBLEMS; i++) {
        const clattn_problem p = each_case(problems[i]).problem;
        one[i] = make_record(x.h, problems[i], CLATTN_TUNE_QUICK, second);
        is_int(clattn_wisdom_forget(x.h, &p), CL_SUCCESS, "forget the class of %s", problems[i]);
        char *none = export_all(x.h);
        is_str(none, "", "and it is gone");
        free(none);
        clattn_import_count n = import(x.h, one[i], CL_SUCCESS, problems[i]);
        is_count(&n, 1, 0, 0, 0, problems[i]);
        char *again = export_all(x.h);
        is_str(again, one[i], "out, in and out again, it is the same text");
        free(again);
        clattn_wisdom_forget(x.h, &p);
    }
    char all[TEXT] = "# three of them\n\n";
    for (int i = 0; i < PROBLEMS; i++)
        strcat(strcat(all, one[i]), i ? "\n" : "# the next\n");
    clattn_import_count n = import(x.h, all, CL_SUCCESS, "three records, with remarks between");
    is_count(&n, PROBLEMS, 0, 0, 0, "three records");
    char *back = export_all(x.h);
    size_t length = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        ok(strstr(back, one[i]) != NULL, "record %d comes out as it went in", i);
        length += strlen(one[i]);
        free(one[i]);
    }
    is_int((long long)strlen(back), (long long)length, "and nothing else does");
    n = import(x.h, back, CL_SUCCESS, "the same again");
    is_int(n.taken + n.worse, PROBLEMS, "are all known");
    struct text t = { back, 0, 0, 2 };
    is_int(clattn_wisdom_export(x.h, append, &t), 12345, "export ends with the first status that is not CL_SUCCESS");
    is_int(t.calls, 2, "at once");
    is_int(clattn_wisdom_forget(x.h, NULL), CL_SUCCESS, "forget all");
    is_int(cache_fixture_each(x.dir, "tune", NULL, NULL), 0, "no file is left");
    free(back);
    close_place(&x);
}

/* ---- Counted ---- */

static void test_worse(const struct device *d, const char *first, const char *second)
{
    struct place x = open_place(d, CLATTN_TUNE_OFF);
    char *quick = make_record(x.h, problems[0], CLATTN_TUNE_QUICK, second);
    clattn_wisdom_forget(x.h, NULL);
    char *full = make_record(x.h, problems[0], CLATTN_TUNE_FULL, first);
    clattn_import_count n = import(x.h, quick, CL_SUCCESS, "a record of less effort");
    is_count(&n, 0, 1, 0, 0, "a record of less effort");
    char *now = export_all(x.h);
    is_str(now, full, "what is there stays");
    free(now);
    clattn_wisdom_forget(x.h, NULL);
    n = import(x.h, quick, CL_SUCCESS, "the same where there is none");
    is_count(&n, 1, 0, 0, 0, "the same where there is none");
    n = import(x.h, full, CL_SUCCESS, "one of more effort");
    is_count(&n, 1, 0, 0, 0, "one of more effort");
    now = export_all(x.h);
    is_str(now, full, "takes its place");
    free(now);
    free(full);
    free(quick);
    close_place(&x);
}

static void expect_refused(struct place *x, const char *record, int foreign, const char *what)
{
    const clattn_import_count n = import(x->h, record, CL_SUCCESS, what);
    is_count(&n, 0, 0, foreign, !foreign, what);
    char *now = export_all(x->h);
    is_str(now, "", "nothing is kept");
    free(now);
}

static const struct large *find_large(clattn_handle h)
{
    for (size_t i = 0; i < sizeof larges / sizeof *larges; i++) {
        const clattn_problem narrow = each_case(larges[i].narrow).problem, wide = each_case(larges[i].wide).problem;
        if (!clattn_emit_source(h, &narrow, larges[i].config, NULL, 0, NULL) &&
            clattn_emit_source(h, &wide, larges[i].config, NULL, 0, NULL) == CLATTN_ERROR_NOT_SUPPORTED)
            return &larges[i];
    }
    return NULL;
}

/* `record` for the class of another problem, with another configuration. */
static void edit_class(char out[EDITED], clattn_handle h, const char *record, const char *problem, const char *config)
{
    const clattn_problem p = each_case(problem).problem;
    char class[192], half[EDITED];
    if (clattn_class_of(h, &p, class, sizeof class, NULL))
        bail("no class");
    edit(half, record, "class", class);
    edit(out, half, "config", config);
}

/* Good elsewhere, and here for narrower rows. */
static void test_too_large(struct place *x, const char *record)
{
    const struct large *large = find_large(x->h);
    char out[EDITED];
    if (!large) {
        skip("every configuration fits every problem on %s", x->d->name);
        return;
    }
    edit_class(out, x->h, record, large->wide, large->config);
    expect_refused(x, out, 0, large->config);
    edit_class(out, x->h, record, large->narrow, large->config);
    const clattn_import_count n = import(x->h, out, CL_SUCCESS, "the same for narrow rows");
    is_count(&n, 1, 0, 0, 0, "the same for narrow rows");
}

static void test_not_for_here(const struct device *d, const char *second)
{
    static const char *const configs[] = {
        "nonsense 1", "cpu w16", "cpu", "naive wg7,bk3", "naive wg0,bk0", "simt tx1,ty1", "cpu w16,nv3,rk7,rd5,bk63"
    };
    static const char *const classes[] = { "nonsense", "f32", "f32 b1 h1 q16 k256 d577 causal",
                                           "f32 b1 h1 q16 k256 d32 page16 bwd" };
    struct place x = open_place(d, CLATTN_TUNE_OFF);
    char *record = make_record(x.h, problems[0], CLATTN_TUNE_QUICK, second), out[EDITED];
    clattn_wisdom_forget(x.h, NULL);
    edit(out, record, "device", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    expect_refused(&x, out, 1, "a record of another device");
    edit(out, record, "family", "999");
    expect_refused(&x, out, 1, "a record of other kernels");
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        edit(out, record, "config", configs[i]);
        expect_refused(&x, out, 0, configs[i]);
    }
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        edit(out, record, "class", classes[i]);
        expect_refused(&x, out, 0, classes[i]);
    }
    test_too_large(&x, record);
    free(record);
    close_place(&x);
}

/* ---- Unsound ---- */

/* Text that is not records from one end to the other changes nothing. */
static void expect_syntax(struct place *x, const char *text, size_t len, const char *before, const char *what)
{
    clattn_import_count n = { sizeof n, 0, 0, 0, 0 };
    const cl_int e = clattn_wisdom_import(x->h, text, len, &n);
    char words[512] = "";
    clattn_error_detail(x->h, words, sizeof words, NULL);
    char *now = export_all(x->h);
    if (!ok(e == CLATTN_ERROR_SYNTAX && *words && !n.taken && !strcmp(now, before), "%s: refused whole: %s", what,
            words))
        diag("%s, %d taken", clattn_status_string(e), n.taken);
    free(now);
}

/* Cut anywhere but at its end; a damaged byte anywhere. */
static void test_damaged(struct place *x, const char *record)
{
    const size_t n = strlen(record);
    char *text = malloc(n + 1), *now;
    int bad = 0;
    if (!text)
        bail("no memory");
    for (size_t i = 1; i < n; i++)
        bad += clattn_wisdom_import(x->h, record, i, NULL) != CLATTN_ERROR_SYNTAX;
    is_int(bad, 0, "a record cut at each of %zu places is refused", n - 1);
    for (size_t i = 0; i < n; i++) {
        memcpy(text, record, n);
        text[i] ^= 1 << i % 8;
        const cl_int e = clattn_wisdom_import(x->h, text, n, NULL);
        bad += e != CLATTN_ERROR_SYNTAX;
        if (e != CLATTN_ERROR_SYNTAX)
            diag("bit %zu of byte %zu: %s", i % 8, i, clattn_status_string(e));
    }
    is_int(bad, 0, "and one with a bit changed in each byte");
    now = export_all(x->h);
    is_str(now, "", "nothing of it is kept");
    free(now);
    free(text);
}

static void test_unsound(const struct device *d, const char *second)
{
    static const char *const texts[] = { "x", "clattn-tune 1\n", "clattn-tune 2\n", "sum 0\n", "\r\n", "# \x01\n" };
    struct place x = open_place(d, CLATTN_TUNE_OFF);
    char *record = make_record(x.h, problems[0], CLATTN_TUNE_QUICK, second), all[TEXT];
    clattn_wisdom_forget(x.h, NULL);
    test_damaged(&x, record);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_syntax(&x, texts[i], strlen(texts[i]), "", "what is no record");
    expect_syntax(&x, "\0\0\0", 3, "", "NUL bytes");
    memset(all, 'a', sizeof all);
    expect_syntax(&x, all, sizeof all, "", "an endless line");
    snprintf(all, sizeof all, "%s%snonsense\n", record, record);
    expect_syntax(&x, all, strlen(all), "", "two records and something else");
    clattn_import_count n = import(x.h, "", CL_SUCCESS, "no text at all");
    is_count(&n, 0, 0, 0, 0, "no text at all");
    n = import(x.h, "# nothing\n\n", CL_SUCCESS, "remarks alone");
    is_count(&n, 0, 0, 0, 0, "remarks alone");
    free(record);
    close_place(&x);
}

/* ---- In the directory, where anything may lie ---- */

static void keep_path(void *user, const char *file, size_t size)
{
    (void)size;
    snprintf(user, NEST_PATH, "%s", file);
}

/* Puts a text where the record of the first problem is; a plan is right then, and the table's. */
static void expect_ignored(struct place *x, const char *path, const char *problem, const char *record, const char *what)
{
    char first[128], why[512];
    const clattn_problem p = each_case(problem).problem;
    struct cache_fixture_plan how;
    if (cache_fixture_write(path, record, strlen(record)))
        bail("cannot write");
    clattn_handle h = cache_fixture_handle(x->d, CLATTN_TUNE_READONLY, x->dir);
    const struct device n = cache_fixture_of(x->d, h);
    clattn_config_at(h, &p, 0, first, sizeof first);
    const int good = cache_fixture_run(&n, problem, NULL, &how, why, sizeof why);
    const clattn_counters c = cache_fixture_counters(h);
    if (!ok(good == 1 && how.source == CLATTN_ORIGIN_DEFAULT && !strcmp(how.config, first) && c.record_rejects >= 1,
            "%s: ignored and counted", what))
        diag("source %d, %s, %d rejects; %s", how.source, how.config, (int)c.record_rejects, why);
    clattn_release(h);
}

static void test_lying_large(struct place *x, const char *record)
{
    const struct large *large = find_large(x->h);
    char first[128], out[EDITED], path[NEST_PATH] = "";
    if (!large) {
        skip("every configuration fits every problem on %s", x->d->name);
        return;
    }
    const clattn_problem p = each_case(large->wide).problem;
    clattn_config_at(x->h, &p, 0, first, sizeof first);
    edit_class(out, x->h, record, large->wide, first);
    const clattn_import_count n = import(x->h, out, CL_SUCCESS, first);
    if (!n.taken || cache_fixture_each(x->dir, "tune", keep_path, path) != 1)
        bail("no record for %s", large->wide);
    edit_class(out, x->h, record, large->wide, large->config);
    expect_ignored(x, path, large->wide, out, large->config);
}

static void test_lying(const struct device *d, const char *second)
{
    static const char *const configs[] = { "nonsense 1", "cpu", "naive wg7,bk3", "cpu w16,nv3,rk7,rd5,bk63",
                                           "simt tx64,ty64,tm16,tn16,ch64,cv64,qres1" };
    struct place x = open_place(d, CLATTN_TUNE_OFF);
    char *record = make_record(x.h, problems[0], CLATTN_TUNE_QUICK, second), path[NEST_PATH] = "", out[EDITED];
    if (cache_fixture_each(x.dir, "tune", keep_path, path) != 1)
        bail("one record is not one file");
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        edit(out, record, "config", configs[i]);
        expect_ignored(&x, path, problems[0], out, configs[i]);
    }
    expect_ignored(&x, path, problems[0], "text", "what is no record");
    snprintf(out, sizeof out, "%s%s", record, record);
    expect_ignored(&x, path, problems[0], out, "a record twice");
    snprintf(out, sizeof out, "%s", record);
    out[strlen(out) / 2] ^= 1;
    expect_ignored(&x, path, problems[0], out, "a damaged one");
    clattn_wisdom_forget(x.h, NULL);
    test_lying_large(&x, record);
    free(record);
    close_place(&x);
}

/* What is ignored under auto is measured anew, and replaced. */
static void test_measured_anew(const struct device *d, const char *second)
{
    struct place x = open_place(d, CLATTN_TUNE_OFF);
    char *record = make_record(x.h, problems[0], CLATTN_TUNE_QUICK, second), path[NEST_PATH] = "", out[EDITED],
         why[512];
    struct cache_fixture_plan how;
    cache_fixture_each(x.dir, "tune", keep_path, path);
    edit(out, record, "config", "nonsense 1");
    if (cache_fixture_write(path, out, strlen(out)))
        bail("cannot write");
    clattn_options o = cache_fixture_options(CLATTN_TUNE_AUTO, x.dir);
    o.tune_seconds = 30;
    const clattn_handle h = each_handle(d, &o);
    const struct device n = cache_fixture_of(d, h);
    const int good = cache_fixture_run(&n, problems[0], NULL, &how, why, sizeof why);
    const clattn_counters c = cache_fixture_counters(h);
    ok(good == 1 && c.record_rejects >= 1 && c.searches <= 1 &&
           how.source == (c.record_saves ? CLATTN_ORIGIN_TUNED : CLATTN_ORIGIN_DEFAULT),
       "auto measures anew: source %d, %d rejects (%s)", how.source, (int)c.record_rejects, why);
    char *now = export_all(h);
    ok(!c.record_saves || (*now && !strstr(now, "nonsense")), "and records it");
    free(now);
    clattn_release(h);
    free(record);
    close_place(&x);
}

static void test_nulls(const struct device *d)
{
    struct place x = open_place(d, CLATTN_TUNE_OFF);
    clattn_import_count n = { 0, 7, 7, 7, 7 };
    struct text t = { NULL, 0, 0, 0 };
    is_int(clattn_wisdom_export(x.h, append, &t), CL_SUCCESS, "export of nothing");
    is_int(t.calls, 0, "calls nobody");
    is_int(clattn_wisdom_export(x.h, NULL, NULL), CLATTN_ERROR_INVALID_ARGUMENT, "export: write NULL is refused");
    is_int(clattn_wisdom_import(x.h, NULL, 0, NULL), CLATTN_ERROR_INVALID_ARGUMENT, "import: text NULL is refused");
    is_int(clattn_wisdom_import(x.h, "", 0, NULL), CL_SUCCESS, "import: count NULL is fine");
    is_int(clattn_wisdom_import(x.h, "", 0, &n), CLATTN_ERROR_INVALID_ARGUMENT, "import: count of size 0 is refused");
    n.struct_size = offsetof(clattn_import_count, worse);
    ok(clattn_wisdom_import(x.h, "", 0, &n) == CLATTN_ERROR_INVALID_ARGUMENT && n.taken == 7,
       "import: a count of a size that there never was is refused, and nothing filled");
    is_int(clattn_wisdom_forget(x.h, NULL), CL_SUCCESS, "forget: nothing to forget is fine");
    close_place(&x);
}

static void test_device(const struct device *d)
{
    const clattn_problem p = each_case(problems[0]).problem;
    char first[128] = "", second[128] = "";
    clattn_config_at(d->handle, &p, 0, first, sizeof first);
    test_nulls(d);
    if (clattn_config_at(d->handle, &p, 1, second, sizeof second)) {
        skip("there is nothing to choose from on %s", d->name);
        return;
    }
    test_round_trip(d, second);
    test_worse(d, first, second);
    test_not_for_here(d, second);
    test_unsound(d, second);
    test_lying(d, second);
    if (harness_shares(0))
        test_measured_anew(d, second);
}

int main(void)
{
    return each_device(test_device);
}
