/* score_mods.c - score_mods as callers write them: what is refused, what the compiler says, and texts of every kind
 * SPDX-License-Identifier: Apache-2.0
 *
 * Engines take turns with the texts: make check runs four pairs, and half of what does not compile; CLATTN_PART=1: all.
 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/sound.h"

#include <math.h>

/* ---- Refusals ---- */

/* supports() and plan_create() refuse alike, and name the field. */
static void refused(const struct device *d, const clattn_problem *p, const char *field, const char *what)
{
    char why[256] = "", detail[256] = "";
    clattn_plan plan = NULL;
    const cl_int s = clattn_supports(d->handle, p, why, sizeof why), e = clattn_plan_create(&plan, d->handle, p, NULL);
    clattn_error_detail(d->handle, detail, sizeof detail, NULL);
    if (!ok(ours(e) && s == e && !plan && strstr(why, field) && strstr(detail, field), "%s is refused (%s): %s", what,
            clattn_status_string(e), detail))
        diag("supports says %s: '%s'; expected '%s' in it", clattn_status_string(s), why, field);
}

static clattn_problem with_mod(const clattn_score_mod *mods, const clattn_aux *aux)
{
    clattn_problem p = sound();
    p.n_mods = mods != NULL;
    p.mods = mods;
    p.n_aux = aux != NULL;
    p.aux = aux;
    return p;
}

#define REFUSED(field, change)                                                                                         \
    do {                                                                                                               \
        clattn_score_mod mods[CLATTN_MODS_MAX + 1] = { { "s = s * table[h];", NULL, 0 } };                             \
        clattn_aux aux[CLATTN_AUX_MAX + 1] = { { "table", CLATTN_F32 } };                                              \
        clattn_problem p = with_mod(mods, aux);                                                                        \
        change;                                                                                                        \
        refused(d, &p, field, #change);                                                                                \
    } while (0)

static void test_counts(const struct device *d)
{
    REFUSED("n_mods", p.n_mods = -1);
    REFUSED("n_mods", p.n_mods = CLATTN_MODS_MAX + 1);
    REFUSED("n_mods", p.n_mods = INT32_MAX);
    REFUSED("n_aux", p.n_aux = -1);
    REFUSED("n_aux", p.n_aux = CLATTN_AUX_MAX + 1);
    REFUSED("n_aux", p.n_mods = 0);
    REFUSED("mods", p.mods = NULL);
    REFUSED("aux", p.aux = NULL);
    REFUSED("mods[0].text", mods[0].text = NULL);
    REFUSED("mods[1].text", p.n_mods = 2);
    REFUSED("mods[0].flags", mods[0].flags = 2);
    REFUSED("mods[0].flags", mods[0].flags = 0x80000000u);
    REFUSED("aux[0].type", aux[0].type = 0);
    REFUSED("aux[0].type", aux[0].type = 7);
    REFUSED("aux[0].type", aux[0].type = -1);
    REFUSED("aux[0]", aux[0].type = CLATTN_F64);
    REFUSED("aux[1].name", p.n_aux = 2);
    REFUSED("aux[1]", p.n_aux = 2; aux[1] = aux[0]);
}

static void test_names(const struct device *d)
{
    static const char *const bad[] = { "",  "1x", "a b",  "a-b",     "a.b",   "x;",    "x\t",   "caf\xc3\xa9", "*x",
                                       "s", "ds", "b",    "h",       "q",     "k",     "x[4]",  "CLA_X",
                                       "real", "integer", "real_",   "cla_x", "cla_" };
    size_t i;
    REFUSED("aux[0].name", aux[0].name = NULL);
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        const clattn_score_mod mod = { "s = s + 0;", NULL, 0 };
        const clattn_aux aux = { bad[i], CLATTN_F32 };
        const clattn_problem p = with_mod(&mod, &aux);
        char what[64];
        snprintf(what, sizeof what, "a captured buffer named '%s'", bad[i]);
        refused(d, &p, "aux[0].name", what);
    }
}

/* Words of the language are for the compiler to refuse, if nobody did before. */
static void test_keywords(const struct device *d)
{
    static const char *const words[] = { "float", "if", "kernel", "__global", "half" };
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        if (!harness_deals((unsigned)i, 5))
            continue;
        const clattn_score_mod mod = { "s = s + 0;", NULL, 0 };
        const clattn_aux aux = { words[i], CLATTN_F32 };
        const clattn_problem p = with_mod(&mod, &aux);
        clattn_plan plan = NULL;
        const cl_int e = clattn_plan_create(&plan, d->handle, &p, NULL);
        ok((e == CLATTN_ERROR_BUILD || e == CLATTN_ERROR_INVALID_ARGUMENT) && !plan,
           "a captured buffer named '%s' is refused (%s)", words[i], clattn_status_string(e));
    }
}

/* ---- What the compiler says ---- */

/* Texts that no compiler takes, and a line of theirs that it must name. */
static const struct {
    const char *text, *name, *where;
} broken[] = {
    { "s = nowhere;", "one.cl", "one.cl:1:" },
    { "\n\ns = s + nowhere;\n", "three.cl", "three.cl:3:" },
    { "s = nowhere;", NULL, "score_mod:1:" },
    { "s = s", "end.cl", "end.cl:" },
    { "s = s; }", "brace.cl", "brace.cl:1:" },
    { "{ s = s;", "open.cl", "" },
    { "/* s = s;", "comment.cl", "" },
    { "int s = 1; s = nowhere;", "shadow.cl", "shadow.cl:1:" },
    { "#define A 1\n#define B A\ns = B * nowhere;", "macros.cl", "macros.cl:3:" },
    { "s = TWICE(s);", "other.cl", "other.cl:1:" }, /* the first text has a macro of that name */
};

/* The second of two mods; `where` must be in the words. */
static void test_broken(const struct device *d, const char *text, const char *name, const char *where, uint32_t flags)
{
    const clattn_score_mod mods[2] = { { "#define TWICE(x) ((x) * 2)\ns = TWICE(s);", "good.cl", 0 },
                                       { text, name, flags } };
    clattn_problem p = with_mod(mods, NULL);
    clattn_plan plan = NULL;
    static char detail[65536];
    cl_int e;
    p.n_mods = 2;
    e = clattn_plan_create(&plan, d->handle, &p, NULL);
    clattn_error_detail(d->handle, detail, sizeof detail, NULL);
    if (!ok(e == CLATTN_ERROR_BUILD && !plan && strstr(detail, where), "a text that does not compile, '%s': %s, %s",
            name ? name : "score_mod", clattn_status_string(e), where))
        diag("%s", detail);
    clattn_plan_release(plan);
}

/* ---- Texts that must work ---- */

/* Each halves s, in its own way. */
static const struct {
    const char *text;
    const char *name;
    uint32_t flags;
} halves[] = {
    { "s = s * 0.5f;", NULL, 0 },
    { "s *= 0.5f; // without an end of line", NULL, 0 },
    { "s = 0.5f * s;\r\n", "dos.cl", 0 },
    { "/* a\n comment */ s /= 2;\n\n", "a \"quoted\" \\ name\n.cl", 0 },
    { "int a = 0, e = 1, i = 2, j = 3, l = 4, m = 5, n = 6, o = 7, r = 8, t = 9, x = 10, keep = 11, at = 12;\n"
      "s = s * 0.5f + 0 * (a + e + i + j + l + m + n + o + r + t + x + keep + at);",
      "locals.cl", 0 },
    { "for (int i = 0; i < 1; i++)\n    if (q >= 0 && k >= 0 && h >= 0 && b >= 0)\n        s = s / 2;\n    else\n"
      "        s = NAN;",
      "loops.cl", 0 },
    { "#define HALF 0.5f\ns = HALF * s;\n#undef HALF\n", "macros.cl", 0 },
    { "#define max min\n#define scale 2.0f\n#define n 3\n#define s_ s\ns_ = s * max(0.5f, 0.75f) * scale / 2 + n - 3;",
      "names.cl", 0 },
    { "#define exp2 tanh\n#define min max\n#define clamp(a, b, c) 7\n#define mad(a, b, c) 9\n#define fabs(x) 0\n"
      "#define log tan\n#define add_sat sub_sat\n#undef INFINITY\n#define INFINITY 0\n#undef NAN\n#define barrier(x)\n"
      "s = s * (INFINITY + 0.5f);",
      "builtins.cl", 0 },
    { "#define Q\n#define K\n#define e 1\n#define t 2\n#define m 3\n#define l 4\n#define f 5\n#define o 6\n#define a "
      "7\n"
      "#define b_ b\n#define x 8\n#define keep 9\n#define unused 10\n#define i 11\n#define j 12\n#define r 13\n"
      "s = s / (t + 0 * (e + m + l + f + o + a + x + keep + unused + i + j + r + b_));",
      "short.cl", 0 },
    { "#define half_of(x) ((x) \\\n  * 0.5f)\n/* #define no */\ns = half_of(s); // \\", "spliced.cl", 0 },
    { "#define q 0\n#define s z\nfloat z = 0;\n#undef s\ns = s * 0.5f + q;", "own.cl", 0 },
    { "s = s * (real)(0.5f);", "vector.cl", CLATTN_MOD_VECTOR },
    { "s = (q + k) % 2 == 0 ? s * 0.5f : s / 2.0f;", "vector2.cl", CLATTN_MOD_VECTOR },
    { "const real half_ = real_(q - q) + 0.5f; s = k < 0 ? s : s * half_;", "vector3.cl", CLATTN_MOD_VECTOR },
};

/* Scores from before the mod to behind it: half of them. */
static int halve(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q, int64_t nk)
{
    (void)user, (void)keep, (void)b, (void)h, (void)q;
    for (int64_t k = 0; k < nk; k++)
        s[k] /= 2;
    return 0;
}

/* O and LSE within bound of the problem with half its score. */
static int half_of(const struct trial *t, char *why, size_t len)
{
    struct reference r = trial_problem(t);
    struct truth half = { NULL, NULL, NULL, NULL };
    r.mod = halve;
    if (trial_truth(t, &r, &half, NULL))
        bail("no memory");
    const int good = trial_agrees(t, &half, why, len);
    truth_free(&half);
    return good;
}

/* Runs the problem with `n` score_mods; the words of a failure in `why`. */
static cl_int run_mods(const struct device *d, struct fixture *f, const clattn_score_mod *mods, int n,
                       const char *engine, char *why, size_t len)
{
    clattn_problem p = f->t.c.problem;
    clattn_plan plan = NULL;
    cl_int e = trial_reset(&f->t, d->queue);
    p.n_mods = n;
    p.mods = mods;
    e = e ? e : harness_plan(d, &p, engine, &plan, why, len);
    return e ? e : trial_run(&f->t, plan, d->queue);
}

static void test_half(const struct device *d, struct fixture *f, size_t i, const char *engine)
{
    const clattn_score_mod mod = { halves[i].text, halves[i].name, halves[i].flags };
    char why[1024] = "";
    const cl_int e = run_mods(d, f, &mod, 1, engine, why, sizeof why);
    if (!ok(!e && trial_fetch(&f->t, d->queue, why, sizeof why) && half_of(&f->t, why, sizeof why),
            "%s, %s: half the score, way %zu: %s", d->name, engine, i, f->text))
        diag("%s %s\n%s", clattn_status_string(e), why, mod.text);
}

/* Texts that leave s as it is, as if there were none. */
static const clattn_score_mod nothings[] = { { "/* s = s * 2; */", NULL, 0 },
                                             { "// nothing", "comment.cl", 0 },
                                             { "float x = s * 2; int j = q + k; (void)x; (void)j;", "local.cl", 0 },
                                             { "if (k < 0) s = 0;", "never.cl", 0 },
                                             { ";\n#define s_ s\n", "macro.cl", 0 },
                                             { "const real twice = s * 2;", "vector.cl", CLATTN_MOD_VECTOR } };
enum { NOTHINGS = sizeof nothings / sizeof *nothings };

/* All of them, or one. */
static void test_nothing(const struct device *d, struct fixture *f, const clattn_score_mod *mods, int n,
                         const char *engine)
{
    char why[4096] = "";
    const cl_int e = run_mods(d, f, mods, n, engine, why, sizeof why);
    if (!ok(!e && trial_verify(&f->t, d->queue, why, sizeof why), "%s, %s: %d score_mods that write nothing: %s",
            d->name, engine, n, f->text))
        diag("%s %s\n%s", clattn_status_string(e), why, mods->text);
}

/* Eight that make 1 together, in an order that matters: ((s * 2 + 1) * 2 ..) and back. */
static void test_chain(const struct device *d, struct fixture *f)
{
    clattn_score_mod mods[CLATTN_MODS_MAX] = { { "s = s * 2;", "0", 0 },  { "s = s + 8;", "1", CLATTN_MOD_VECTOR },
                                               { "s = s * 2;", "2", 0 },  { "s = s + 16;", "3", 0 },
                                               { "s = s - 16;", "4", 0 }, { "s = s * 0.5f;", "5", CLATTN_MOD_VECTOR },
                                               { "s = s - 8;", "6", 0 },  { "s = s * 0.25f;", "7", 0 } };
    char why[1024] = "";
    const cl_int e = run_mods(d, f, mods, CLATTN_MODS_MAX, NULL, why, sizeof why);
    if (!ok(!e && trial_fetch(&f->t, d->queue, why, sizeof why) && half_of(&f->t, why, sizeof why),
            "%s: eight score_mods in their order: %s", d->name, f->text))
        diag("%s %s", clattn_status_string(e), why);
}

/* Macros of one text that would be wrong, or no C at all, in the next one, in what calls it, and in those of ours: the
 * real max() is back there. All of it halves s, by ways that depend on the names meaning what they should. */
static void test_macros(const struct device *d, struct fixture *f, const char *engine)
{
    static const clattn_score_mod mods[] = {
        { "#define max min\n#define k q\n#define h )\n#define cla_n 3\n#define TWICE(x) x * 2\ns = max(s, s);", "0",
          0 },
        { "float TWICE = max(1.0f, 2.0f); s = k >= 0 && h >= 0 && TWICE == 2.0f ? s * 2 : 0;", "1", 0 },
        { "#ifdef TWICE\n#error it is there\n#endif\n#define max(a, b) broken\n#define real_ broken\ns = s * 0.5f;",
          "2", 0 },
        { "s = fmax(s, max(s, s)) * (real_(q - q) + 0.5f);", "3", CLATTN_MOD_VECTOR },
    };
    char why[4096] = "";
    const cl_int e = run_mods(d, f, mods, sizeof mods / sizeof *mods, engine, why, sizeof why);
    if (!ok(!e && trial_fetch(&f->t, d->queue, why, sizeof why) && half_of(&f->t, why, sizeof why),
            "%s, %s: macros of one text stay out of the next: %s", d->name, engine, f->text))
        diag("%s %s", clattn_status_string(e), why);
}

/* A caller's struct may go as soon as the call is over. */
/* One call with a captured buffer, after everything of the problem is gone. */
static cl_int run_copied(const struct device *d, clattn_plan plan)
{
    const clattn_sizes one = { 1, 1, 1, 1, 1, 0, 0, 0 };
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    clattn_array table = { NULL, 0 };
    static const float zeros[256];
    cl_mem mem[5];
    for (int i = 0; i < 5; i++)
        mem[i] = each_buffer(d->cl.context, CL_MEM_READ_WRITE, sizeof zeros, zeros);
    a.sizes = &one;
    a.q.mem = mem[0];
    a.k.mem = mem[1];
    a.v.mem = mem[2];
    a.o.mem = mem[3];
    table.mem = mem[4];
    a.aux = &table;
    cl_int e = clattn_enqueue_forward(plan, d->queue, &a, 0, NULL, NULL);
    e = e ? e : clFinish(d->queue);
    for (int i = 0; i < 5; i++)
        clReleaseMemObject(mem[i]);
    return e;
}

static void test_copied(const struct device *d)
{
    char text[32] = "s = s * 0.5f;", name[16] = "mine.cl", aux_name[8] = "table";
    clattn_score_mod mod = { text, name, 0 };
    clattn_aux aux = { aux_name, CLATTN_I32 };
    clattn_problem p = with_mod(&mod, &aux);
    clattn_plan plan = NULL, same = NULL;
    char config[64] = "";
    cl_int e = clattn_plan_create(&plan, d->handle, &p, NULL);
    is_int(e, CL_SUCCESS, "a plan with a score_mod and a buffer that it does not read");
    memset(text, 0, sizeof text);
    memset(name, 0, sizeof name);
    memset(aux_name, 0, sizeof aux_name);
    memset(&mod, 0, sizeof mod);
    memset(&aux, 0, sizeof aux);
    ok(!e && !clattn_plan_config(plan, config, sizeof config, NULL) && *config, "lives on without their texts: %s",
       config);
    memset(&aux, 0xff, sizeof aux);
    p.aux = NULL;
    is_int(run_copied(d, plan), CL_SUCCESS, "and runs");
    p.aux = &aux;
    aux.name = aux_name;
    strcpy(text, "s = s * 0.25f;");
    strcpy(aux_name, "other");
    mod.text = text;
    aux.name = aux_name;
    aux.type = CLATTN_F32;
    is_int(clattn_plan_create(&same, d->handle, &p, NULL), CL_SUCCESS, "and another text in their place works");
    clattn_plan_release(same);
    clattn_plan_release(plan);
}

static void test_device(const struct device *d)
{
    static const char plain[] = "f32 b2 h4/2 q9 k20 d8 causal lse";
    struct fixture f;
    size_t i;
    test_counts(d);
    test_names(d);
    test_keywords(d);
    for (i = 0; i < sizeof broken / sizeof *broken; i++)
        if (harness_turn((unsigned)i, i == 1 || i == 2 || i == 4 || i == 5 || i == 9))
            test_broken(d, broken[i].text, broken[i].name, broken[i].where, 0);
    test_broken(d, "if (s > 0) s = 0;\ns = nowhere;", "vector.cl", "vector.cl:", CLATTN_MOD_VECTOR);
    each_open(&f, d, plain, PADDED);
    for (i = 0; i < sizeof halves / sizeof *halves; i++) {
        if (harness_deals((unsigned)i, 8))
            test_half(d, &f, i, "cpu");
        if (harness_turn((unsigned)i + 4, i == 12))
            test_half(d, &f, i, "row");
    }
    for (i = 4; i < sizeof halves / sizeof *halves; i++) {
        if (harness_shares((unsigned)i))
            test_half(d, &f, i, "simt");
        if (harness_turn((unsigned)i + 4, i == 4))
            test_half(d, &f, i, "naive");
    }
    for (i = 0; i < 4; i++)
        if (harness_turn((unsigned)i, !i))
            test_macros(d, &f, (const char *const[]){ "cpu", "row", "simt", "naive" }[i]);
    test_chain(d, &f);
    for (i = 0; i < NOTHINGS; i++)
        if (harness_shares((unsigned)i))
            test_nothing(d, &f, &nothings[i], 1, i % 2 ? "row" : "naive");
    if (harness_turn(0, 1))
        test_nothing(d, &f, nothings, NOTHINGS, "cpu");
    if (harness_shares(1))
        test_nothing(d, &f, nothings, NOTHINGS, "simt");
    fixture_close(&f);
    test_copied(d);
}

int main(void)
{
    return each_device(test_device);
}
