/* selftest.c - an engine that computes wrong on a device is found out, told of, and not used
 * SPDX-License-Identifier: Apache-2.0
 *
 * Emulations stand in for engines with matrix units: the same test, on any device. A device with the units is
 * pretended. There the engine itself fails, since the compiler knows neither its options nor its instructions; where
 * it is to pass, it gets programs of its emulation. In make check both get those of engine cpu, which build soonest:
 * one with a fault, and of gradients one of that engine; the others fail there, and no more. CLATTN_PART=1: all, of the
 * emulations; tests/amd has AMD's own compilers, tests/intel Intel's. */
#include "config.h"

#include "src/api/handle.h"
#include "src/tune/selftest.h"
#include "tests/lib/each.h"
#include "tests/lib/cache_fixture.h"
#include "tests/lib/unsaved.h"

#include <stdlib.h>

/* ---- Programs with a fault ---- */

static const char *broken, *broken_to; /* what a program's text has instead; NULL: nothing */
static cl_context callers;
static int n_broken, n_apart; /* programs: with the fault; in another context than the caller's */

cl_program __real_clCreateProgramWithSource(cl_context, cl_uint, const char **, const size_t *, cl_int *);
cl_program __wrap_clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *status)
{
    const char *at = broken ? strstr(texts[0], broken) : NULL;
    cl_program program;
    char *text;
    n_apart += context != callers;
    if (!at)
        return __real_clCreateProgramWithSource(context, n, texts, lengths, status);
    text = malloc(strlen(texts[0]) + strlen(broken_to) + 1);
    if (!text)
        bail("no memory");
    sprintf(text, "%.*s%s%s", (int)(at - texts[0]), texts[0], broken_to, at + strlen(broken));
    program = __real_clCreateProgramWithSource(context, 1, (const char **)&text, NULL, status);
    n_broken++;
    free(text);
    return program;
}

/* ---- A driver that makes no context ---- */

typedef void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
static bool no_context;

cl_context __real_clCreateContext(const cl_context_properties *, cl_uint, const cl_device_id *, notify, void *,
                                  cl_int *);
cl_context __wrap_clCreateContext(const cl_context_properties *on, cl_uint n, const cl_device_id *devices, notify told,
                                  void *user, cl_int *status)
{
    if (!no_context)
        return __real_clCreateContext(on, n, devices, told, user, status);
    *status = CL_OUT_OF_RESOURCES;
    return NULL;
}

/* ---- A compiler that seems to know the units' instructions ---- */

/* Engines that want a test, the GPU that each is for, and which programs it gets where it is to pass. */
static const struct special {
    const char *name, *emulated;
    int nv_cc, gfx, sub_group;
} specials[] = { { "mma_nv", "mma_emu nw1,rt1,bk16,qreg1", 80, 0, 0 },
                 { "mfma", "mfma_emu nw1,rt1,bk16,qreg1", 0, 0x942, 0 },
                 { "wmma", "wmma_emu nw1,rt1,bk16,qreg1", 0, 0x1201, 0 },
                 { "dpas", "dpas_emu nw1,rt1,bk16,qreg1", 0, 0, 16 },
                 { "dpas8", "dpas_emu8 nw1,rt1,bk16,qreg1", 0, 0, 8 },
                 { "wmma", "wmma_emu11 nw1,rt1,bk16,qreg1", 0, 0x1100, 0 } },
  *special = specials; /* that which is tested now */
enum { SPECIALS = sizeof specials / sizeof *specials, BRIEF = 5 /* each engine once */ };

static int stands_in(void) /* engine cpu does */
{
    return !harness_more() && !harness_flag("CLATTN_QUICK");
}

static bool has_units;
static cl_int no_build; /* a build of the engine ends so; 0: not at once */

static bool is_named(const char *config, const char *engine)
{
    const size_t n = strlen(engine);
    return !strncmp(config, engine, n) && config[n] == ' ';
}

cl_int __real_build_launch(struct launch *, struct maker *, const clattn_problem *, const struct config *, bool, int *,
                           struct why *);
cl_int __wrap_build_launch(struct launch *out, struct maker *maker, const clattn_problem *p,
                           const struct config *config, bool brief, int *binary, struct why *why)
{
    struct config c = *config;
    const bool units = !strcmp(c.engine->name, special->name);
    static const char stand_in[] = "cpu w4,nv1,rk2,rd1,bk16";
    const char *const quick = (has_units && units) || is_named(special->emulated, c.engine->name)
                                  ? stands_in() ? stand_in : special->emulated
                                  : NULL; /* the tiles that build soonest */
    if (no_build && units)
        return why_set(why, no_build, "no build");
    if (quick && tile_config_read(&c, quick, &maker->caps, p, why))
        bail("%s", why->text);
    /* The option for Intel's registers goes with the engine's own program alone: no other compiler takes it. */
    const int sub_group = maker->caps.sub_group;
    maker->caps.sub_group = units && !quick ? sub_group : 0;
    const cl_int e = __real_build_launch(out, maker, p, &c, brief, binary, why);
    maker->caps.sub_group = sub_group;
    return e;
}

/* ---- Handles ---- */

static char lines[4096];
static void keep_line(void *user, const char *text)
{
    (void)user;
    snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s; ", text);
}
static int count_lines(const char *words)
{
    int n = 0;
    for (const char *at = lines; (at = strstr(at, words)); at++)
        n++;
    return n;
}

static clattn_handle open_handle(const struct device *d, const char *folder)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.cache_dir = folder;
    o.tune = CLATTN_TUNE_OFF;
    o.log = keep_line;
    *lines = '\0';
    callers = d->cl.context;
    n_apart = 0;
    return each_handle(d, &o);
}

static clattn_handle open_with_units(const struct device *d, const char *folder)
{
    clattn_handle h = open_handle(d, folder);
    h->maker.caps.nv_cc = special->nv_cc;
    h->maker.caps.gfx = special->gfx;
    h->maker.caps.sub_group = special->sub_group;
    return h;
}

/* ---- The test of an engine ---- */

static void test_engine(const struct device *d)
{
    static const struct {
        const struct special *by;
        const char *from, *to, *what;
    } faults[] = {
        { &specials[0], "+ v] + acc[j][v]", "+ v] - acc[j][v]", "sums of engine cpu" },
        { &specials[0], "t->part + j % CLA_MMA_DEPTH", "t->part + (j ^ 1) % CLA_MMA_DEPTH", "keys of S" },
        { &specials[0], "+ (x) % CLA_MMA_COLUMNS)", "+ ((x) + 1) % CLA_MMA_COLUMNS)", "rows of K" },
        { &specials[0], "CLA_PACK(x[(k) * CLA_R_N + r]", "CLA_PACK(x[(k) * CLA_R_N]", "rows of P" },
        { &specials[0], "sum += cla_half_of", "sum -= cla_half_of", "sums of products" },
        { &specials[1], "((item) % 16)", "((item) % 16 ^ 1)", "columns of lanes" },
        { &specials[1], "((item) / 16 % 4)", "((item) / 16 % 4 ^ 1)", "parts of lanes" },
        { &specials[1], "CLA_MMA_APART 16", "CLA_MMA_APART 32", "neighbours" },
        { &specials[2], "_COLUMN_0(item) ((item) % 16)", "_COLUMN_0(item) ((item) % 16 ^ 1)", "columns of lanes" },
        { &specials[2], "((item) / 16 % 2)", "((item) / 16 % 2 ^ 1)", "parts of lanes" },
        { &specials[3], "#define CLA_MMA_ROW(column) (column)", "#define CLA_MMA_ROW(column) ((column) ^ 1)",
          "columns of O" },
        { &specials[3], "const uint8 *x) { return x[0]; }", "const uint8 *x) { return x[0].s10325476; }",
          "elements of rows" },
        { &specials[3], "[CLA_WAVE * m + lane]", "[CLA_WAVE * m + (lane ^ 1)]", "lanes of blocks" },
        { &specials[3], "(row / 8 * (chunks / 2) + c / 2)", "(row / 8 * (chunks / 2) + c)", "places of K" },
        { &specials[3], "p % 8 * 8 + row % 8]", "p % 8 * 8 + (row ^ 1) % 8]", "places of V" },
        { &specials[4], "[CLA_WAVE * m + lane]", "[CLA_WAVE * (m ^ 1) + lane]", "rows of blocks" },
        { &specials[5], "((item) % 2 * 8 + (item) % 16 / 2)", "((item) % 16)", "columns of lanes" },
        { &specials[5], "_N * (h) + CLA_MMA_ROW(", "_N * (h) + (", "rows of D" },
        { &specials[5], "? (cla_left)(other, x[0])", "? (cla_left)(x[0], other)", "halves of rows" },
    };
    struct why why;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (stands_in() ? i : !i || !harness_deals((unsigned)i, 1))
            continue;
        special = faults[i].by;
        const struct engine *const emu = engine_find(special->emulated, strcspn(special->emulated, " "));
        clattn_handle h = open_handle(d, "off");
        n_broken = 0;
        broken = faults[i].from;
        broken_to = faults[i].to;
        is_int(selftest_run(&h->maker, emu, &why), CLATTN_ERROR_WRONG_RESULT, "%s, %s: it fails where %s are wrong: %s",
               d->name, emu->name, faults[i].what, why.text);
        ok(n_broken > 0, "which its program had");
        broken = NULL;
        clattn_release(h);
    }
    special = specials;
}

/* ---- The sample of a plan for gradients ---- */

/* A plan whose program has a fault is none, and words say which gradient is wrong. Without a fault there is a plan. */
struct gradient_fault {
    const char *from, *to, *wrong; /* NULL: no fault */
};
static const struct gradient_set {
    const char *config, *problem;
    bool captured;
    struct gradient_fault faults[9];
} gradient_sets[] = {
    { "cpu w4,nv1,rk2,rd1,bk16", "f32 b2 h2 q16 k16 d16 bias:11qk bwd", false,
      { { NULL, NULL, NULL },
        { "cla_scores_from(e, at) + q * at->q", "at->offset + e->h * at->b + e->h * at->h + q * at->q", "dBias" },
        { "cla_scores_from(e, at) + q * at->q", "at->offset + e->b * at->b + e->b * at->h + q * at->q", "dBias" },
        { "cla_load_bias(p) ((", "cla_load_bias(p) (2 * (", "dQ" },
        { "e->b < e->a->bias_shape[0] &&", "e->b < e->a->bias_shape[1] &&", "dBias" },
        { "h = row / a->bias_shape[2] %", "h = row / a->bias_shape[0] %", "dBias" },
        { "b * a->dbias.b + h * a->dbias.h", "b * a->dbias.b + b * a->dbias.h", "dBias" } } },
    { "cpu w4,nv1,rk2,rd1,bk16", "f32 b2 h2 q16 k16 d16 bwd", true,
      { { NULL, NULL, NULL },
        { "cla_add_kept_there(cell, cell + cla_aux_losses(a), grad)",
          "cla_add_kept_there(cell, cell + cla_aux_losses(a), ds)", "dAux" },
        { "index >= a->aux_n[j]", "index > a->aux_n[j]", "dAux" },
        { "a->aux_at[j] + index", "a->aux_at[0] + index", "dAux" },
        { "i < CLA_TABLES * a->aux_cells", "i < CLA_TABLES * a->aux_n[0]", "dAux" },
        { "cla_aux_parts(e) + i, (long)e->a->groups", "cla_aux_parts(e) + i, (long)e->a->parts", "dAux" },
        { "i - a->aux_at[2]", "i - a->aux_at[0]", "dAux" } } },
    { "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", "f32 b2 h2 q16 k16 d16 bwd", true,
      { { NULL, NULL, NULL },
        { "sum = lost = 0;", "sum = lost = sum;", "dAux" },
        { "cells + cell, sum", "cells + place, sum", "dAux" },
        { "CLA_LANE(to->grad, cla_scalar, lane) = grad", "CLA_LANE(to->grad, cla_scalar, lane) = ds", "dAux" },
        { "(integer)(-1) : index", "(integer)(-1) : -index", "dAux" } } },
    { "mma_emu nw1,rt1,bk16,qreg0", "f16 b2 h2 q16 k16 d16 bias:11qk bwd", false,
      { { NULL, NULL, NULL },
        { "(t)->first : cla_slot_k(t, 0, j)", "(t)->first : cla_slot_k(t, 0, 0)", "dK" },
        { "CLA_R_N + r] * f[r], x[((k) + 1) * CLA_R_N + r] * f[r]",
          "CLA_R_N + r] * f[0], x[((k) + 1) * CLA_R_N + r] * f[0]", "dQ" },
        { "wanted & CLA_DK_WANTED) cla_add_1(t, e, ds, q0)", "wanted & CLA_DK_WANTED) cla_add_1(t, e, p, q0)", "dK" },
        { "of_query += *(__local real *)", "of_query -= *(__local real *)", "dBias" } } },
};

static void give_mods(clattn_problem *p)
{
    static const clattn_score_mod mods[] = { { "s += table[(h + 1) << 28];", NULL, 0 },
                                             { "s *= gate[(h + 1) << 28];", NULL, CLATTN_MOD_VECTOR } };
    static const char *const mod_grads[] = { "table_index = q - k;", "gate_index = k;" };
    static const clattn_aux aux[] = { { "table", CLATTN_F32 }, { "list", CLATTN_I32 }, { "gate", CLATTN_F32 } };
    p->n_mods = 2;
    p->mods = mods;
    p->mod_grads = mod_grads;
    p->n_aux = 3;
    p->aux = aux;
    p->aux_grads = 1 | 4;
}

static void test_gradient_fault(const struct device *d, const struct gradient_set *set, const struct gradient_fault *f)
{
    clattn_handle h = open_handle(d, "off");
    clattn_problem given = each_case(set->problem).problem, p;
    struct config config;
    struct launch launch;
    struct why why = { "" };
    int binary;
    if (set->captured)
        give_mods(&given);
    if (problem_read(&p, &given, &why) || tile_config_read(&config, set->config, &h->maker.caps, &p, &why))
        bail("%s: %s", set->config, why.text);
    n_broken = 0;
    broken = f->from;
    broken_to = f->to;
    const cl_int status = __real_build_launch(&launch, &h->maker, &p, &config, true, &binary, &why);
    ok(f->wrong ? status == CLATTN_ERROR_WRONG_RESULT && strstr(why.text, f->wrong) && n_broken > 0 : !status,
       "%s: %s, with \"%s\": %d, %s", d->name, set->config, f->to ? f->to : "no fault", (int)status, why.text);
    broken = NULL;
    if (!status)
        launch_clear(&launch);
    clattn_release(h);
}

static bool is_cpu(const struct gradient_set *set)
{
    return !strncmp(set->config, "cpu ", 4);
}

enum { NEVER = 1000 }; /* more than there are */
static void test_gradients(const struct device *d)
{
    harness_never_optimised(); /* its optimiser takes minutes for some of them */
    unsigned all = 0;
    for (size_t i = 0; i < sizeof gradient_sets / sizeof *gradient_sets; i++)
        for (unsigned n = 0; !n || gradient_sets[i].faults[n].from; n++)
            if (harness_deals(7 + all++, is_cpu(&gradient_sets[i]) || harness_flag("CLATTN_QUICK") ? 16 : NEVER))
                test_gradient_fault(d, &gradient_sets[i], &gradient_sets[i].faults[n]);
    unsetenv("POCL_EXTRA_BUILD_FLAGS");
}

/* ---- A device where it fails ---- */

static const char text[] = "f16 b1 h2/1 q37 k83 d16 causal lse";

/* A plan of the engine, asked for by name since no CPU has it as its first choice, or the default: its configuration,
 * and whether what it computes is right. */
static void plan_is_right(const struct device *d, clattn_handle h, bool of_units, const char *what)
{
    char config[128] = "", why[512] = "";
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    struct fixture f;
    clattn_plan p = NULL;
    o.config = of_units ? special->name : NULL;
    each_open(&f, d, text, PADDED);
    const cl_int e = clattn_plan_create(&p, h, &f.t.c.problem, &o);
    is_int(e, CL_SUCCESS, "%s: a plan", what);
    if (!e) {
        ok(!clattn_plan_config(p, config, sizeof config, NULL) && is_named(config, special->name) == of_units,
           "%s: of %s: %s", what, of_units ? "the units" : "another engine", config);
        ok(!trial_run(&f.t, p, d->queue) && trial_verify(&f.t, d->queue, why, sizeof why), "%s: right (%s): %s", what,
           why, text);
    }
    clattn_plan_release(p);
    fixture_close(&f);
}

static void refused_by_name(clattn_handle h)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    clattn_plan p = NULL;
    char why[256] = "", tile[64];
    if (clattn_workload_parse("f16 b1 h1 q64 k64 d64", &c, why, sizeof why))
        bail("%s", why);
    o.config = special->name;
    const cl_int e = clattn_plan_create(&p, h, &c.problem, &o);
    clattn_error_detail(h, why, sizeof why, NULL);
    ok(e == CLATTN_ERROR_NOT_SUPPORTED && strstr(why, "failed its test"), "by name it is refused: %s", why);
    snprintf(tile, sizeof tile, "%s nw4,rt1,bk32,qreg1", special->name);
    o.config = tile;
    ok(clattn_plan_create(&p, h, &c.problem, &o) == CLATTN_ERROR_NOT_SUPPORTED, "and with a tile");
}

static int count_engine_lines(const char *words) /* "engine NAME WORDS" */
{
    char all[128];
    snprintf(all, sizeof all, "engine %s %s", special->name, words);
    return count_lines(all);
}

static void test_failing_device(const struct device *d, const char *folder)
{
    clattn_handle h = open_with_units(d, folder);
    no_context = true;
    plan_is_right(d, h, false, "untested");
    is_int(count_engine_lines("is not tested: clCreateContext"), 1, "without a context for it: %s", lines);
    no_context = false;
    plan_is_right(d, h, false, "first");
    is_int(count_engine_lines("is not used: it failed its self-test on this device:"), 1, "one line in the log: %s",
           lines);
    ok(n_apart > 0, "it ran in a context of its own");
    plan_is_right(d, h, false, "again");
    refused_by_name(h);
    is_int(count_engine_lines("is not used"), 1, "no line more");
    clattn_release(h);

    h = open_with_units(d, folder);
    plan_is_right(d, h, false, "another handle");
    is_int(count_lines("it failed its self-test on this device before"), 1, "knows the verdict: %s", lines);
    ok(!count_lines("it failed its self-test on this device:") && !n_apart, "without another test");
    clattn_release(h);

    no_build = CLATTN_ERROR_BUILD; /* what the compiler would say again after a second */
    h = open_with_units(d, folder);
    strcat(h->maker.caps.driver, " of another version");
    plan_is_right(d, h, false, "another driver");
    is_int(count_lines("it failed its self-test on this device:"), 1, "is tested anew: %s", lines);
    clattn_release(h);

    setenv("IGC_NothingThatIs", "1", 1); /* as every variable that changes what drivers compile */
    h = open_with_units(d, folder);
    plan_is_right(d, h, false, "another environment");
    is_int(count_lines("it failed its self-test on this device:"), 1, "is tested anew: %s", lines);
    clattn_release(h);
    unsetenv("IGC_NothingThatIs");
    no_build = 0;
}

/* What make check has of the others: in one folder, so that one plan is built. */
static void test_failing_briefly(const struct device *d, const char *folder)
{
    for (special = specials + 1; special < specials + BRIEF; special++) {
        clattn_handle h = open_with_units(d, folder);
        plan_is_right(d, h, false, special->name);
        is_int(count_engine_lines("is not used: it failed its self-test on this device:"), 1,
               "one line in the log: %s", lines);
        clattn_release(h);
    }
    special = specials;
}

/* ---- A device whose own 2^x is far off ---- */

static void plan_with(clattn_handle h, const char *engine)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    const clattn_workload c = each_case("f32 b1 h2 q7 k13 d8 causal");
    clattn_plan p = NULL;
    o.config = engine;
    is_int(clattn_plan_create(&p, h, &c.problem, &o), CL_SUCCESS, "%s: a plan", engine);
    clattn_plan_release(p);
}

static const char simt[] = "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0"; /* which builds sooner than its others */
static void test_power(const struct device *d, const char *folder)
{
    clattn_handle h = open_handle(d, folder);
    plan_with(h, "naive");
    is_int(h->maker.caps.exp2, CAPS_EXP2_UNTESTED, "%s: nothing is tried for an engine with a 2^x of its own", d->name);
    n_broken = 0;
    *lines = '\0';
    broken = "return CLA_NATIVE_EXP2(x)";
    broken_to = "return 1.000001f * CLA_NATIVE_EXP2(x)";
    plan_with(h, simt);
    is_int(h->maker.caps.exp2, CAPS_EXP2_POLY, "the device's own 2^x is 8 ulp off: another one is taken");
    is_int(count_lines("exp_poly.cl computes 2^x in place of the device's own"), 1, "and the log told");
    is_int(n_broken, 1, "no more than the probe has the wrong one");
    plan_with(h, simt);
    clattn_release(h);
    h = open_handle(d, folder);
    n_broken = 0;
    plan_with(h, simt);
    ok(h->maker.caps.exp2 == CAPS_EXP2_POLY && !n_broken && !count_lines("computes 2^x"),
       "another handle knows the verdict");
    clattn_release(h);

    if (!harness_deals(1, 2)) /* what follows builds for as long again */
        return;
    h = open_handle(d, folder);
    strcat(h->maker.caps.driver, " of another version");
    broken = "x < (real)(-126.0f) ? (real)(0.0f) : p";
    broken_to = "p";
    plan_with(h, simt);
    const int native = h->maker.caps.exp2;
    ok(native == CAPS_EXP2_NATIVE || native == CAPS_EXP2_BUILTIN,
       "another driver is tried anew; a polynomial that does not end at -126 is not taken");
    clattn_release(h);
    static const char *const small[] = { "return x < -125.0f ? 0.0f : CLA_NATIVE_EXP2(x)",
                                         "return x < -126.0f && x > -200.0f ? 0x1p-124f : CLA_NATIVE_EXP2(x)" };
    for (int i = 0; i < 2; i++) {
        h = open_handle(d, folder);
        strcat(h->maker.caps.driver, i ? " with too much of what is small" : " without what is small");
        broken = "return CLA_NATIVE_EXP2(x)";
        broken_to = small[i];
        plan_with(h, simt);
        is_int(h->maker.caps.exp2, CAPS_EXP2_POLY, "nor is a 2^x that is wrong below -125: %s", small[i]);
        clattn_release(h);
    }
    broken = NULL;
}

/* ---- A device where it passes ---- */

static char verdict[1024]; /* the file that says so */
static void keep_file(void *user, const char *file, size_t size)
{
    size_t n = 0;
    char *const text = cache_fixture_read(file, &n);
    (void)user;
    (void)size;
    if (text && is_named(text, special->name)) /* the other one is of 2^x */
        snprintf(verdict, sizeof verdict, "%s", file);
    free(text);
}

/* A plan of a handle of the device with units; *tested: whether they were tested for it. */
static void open_and_plan(const struct device *d, const char *folder, bool of_units, const char *what, bool *tested)
{
    clattn_handle h = open_with_units(d, folder);
    plan_is_right(d, h, of_units, what);
    *tested = n_apart > 0;
    clattn_release(h);
}

/* `text` in place of the verdict, where the test cannot end: it counts for nothing if that is tried. */
static void test_damaged(const struct device *d, const char *folder, const char *text, size_t n, const char *what)
{
    bool tested;
    if (cache_fixture_write(verdict, text, n))
        bail("cannot write %s", verdict);
    no_build = CL_OUT_OF_HOST_MEMORY;
    open_and_plan(d, folder, false, what, &tested);
    is_int(count_lines("it failed its self-test on this device: no build"), 1, "%s is none: %s", what, lines);
    no_build = 0;
}

static void test_passing_device(const struct device *d, const char *folder)
{
    bool tested;
    char says[64];
    size_t n = 0;
    has_units = true;
    open_and_plan(d, folder, true, "units that pass", &tested);
    ok(tested && !*lines, "they were tested, and nothing is wrong: %s", lines);
    is_int(cache_fixture_each(folder, "test", keep_file, NULL), 2, "verdicts are kept, of the units and of 2^x");
    char *const kept = cache_fixture_read(verdict, &n);
    if (!kept)
        bail("no verdict");
    const size_t words = (size_t)snprintf(says, sizeof says, "%s passed ", special->name);
    ok(n == words + 64 + 1 && !strncmp(kept, says, words), "which says: %s", kept);
    open_and_plan(d, folder, true, "units that passed", &tested);
    ok(!tested && !*lines, "another handle knows it: %s", lines);

    kept[20] ^= 1;
    test_damaged(d, folder, kept, n, "a verdict on something else");
    kept[20] ^= 1;
    test_damaged(d, folder, kept, n - 1, "half a verdict");
    test_damaged(d, folder, kept, n + 1, "a verdict and a NUL");
    no_build = CL_OUT_OF_HOST_MEMORY;
    open_and_plan(d, folder, false, "no memory again", &tested);
    is_int(count_lines("it failed its self-test on this device: no build"), 1, "no memory is no verdict either: %s",
           lines);
    no_build = CLATTN_ERROR_BUILD;
    open_and_plan(d, folder, false, "no compiler", &tested);
    no_build = 0;
    open_and_plan(d, folder, false, "afterwards", &tested);
    ok(!tested && count_lines("it failed its self-test on this device before") == 1, "what does not build is one: %s",
       lines);
    if (cache_fixture_write(verdict, kept, n))
        bail("cannot write %s", verdict);
    open_and_plan(d, folder, true, "a verdict that is sound", &tested);
    ok(!tested && !*lines, "is believed");
    free(kept);
    has_units = false;
}

/* ---- A configuration that the caller set ---- */

static const char plain[] = "f32 b1 h2 q7 k13 d8 causal lse", own[] = "naive wg1,bk8";
static const char sum_of_values[] = "part += weights[j] *", wrong_sum[] = "part -= weights[j] *"; /* of engine naive */

/* A plan without a configuration of its own; its source, or a status. The words of a failure in `why`. */
static int plan_source(clattn_handle h, const clattn_problem *p, char why[512])
{
    clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
    clattn_plan plan = NULL;
    const cl_int e = clattn_plan_create(&plan, h, p, NULL);
    *why = '\0';
    if (e)
        clattn_error_detail(h, why, 512, NULL);
    else if (clattn_plan_get_info(plan, &info))
        bail("a plan without a source");
    clattn_plan_release(plan);
    return e ? e : info.origin;
}

/* What the caller set is used or refused, in words, never replaced in silence. */
static void test_set(const struct device *d)
{
    clattn_handle h = open_handle(d, "off");
    const clattn_problem p = each_case(plain).problem;
    char why[512] = "";
    broken = sum_of_values;
    broken_to = wrong_sum;
    const cl_int e = clattn_set_config(h, &p, own);
    clattn_error_detail(h, why, sizeof why, NULL);
    ok(e == CLATTN_ERROR_WRONG_RESULT && strstr(why, "computes something else"),
       "what computes wrong cannot be set: %s", why);
    is_int(plan_source(h, &p, why), CLATTN_ORIGIN_DEFAULT, "and is not: a plan is the table's");
    broken = NULL;
    clattn_release(h);
    h = open_handle(d, "off"); /* one that has not seen it fail */
    is_int(clattn_set_config(h, &p, own), CL_SUCCESS, "what is right is set");
    is_int(plan_source(h, &p, why), CLATTN_ORIGIN_SET, "and used");
    clattn_release(h);
    h = open_handle(d, "off");
    is_int(clattn_set_config(h, &p, own), CL_SUCCESS, "in another handle too");
    broken = sum_of_values; /* as when the compiler changes between the two */
    is_int(plan_source(h, &p, why), CLATTN_ERROR_WRONG_RESULT, "should a plan of it compute wrong, there is none");
    ok(strstr(why, "computes something else") != NULL, "in words: %s", why);
    broken = NULL;
    clattn_release(h);
}

static void in_folder(const struct device *d, void (*test)(const struct device *, const char *))
{
    char folder[NEST_PATH];
    cache_fixture_make(folder);
    test(d, folder);
    cache_fixture_remove(folder);
}

/* Each engine, in shares by turns. */
static void each_special(const struct device *d, void (*test)(const struct device *, const char *))
{
    for (unsigned i = 0; i < SPECIALS; i++) {
        special = &specials[i];
        if (harness_alternates(i, SPECIALS))
            in_folder(d, test);
    }
    special = specials;
}

static void test_device(const struct device *d)
{
    each_special(d, test_passing_device);
    in_folder(d, test_power);
    test_set(d);
    test_engine(d);
    test_gradients(d);
    each_special(d, test_failing_device);
    if (!harness_more())
        in_folder(d, test_failing_briefly);
}

int main(void)
{
    return each_device(test_device);
}
