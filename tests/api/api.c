/* api.c - handles and problems: what is refused, and how
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/harness.h"
#include "tests/lib/sound.h"
#include "tests/lib/tap.h"

#include <clattn_tune.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

static void *const garbage = (void *)1; /* never read: an output that must be overwritten */

/* A struct of a newer header: more fields behind what this library knows. */
struct long_options {
    clattn_options o;
    char more[40];
};
struct long_problem {
    clattn_problem p;
    char more[40];
};

/* ---- Handles ---- */

/* `user` has 256 bytes. */
static void listen(void *user, const char *text)
{
    snprintf(user, 256, "%s", text);
}

static void test_create(const struct device *d)
{
    cl_context context = d->cl.context;
    cl_device_id device = d->cl.device;
    clattn_options told = CLATTN_OPTIONS_INIT;
    clattn_handle h = garbage;
    struct long_options o;
    char line[256] = "";
    told.log = listen;
    told.log_user = line;
    ok(clattn_create(NULL, context, device, NULL) < 0, "create: out NULL is refused");
    ok(clattn_create(&h, NULL, device, NULL) < 0 && !h, "create: context NULL is refused, *out is NULL");
    h = garbage;
    ok(clattn_create(&h, context, NULL, NULL) < 0 && !h, "create: device NULL is refused, *out is NULL");
    ok(clattn_create(&h, NULL, device, &told) < 0 && strstr(line, "context"), "the log is told: %s", line);
    ok(clattn_create(&h, context, NULL, &told) < 0 && strstr(line, "device"), "the log is told: %s", line);
    memset(&o, 0, sizeof o);
    h = garbage;
    is_int(clattn_create(&h, context, device, &o.o), CLATTN_ERROR_INVALID_ARGUMENT, "create: struct_size 0 is refused");
    ok(!h, "and *out is NULL");
    o.o.struct_size = SIZE_MAX;
    ok(ours(clattn_create(&h, context, device, &o.o)), "create: struct_size SIZE_MAX is refused");
    o.o.struct_size = sizeof o;
    o.more[39] = 1;
    is_int(clattn_create(&h, context, device, &o.o), CLATTN_ERROR_UNKNOWN_FIELD,
           "create: a tail that is not zero is refused");
    o.more[39] = 0;
    is_int(clattn_create(&h, context, device, &o.o), CL_SUCCESS, "create: a tail of zeros is fine");
    clattn_release(h);
    o.o.struct_size = offsetof(clattn_options, why);
    is_int(clattn_create(&h, context, device, &o.o), CL_SUCCESS, "create: a struct of an older header is fine");
    is_int(clattn_retain(h), CL_SUCCESS, "retain");
    is_int(clattn_release(h), CL_SUCCESS, "release, still held");
    is_int(clattn_release(h), CL_SUCCESS, "release, the last");
    ok(clattn_release(NULL) == CL_SUCCESS && clattn_plan_release(NULL) == CL_SUCCESS, "releasing NULL is fine");
    ok(clattn_retain(NULL) < 0 && clattn_plan_retain(NULL) < 0, "retaining NULL is not");
}

/* There is no handle to ask why there is none. */
static void test_create_words(const struct device *d)
{
    static const clattn_store wrong = { 12, NULL, NULL, NULL };
    cl_context context = d->cl.context;
    cl_device_id device = d->cl.device;
    char words[256], few[8], line[256];
    struct {
        clattn_options o;
        size_t more;
    } longer = { CLATTN_OPTIONS_INIT, 1 };
    const struct {
        const char *what, *words;
        clattn_handle *out;
        cl_context context;
        cl_device_id device;
        int tune, reserved;
        const clattn_store *store;
        int longer;
    } rows[] = { { "out NULL", "out is NULL", NULL, context, device, 0, 0, NULL, 0 },
                 { "context NULL", "context is NULL", garbage, NULL, device, 0, 0, NULL, 0 },
                 { "device NULL", "device is NULL", garbage, context, NULL, 0, 0, NULL, 0 },
                 { "tune 99", "clattn_options.tune is 99", garbage, context, device, 99, 0, NULL, 0 },
                 { "reserved 1", "clattn_options.reserved", garbage, context, device, 0, 1, NULL, 0 },
                 { "a store of size 12", "clattn_store.struct_size is 12", garbage, context, device, 0, 0, &wrong, 0 },
                 { "a tail", "is not zero", garbage, context, device, 0, 0, NULL, 1 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_handle h = garbage;
        clattn_options *const o = &longer.o;
        *o = (clattn_options)CLATTN_OPTIONS_INIT;
        o->struct_size = rows[i].longer ? sizeof longer : sizeof *o;
        o->tune = rows[i].tune;
        o->reserved = rows[i].reserved;
        o->store = rows[i].store;
        o->log = listen;
        o->log_user = line;
        o->why = words;
        o->why_len = sizeof words;
        strcpy(line, "-");
        strcpy(words, "-");
        ok(clattn_create(rows[i].out ? &h : NULL, rows[i].context, rows[i].device, o) < 0 &&
               strstr(words, rows[i].words) && !strcmp(line, words),
           "create: %s is refused in words, and the log has the same: %s", rows[i].what, words);
        memset(few, 'x', sizeof few);
        o->why = few;
        o->why_len = 4;
        ok(clattn_create(rows[i].out ? &h : NULL, rows[i].context, rows[i].device, o) < 0 && strlen(few) == 3 &&
               !strncmp(few, words, 3) && few[4] == 'x',
           "cut to their room");
        o->why_len = 0;
        few[0] = 'y';
        ok(clattn_create(rows[i].out ? &h : NULL, rows[i].context, rows[i].device, o) < 0 && few[0] == 'y',
           "of which none is used where there is none");
    }
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_handle h = NULL;
    o.why = words;
    o.why_len = sizeof words;
    ok(!clattn_create(&h, context, device, &o) && !*words, "create: none after success");
    clattn_release(h);
    clattn_cache_info info = { 0 };
    strcpy(words, "-");
    ok(clattn_cache_stat(&o, &info) < 0 && strstr(words, "clattn_cache_info.struct_size is 0"), "cache_stat: %s",
       words);
    info.struct_size = sizeof info;
    ok(!clattn_cache_stat(&o, &info) && !*words, "none after success");
    o.store = &wrong;
    strcpy(words, "-");
    o.struct_size = 12;
    ok(clattn_cache_clear(&o) < 0 && !strcmp(words, "-"),
       "cache_clear: nothing is read of options of a size that is none");
}

/* ---- Problems ---- */

/* supports() and plan_create() refuse alike, in words. */
static void refused(const struct device *d, const clattn_problem *p, const char *what)
{
    char why[256] = "", detail[256] = "";
    clattn_plan plan = garbage;
    cl_int s = clattn_supports(d->handle, p, why, sizeof why), e = clattn_plan_create(&plan, d->handle, p, NULL);
    clattn_error_detail(d->handle, detail, sizeof detail, NULL);
    if (!ok(ours(e) && s == e && !plan && *why && *detail, "%s is refused (%s): %s", what, clattn_status_string(e),
            detail))
        diag("supports says %s: '%s'", clattn_status_string(s), why);
}

#define REFUSED(change)                                                                                                \
    do {                                                                                                               \
        clattn_problem p = sound();                                                                                    \
        change;                                                                                                        \
        refused(d, &p, #change);                                                                                       \
    } while (0)

static void test_problems(const struct device *d)
{
    const clattn_problem same = sound();
    is_int(clattn_supports(d->handle, &same, NULL, 0), CL_SUCCESS, "a sound problem is supported");
    REFUSED(p.struct_size = 0);
    REFUSED(p.struct_size = 3);
    REFUSED(p.struct_size = SIZE_MAX);
    REFUSED(p.type = 5);
    REFUSED(p.type = -1);
    REFUSED(p.k_type = 77);
    REFUSED(p.v_type = -3);
    REFUSED(p.k_type = CLATTN_F64);
    REFUSED(p.type = CLATTN_F64; p.v_type = CLATTN_F32);
    REFUSED(p.d = 0);
    REFUSED(p.d = -1);
    REFUSED(p.d = 577);
    REFUSED(p.d = INT32_MAX);
    REFUSED(p.dv = -1);
    REFUSED(p.dv = 577);
    REFUSED(p.causal = 2);
    REFUSED(p.causal = -1);
    REFUSED(p.align = 4);
    REFUSED(p.align = -1);
    REFUSED(p.flags = 2048);
    REFUSED(p.flags = 0x80000000u);
    REFUSED(p.scale = NAN);
    REFUSED(p.scale = INFINITY);
    REFUSED(p.scale = -INFINITY; p.flags = CLATTN_SCALE);
    REFUSED(p.scale = 1e-44);
    REFUSED(p.scale = -1.1754942e-38; p.flags = CLATTN_SCALE);
    REFUSED(p.scale = 2.2250738585072009e-308; p.type = CLATTN_F64);
    REFUSED(p.softcap = -1);
    REFUSED(p.softcap = NAN);
    REFUSED(p.softcap = INFINITY);
    REFUSED(p.dropout_p = -0.1);
    REFUSED(p.dropout_p = 1);
    REFUSED(p.dropout_p = NAN);
    REFUSED(p.dropout_p = 0.1; p.flags = CLATTN_BATCH_INVARIANT);
    REFUSED(p.flags = CLATTN_REPEAT);
    REFUSED(p.flags = CLATTN_BIAS_SLOPES);
    REFUSED(p.flags = CLATTN_BIAS_SLOPES | CLATTN_ALIBI; p.bias_type = CLATTN_F32);
    REFUSED(p.flags = CLATTN_WINDOW; p.window_left = -2);
    REFUSED(p.flags = CLATTN_WINDOW; p.window_right = INT32_MIN);
    REFUSED(p.flags = CLATTN_WINDOW; p.window_right = INT32_MAX);
    REFUSED(p.flags = CLATTN_WINDOW; p.window_left = (1 << 30) + 1);
    REFUSED(p.flags = CLATTN_WINDOW; p.window_right = (1 << 30) + 1);
    REFUSED(p.flags = CLATTN_WINDOW; p.window_right = -2);
    REFUSED(p.window_left = 3); /* but no CLATTN_WINDOW */
    REFUSED(p.bias_type = -1);
    REFUSED(p.bias_type = CLATTN_I32);
    REFUSED(p.bias_type = CLATTN_F64);
    REFUSED(p.reserved = 1);
    REFUSED(p.sizes.total_q = -1);
    REFUSED(p.sizes.total_k = INT64_MAX);
    REFUSED(p.sizes.b = -1);
    REFUSED(p.sizes.h = -1);
    REFUSED(p.sizes.h = 0); /* but hk 2 */
    REFUSED(p.sizes.hk = -1);
    REFUSED(p.sizes.h = 3);
    REFUSED(p.sizes.nq = -1);
    REFUSED(p.sizes.nk = INT64_MIN);
    REFUSED(p.sizes.nq = (int64_t)1 << 31);
    REFUSED(p.sizes.nk = INT64_MAX);
    REFUSED(p.sizes.nq = ((int64_t)1 << 30) + 1);
}

/* Sizes only help to choose. */
static void test_no_sizes(const struct device *d)
{
    clattn_problem p = sound();
    clattn_plan plan = NULL;
    p.sizes.h = p.sizes.hk = 0;
    is_int(clattn_supports(d->handle, &p, NULL, 0), CL_SUCCESS, "a problem without heads is supported");
    memset(&p.sizes, 0, sizeof p.sizes);
    is_int(clattn_supports(d->handle, &p, NULL, 0), CL_SUCCESS, "and without any size");
    is_int(clattn_plan_create(&plan, d->handle, &p, NULL), CL_SUCCESS, "and has a plan");
    clattn_plan_release(plan);
}

static void test_problem_structs(const struct device *d)
{
    struct long_problem l;
    clattn_plan plan = garbage;
    char why[8] = "xxxxxxx", words[256] = "";
    memset(&l, 0, sizeof l);
    l.p = sound();
    l.p.struct_size = sizeof l;
    is_int(clattn_supports(d->handle, &l.p, NULL, 0), CL_SUCCESS, "a problem with a tail of zeros is fine");
    l.more[0] = 1;
    is_int(clattn_supports(d->handle, &l.p, NULL, 0), CLATTN_ERROR_UNKNOWN_FIELD, "with another tail it is refused");
    is_int(clattn_plan_create(&plan, d->handle, &l.p, NULL), CLATTN_ERROR_UNKNOWN_FIELD, "by plan_create too");
    ok(!plan, "and *out is NULL");
    ok(clattn_supports(NULL, &l.p, NULL, 0) < 0 && clattn_supports(d->handle, NULL, NULL, 0) < 0,
       "supports: NULL is refused");
    ok(clattn_supports(NULL, &l.p, words, sizeof words) == CLATTN_ERROR_INVALID_ARGUMENT &&
           !strcmp(words, "handle is NULL"),
       "in words: %s", words);
    ok(clattn_supports(d->handle, NULL, words, sizeof words) < 0 && strstr(words, "clattn_problem is NULL"),
       "of either: %s", words);
    l.p.struct_size = sizeof l.p;
    ok(!clattn_supports(d->handle, &l.p, words, sizeof words) && !*words, "and none of what is supported");
    l.p.struct_size = sizeof l.p;
    l.p.d = 0;
    ok(clattn_supports(d->handle, &l.p, why, 4) < 0 && strlen(why) == 3 && why[4] == 'x',
       "words are cut to their room");
}

static void test_every_type(const struct device *d)
{
    int type;
    for (type = CLATTN_F32; type <= CLATTN_F64; type++) {
        clattn_problem p = sound();
        char why[256] = "";
        cl_int s;
        clattn_plan plan = NULL;
        p.type = type;
        s = clattn_supports(d->handle, &p, why, sizeof why);
        is_int(clattn_plan_create(&plan, d->handle, &p, NULL), s, "type %d: supports and plan_create agree (%s)", type,
               why);
        ok(!s == !!plan, "type %d: a plan exactly when they say so", type);
        clattn_plan_release(plan);
    }
}

/* ---- Details ---- */

static void *fresh_detail(void *arg)
{
    const struct device *d = arg;
    static char text[256] = "x";
    clattn_error_detail(d->handle, text, sizeof text, NULL);
    return text;
}

static void test_detail(const struct device *d)
{
    clattn_problem p = sound();
    char text[256] = "", cut[5] = "";
    size_t needed = 0;
    pthread_t thread;
    void *other = NULL;
    p.d = 0;
    ok(clattn_supports(d->handle, &p, NULL, 0) < 0, "a failure");
    if (pthread_create(&thread, NULL, fresh_detail, (void *)(uintptr_t)d) || pthread_join(thread, &other))
        bail("no thread");
    is_str(other, "", "is not the failure of another thread");
    is_int(clattn_error_detail(d->handle, text, sizeof text, &needed), CL_SUCCESS, "but of this one");
    ok(*text && needed == strlen(text) + 1, "in words: %s", text);
    clattn_error_detail(d->handle, cut, sizeof cut, NULL);
    ok(strlen(cut) == 4 && !strncmp(cut, text, 4), "cut to their room");
    ok(clattn_error_detail(NULL, text, sizeof text, NULL) < 0, "of no handle there are none");
}

int main(void)
{
    const struct device *devices;
    const char *why;
    char version[32];
    unsigned n = harness_open(&devices, &why), i;
    if (!n)
        return skip_all("%s", why);
    snprintf(version, sizeof version, "%d.%d.%d", CLATTN_VERSION_MAJOR, CLATTN_VERSION_MINOR, CLATTN_VERSION_PATCH);
    is_str(clattn_version(), version, "the library is the header's");
    for (i = 0; i < n; i++) {
        diag("%s", devices[i].name);
        test_create(&devices[i]);
        test_create_words(&devices[i]);
        test_problems(&devices[i]);
        test_no_sizes(&devices[i]);
        test_problem_structs(&devices[i]);
        test_every_type(&devices[i]);
        test_detail(&devices[i]);
    }
    harness_close();
    return done_testing();
}
