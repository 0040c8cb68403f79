/* tune_api.c - trials, classes, counters: pointers, sizes, places past the end; and all of it in a child of fork()
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/cache_fixture.h"
#include "tests/lib/fake_measure.h"
#include "tests/lib/process.h"
#include "tests/lib/sound.h"

#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[] = "f32 b1 h1 q9 k20 d8 causal";
enum { BAD_ARGUMENT = CLATTN_ERROR_INVALID_ARGUMENT, CLASSES_MAX = 1000 };

/* ---- Trials ---- */

static void test_trial(clattn_handle h)
{
    const clattn_problem p = each_case(text).problem;
    const uint64_t before = cache_fixture_counters(h).trials;
    char config[128];
    clattn_trial t = NULL;
    clattn_config_at(h, &p, 0, config, sizeof config);
    is_int(clattn_trial_create(&t, h, &p, config), CL_SUCCESS, "trial: %s", config);
    int bad = 0;
    for (int i = 0; i < 5; i++) {
        double seconds = -1;
        bad += clattn_trial_run(t, &seconds) || !(seconds > 0) || !(seconds < 1e6);
    }
    is_int(bad, 0, "trial: runs, in some time");
    is_int((long long)(cache_fixture_counters(h).trials - before), 1, "trial: is counted");
    is_int(clattn_trial_run(t, NULL), BAD_ARGUMENT, "trial: seconds NULL is refused");
    is_int(clattn_trial_release(t), CL_SUCCESS, "trial: release");
    is_int(clattn_trial_release(NULL), CL_SUCCESS, "trial: release of NULL");
    is_int(clattn_trial_run(NULL, NULL), BAD_ARGUMENT, "trial: NULL does not run");
}

/* Two at once, and one that outlives the handle's other owners. */
static void test_trials(const struct device *d)
{
    const clattn_problem p = each_case(text).problem;
    clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    clattn_trial a = NULL, b = NULL;
    char config[128];
    double seconds = 0;
    clattn_config_at(h, &p, 0, config, sizeof config);
    ok(!clattn_trial_create(&a, h, &p, config) && !clattn_trial_create(&b, h, &p, config), "trial: two at once");
    clattn_release(h);
    is_int(clattn_trial_run(b, &seconds), CL_SUCCESS, "trial: keeps its handle");
    clattn_trial_release(b);
    is_int(clattn_trial_run(a, &seconds), CL_SUCCESS, "trial: is its own");
    clattn_trial_release(a);
}

static void test_no_trial(clattn_handle h)
{
    static const struct {
        const char *config;
        cl_int status;
    } configs[] = { { NULL, BAD_ARGUMENT },
                    { "nonsense", CLATTN_ERROR_SYNTAX },
                    { "cpu nonsense", CLATTN_ERROR_SYNTAX },
                    { "naive wg99999,bk8", CLATTN_ERROR_NOT_SUPPORTED },
                    { "simt tx64,ty64,tm16,tn16,ch64,cv64,qres1", CLATTN_ERROR_NOT_SUPPORTED } };
    clattn_problem p = each_case(text).problem;
    clattn_trial t;
    char config[128], words[512];
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        t = (clattn_trial)&p;
        const cl_int e = clattn_trial_create(&t, h, &p, configs[i].config);
        clattn_error_detail(h, words, sizeof words, NULL);
        ok(e == configs[i].status && !t && *words, "trial: configuration %s is refused: %s",
           configs[i].config ? configs[i].config : "NULL", words);
    }
    clattn_config_at(h, &p, 0, config, sizeof config);
    is_int(clattn_trial_create(NULL, h, &p, config), BAD_ARGUMENT, "trial: out NULL is refused");
    t = (clattn_trial)&p;
    ok(clattn_trial_create(&t, NULL, &p, config) == BAD_ARGUMENT && !t, "trial: handle NULL is refused");
    t = (clattn_trial)&p;
    ok(ours(clattn_trial_create(&t, h, NULL, config)) && !t, "trial: problem NULL is refused");
    p.d = -1;
    t = (clattn_trial)&p;
    ok(ours(clattn_trial_create(&t, h, &p, config)) && !t, "trial: a problem that is none is refused");
}

/* ---- What has nothing to be measured on ---- */

static void test_captures(clattn_handle h)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct extras x;
    struct pretend fake = { .seed = 0 };
    const clattn_measure measure = pretend_measure(&fake);
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    const char *why;
    char config[128], words[512] = "";
    clattn_trial t = (clattn_trial)&c;
    memset(&x, 0, sizeof x);
    if (clattn_workload_parse("f32 b1 h1 q9 k20 d8 mod:tanh_gate", &c, NULL, 0) || extras_mods(&c, &x, &why))
        bail("no score_mod");
    clattn_config_at(h, &c.problem, 0, config, sizeof config);
    const cl_int e = clattn_trial_create(&t, h, &c.problem, config);
    clattn_error_detail(h, words, sizeof words, NULL);
    ok(e == CLATTN_ERROR_NOT_SUPPORTED && !t, "captured buffers: no trial: %s", words);
    is_int(clattn_tune(h, &c.problem, NULL, NULL, 0), CLATTN_ERROR_NOT_SUPPORTED, "captured buffers: no tuning");
    is_int(clattn_set_config(h, &c.problem, config), CLATTN_ERROR_NOT_SUPPORTED,
           "captured buffers: no configuration can be checked");
    o.measure = &measure; /* whoever measures elsewhere may have buffers */
    is_int(clattn_tune(h, &c.problem, &o, NULL, 0), CLATTN_ERROR_NOT_SUPPORTED,
           "captured buffers: not elsewhere either");
    ok(pretend_is_over(&fake), "captured buffers: every open has its close");
    pretend_forget(&fake);
    extras_free(&x);
}

/* ---- Classes ---- */

static void class_of(char out[192], clattn_handle h, const clattn_problem *p)
{
    *out = '\0';
    if (clattn_class_of(h, p, out, 192, NULL))
        bail("no class");
}

/* A class is the class of its problem. */
static void test_class_at(clattn_handle h)
{
    char class[192], again[192];
    int n = 0, bad = 0;
    while (n < CLASSES_MAX && !clattn_class_at(h, (size_t)n, class, sizeof class)) {
        const clattn_problem p = each_case(class).problem;
        class_of(again, h, &p);
        bad += strcmp(class, again) != 0;
        if (strcmp(class, again))
            diag("%s is of the class %s", class, again);
        n++;
    }
    ok(n >= 8 && n < CLASSES_MAX && !bad, "class_at: %d classes, each the class of its problem", n);
    is_int(clattn_class_at(h, (size_t)n, class, sizeof class), CL_INVALID_VALUE, "class_at: past the end");
    is_int(clattn_class_at(h, SIZE_MAX, class, sizeof class), CL_INVALID_VALUE, "class_at: far past the end");
    is_int(clattn_class_recorded(h, 0, class, sizeof class), CL_INVALID_VALUE, "class_recorded: there is none");
    is_int(clattn_class_recorded(h, SIZE_MAX, class, sizeof class), CL_INVALID_VALUE, "class_recorded: nor a last one");
    is_int(clattn_class_at(h, 0, NULL, 0), CL_SUCCESS, "class_at: text NULL is fine");
    is_int(clattn_class_at(NULL, 0, class, sizeof class), BAD_ARGUMENT, "class_at: handle NULL is refused");
    is_int(clattn_class_recorded(NULL, 0, class, sizeof class), BAD_ARGUMENT, "class_recorded: handle NULL is refused");
}

static void test_class_of(clattn_handle h)
{
    clattn_problem p = each_case(text).problem;
    size_t needed = 0;
    char class[192], cut[8];
    class_of(class, h, &p);
    is_int(clattn_class_of(h, &p, NULL, 0, &needed), CL_SUCCESS, "class_of: the room can be asked");
    is_int((long long)needed, (long long)strlen(class) + 1, "class_of: is right");
    ok(!clattn_class_of(h, &p, cut, sizeof cut, NULL) && strlen(cut) == sizeof cut - 1 &&
           !strncmp(class, cut, strlen(cut)),
       "class_of: is cut to its room");
    is_int(clattn_class_of(NULL, &p, class, sizeof class, NULL), BAD_ARGUMENT, "class_of: handle NULL is refused");
    ok(ours(clattn_class_of(h, NULL, class, sizeof class, NULL)), "class_of: problem NULL is refused");
    p.d = 0;
    ok(ours(clattn_class_of(h, &p, class, sizeof class, NULL)), "class_of: a problem that is none is refused");
}

/* Texts, and what they capture, are of the class; their names are not. */
static void test_mods(clattn_handle h)
{
    const clattn_aux real = { "x", CLATTN_F32 }, whole = { "x", CLATTN_I32 };
    clattn_score_mod mods[2] = { { "s = s * 2;", "one", 0 }, { "s = s - 1;", "two", 0 } };
    clattn_problem p = each_case(text).problem;
    char none[192], one[192], other[192];
    class_of(none, h, &p);
    p.mods = mods;
    p.n_mods = 1;
    class_of(one, h, &p);
    ok(strstr(one, " mod:#") && strcmp(one, none), "mods: are of the class: %s", one);
    mods[0].name = "another name";
    class_of(other, h, &p);
    is_str(other, one, "mods: by any name");
    mods[0].text = "s = s * 3;";
    class_of(other, h, &p);
    ok(strcmp(other, one), "mods: another text is another class");
    mods[0].text = "s = s * 2;";
    mods[0].flags = CLATTN_MOD_VECTOR;
    class_of(other, h, &p);
    ok(strcmp(other, one), "mods: another kind is another class");
    mods[0].flags = 0;
    p.n_mods = 2;
    class_of(one, h, &p);
    const clattn_score_mod first = mods[0];
    mods[0] = mods[1];
    mods[1] = first;
    class_of(other, h, &p);
    ok(strcmp(other, one), "mods: another order is another class");
    p.n_aux = 1;
    p.aux = &real;
    class_of(one, h, &p);
    p.aux = &whole;
    class_of(other, h, &p);
    ok(strcmp(other, one), "mods: so is another type of what they capture");
}

/* ---- Numbers given back ---- */

/* A struct of another header's, longer or shorter. */
struct wide {
    union {
        clattn_counters counters;
        clattn_plan_info info;
    } of;
    unsigned char more[16];
};

static void test_stats(clattn_handle h)
{
    struct wide w;
    memset(&w, 0x77, sizeof w);
    w.of.counters.struct_size = sizeof(clattn_counters) + 8;
    ok(!clattn_stats(h, &w.of.counters) && w.of.counters.store_faults == 0 && w.more[0] == 0x77 &&
           w.of.counters.struct_size == sizeof(clattn_counters) + 8,
       "stats: a longer struct keeps its tail");
    memset(&w, 0x77, sizeof w);
    w.of.counters.struct_size = offsetof(clattn_counters, binary_misses);
    ok(clattn_stats(h, &w.of.counters) == BAD_ARGUMENT && w.of.counters.compiles == 0x7777777777777777u,
       "stats: a size that there never was is refused, and nothing filled");
    for (size_t n = 0; n < sizeof(size_t); n++) {
        w.of.counters.struct_size = n;
        is_int(clattn_stats(h, &w.of.counters), BAD_ARGUMENT, "stats: struct_size %zu is refused", n);
    }
    is_int(clattn_stats(h, NULL), BAD_ARGUMENT, "stats: counters NULL is refused");
    is_int(clattn_stats(NULL, &w.of.counters), BAD_ARGUMENT, "stats: handle NULL is refused");
}

static void test_info(clattn_plan plan)
{
    struct wide w;
    memset(&w, 0x77, sizeof w);
    w.of.info.struct_size = sizeof(clattn_plan_info) + 8;
    ok(!clattn_plan_get_info(plan, &w.of.info) && w.of.info.origin == CLATTN_ORIGIN_DEFAULT &&
           w.of.info.binary == CLATTN_BINARY_NONE && ((unsigned char *)&w)[sizeof(clattn_plan_info)] == 0x77,
       "plan_info: a longer struct keeps its tail");
    memset(&w, 0x77, sizeof w);
    w.of.info.struct_size = offsetof(clattn_plan_info, binary);
    ok(clattn_plan_get_info(plan, &w.of.info) == BAD_ARGUMENT && w.of.info.origin == 0x77777777,
       "plan_info: a size that there never was is refused, and nothing filled");
    w.of.info.struct_size = 0;
    is_int(clattn_plan_get_info(plan, &w.of.info), BAD_ARGUMENT, "plan_info: struct_size 0 is refused");
    is_int(clattn_plan_get_info(plan, NULL), BAD_ARGUMENT, "plan_info: info NULL is refused");
    is_int(clattn_plan_get_info(NULL, &w.of.info), BAD_ARGUMENT, "plan_info: plan NULL is refused");
}

/* ---- Arguments of the rest ---- */

static void test_nulls(clattn_handle h)
{
    clattn_problem p = each_case(text).problem, none = each_case(text).problem;
    char config[128];
    none.d = 0;
    clattn_config_at(h, &p, 0, config, sizeof config);
    is_int(clattn_tune(NULL, &p, NULL, NULL, 0), BAD_ARGUMENT, "tune: handle NULL is refused");
    ok(ours(clattn_tune(h, NULL, NULL, NULL, 0)), "tune: problem NULL is refused");
    ok(ours(clattn_tune(h, &none, NULL, NULL, 0)), "tune: a problem that is none is refused");
    is_int(clattn_set_config(NULL, &p, config), BAD_ARGUMENT, "set_config: handle NULL is refused");
    ok(ours(clattn_set_config(h, NULL, config)), "set_config: problem NULL is refused");
    ok(ours(clattn_set_config(h, &none, NULL)), "set_config: a problem that is none is refused");
    is_int(clattn_wisdom_export(NULL, NULL, NULL), BAD_ARGUMENT, "export: handle NULL is refused");
    is_int(clattn_wisdom_import(NULL, "", 0, NULL), BAD_ARGUMENT, "import: handle NULL is refused");
    is_int(clattn_wisdom_forget(NULL, NULL), BAD_ARGUMENT, "forget: handle NULL is refused");
    ok(ours(clattn_wisdom_forget(h, &none)), "forget: a problem that is none is refused");
    is_int((long long)cache_fixture_counters(h).searches, 0, "and nothing was searched");
}

/* ---- fork() ---- */

static cl_int write_nothing(void *user, const char *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len;
    return CL_SUCCESS;
}

/* In the child: the number of the first call that did not say CLATTN_ERROR_FORKED, 0 when all did. */
static int first_wrong(clattn_handle h, clattn_plan plan, clattn_trial trial)
{
    const clattn_problem p = each_case(text).problem;
    clattn_counters counters = CLATTN_COUNTERS_INIT;
    clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
    clattn_import_count count = { sizeof count, 0, 0, 0, 0 };
    clattn_forward_args args = CLATTN_FORWARD_ARGS_INIT;
    clattn_plan made = plan;
    clattn_trial tried = trial;
    char room[192];
    double seconds;
    const cl_int said[] = { clattn_class_of(h, &p, room, sizeof room, NULL),
                            clattn_class_at(h, 0, room, sizeof room),
                            clattn_class_recorded(h, 0, room, sizeof room),
                            clattn_trial_create(&tried, h, &p, "naive"),
                            clattn_trial_run(trial, &seconds),
                            clattn_tune(h, &p, NULL, room, sizeof room),
                            clattn_set_config(h, &p, NULL),
                            clattn_wisdom_export(h, write_nothing, NULL),
                            clattn_wisdom_import(h, "", 0, &count),
                            clattn_wisdom_forget(h, NULL),
                            clattn_stats(h, &counters),
                            clattn_plan_get_info(plan, &info),
                            clattn_plan_create(&made, h, &p, NULL),
                            clattn_error_detail(h, room, sizeof room, NULL),
                            clattn_enqueue_block_map(plan, NULL, &args, 0, NULL, NULL) };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (said[i] != CLATTN_ERROR_FORKED)
            return (int)i + 1;
    return tried || made ? 50 : 0;
}

/* What needs no object works on, and releases do. */
struct objects {
    clattn_handle h;
    clattn_plan plan;
    clattn_trial trial;
};
static int child(void *user)
{
    const struct objects x = *(const struct objects *)user;
    clattn_options o = cache_fixture_options(0, "");
    clattn_cache_info info = { sizeof info, 0, 0, 0, 0, 0, 0, "" };
    const int wrong = first_wrong(x.h, x.plan, x.trial);
    if (wrong)
        return wrong;
    if (clattn_cache_stat(&o, &info) || clattn_cache_clear(&o))
        return 60;
    return clattn_trial_release(x.trial) || clattn_plan_release(x.plan) || clattn_release(x.h) ? 61 : 0;
}

static void test_fork(clattn_handle h, clattn_plan plan)
{
    const clattn_problem p = each_case(text).problem;
    clattn_trial trial = NULL;
    char config[128];
    double seconds = 0;
    clattn_config_at(h, &p, 0, config, sizeof config);
    if (clattn_trial_create(&trial, h, &p, config))
        bail("no trial");
    is_int(in_child(child, &(struct objects){ h, plan, trial }), 0,
           "every call of a child says CLATTN_ERROR_FORKED, releases work");
    is_int(clattn_trial_run(trial, &seconds), CL_SUCCESS, "the parent works on");
    clattn_trial_release(trial);
}

static void test_device(const struct device *d)
{
    const clattn_problem p = each_case(text).problem;
    clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    const clattn_plan plan = each_own_plan(h, &p, NULL);
    test_class_of(h);
    test_class_at(h);
    test_mods(h);
    test_nulls(h);
    test_no_trial(h);
    test_captures(h);
    test_trial(h);
    test_trials(d);
    test_stats(h);
    test_info(plan);
    test_fork(h, plan);
    clattn_plan_release(plan);
    clattn_release(h);
}

int main(void)
{
    return each_device(test_device);
}
