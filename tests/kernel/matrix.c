/* matrix.c - engines with matrix units: their fragments with the instructions emulated, against float64
 * SPDX-License-Identifier: Apache-2.0
 *
 * matrix.t: a stretch of the table, logits that go up, aligned rows and emptied ones, and what is refused, in f16 or
 * bf16, by kernels that they share where they can; rooms.t has gradients. CLATTN_PART=1: all, but of the table a third.
 * CLATTN_FULL=1: the whole table in both types. CLATTN_QUICK=1: a few small cases. Emulated units take turns in shares;
 * what is not asked for by a variable runs with mma_emu's, and two cases with the others. One case by hand: forward.t
 * PROBLEM 'mma_emu TILE' LAYOUT. */
#include "config.h"

#include "tests/lib/cases.h"
#include "tests/lib/each.h"
#include "tests/lib/refuse.h"

static const char *const types[] = { "f16", "bf16" };

/* Rows of each engine's table first, then tiles that differ from them in one way; and small tiles, for all else. */
enum { MOST_TILES = 9 };
static const struct units {
    const char *small[2], *quick[3];
    const char *tiles[MOST_TILES + 1];
} emulated[] = {
    { { "mma_emu nw2,rt1,bk16,qreg0", "mma_emu nw1,rt2,bk32,qreg1" },
      { "mma_emu nw1,rt1,bk16,qreg1", "mma_emu nw1,rt2,bk16,qreg0", "mma_emu nw2,rt1,bk16,qreg1" },
      { "mma_emu nw4,rt1,bk64,qreg1", "mma_emu nw4,rt2,bk64,qreg1", "mma_emu nw8,rt1,bk128,qreg1",
        "mma_emu nw4,rt1,bk32,qreg1", "mma_emu nw4,rt2,bk32,qreg0", "mma_emu nw8,rt1,bk64,qreg1",
        "mma_emu nw4,rt1,bk16,qreg0", "mma_emu nw1,rt1,bk16,qreg1", "mma_emu nw3,rt1,bk48,qreg0" } },
    { { "mfma_emu nw2,rt1,bk16,qreg0", "mfma_emu nw1,rt2,bk32,qreg1" },
      { "mfma_emu nw1,rt1,bk16,qreg1", "mfma_emu nw1,rt2,bk16,qreg0", "mfma_emu nw2,rt1,bk16,qreg1" },
      { "mfma_emu nw4,rt1,bk64,qreg1", "mfma_emu nw4,rt4,bk32,qreg1", "mfma_emu nw4,rt2,bk64,qreg1",
        "mfma_emu nw4,rt1,bk32,qreg1", "mfma_emu nw4,rt1,bk16,qreg1", "mfma_emu nw3,rt1,bk48,qreg0" } },
    { { "wmma_emu nw2,rt1,bk16,qreg0", "wmma_emu nw1,rt2,bk32,qreg1" },
      { "wmma_emu nw1,rt1,bk16,qreg1", "wmma_emu nw1,rt2,bk16,qreg0", "wmma_emu nw2,rt1,bk16,qreg1" },
      { "wmma_emu nw4,rt1,bk64,qreg1", "wmma_emu nw4,rt1,bk32,qreg0", "wmma_emu nw4,rt1,bk16,qreg0",
        "wmma_emu nw3,rt1,bk48,qreg0" } },
    { { "wmma_emu11 nw2,rt1,bk16,qreg0", "wmma_emu11 nw1,rt2,bk32,qreg1" },
      { "wmma_emu11 nw1,rt1,bk16,qreg1", "wmma_emu11 nw1,rt2,bk16,qreg0", "wmma_emu11 nw2,rt1,bk16,qreg1" },
      { "wmma_emu11 nw4,rt1,bk64,qreg1", "wmma_emu11 nw4,rt1,bk32,qreg0", "wmma_emu11 nw4,rt1,bk16,qreg0",
        "wmma_emu11 nw3,rt1,bk48,qreg0" } },
    { { "dpas_emu nw2,rt1,bk16,qreg0", "dpas_emu nw2,rt2,bk32,qreg1" },
      { "dpas_emu nw1,rt1,bk16,qreg1", "dpas_emu nw1,rt2,bk16,qreg0", "dpas_emu nw2,rt1,bk16,qreg1" },
      { "dpas_emu nw8,rt1,bk64,qreg0", "dpas_emu nw8,rt1,bk32,qreg1", "dpas_emu nw8,rt1,bk32,qreg0",
        "dpas_emu nw8,rt1,bk16,qreg0", "dpas_emu nw3,rt1,bk48,qreg0" } },
    { { "dpas_emu8 nw2,rt1,bk16,qreg0", "dpas_emu8 nw2,rt2,bk32,qreg1" },
      { "dpas_emu8 nw1,rt1,bk16,qreg1", "dpas_emu8 nw1,rt2,bk16,qreg0", "dpas_emu8 nw2,rt1,bk16,qreg1" },
      { "dpas_emu8 nw8,rt1,bk32,qreg1", "dpas_emu8 nw8,rt1,bk32,qreg0", "dpas_emu8 nw8,rt1,bk16,qreg0",
        "dpas_emu8 nw3,rt1,bk48,qreg0" } },
};
enum { N_EMULATED = sizeof emulated / sizeof *emulated };

/* Widths with 4, 12 and 20 chunks of 8, and those that fill none; aligned rows and others; and the widest. */
static const char *const widths[] = { "b1 h2/1 q37 k75 d32/16 causal lse",   "b1 h2/1 q37 k75 d96/80 lse",
                                      "b1 h2/1 q37 k75 d160/112 lse",        "b1 h2/1 q37 k75 d64/128 causal lse",
                                      "b1 h2/1 q37 k75 d41/26 lse",          "b1 h2/1 q19 k41 d256 causal lse",
                                      "b1 h2/1 q37 k75 d192/128 causal lse", "b1 h2/1 q37 k75 d8/1 lse" };
enum { N_WIDTHS = sizeof widths / sizeof *widths };

/* What the engine refuses: other types than one of 16 bits, and widths beyond 256. */
static int is_refused(const char *problem)
{
    const clattn_workload c = each_case(problem);
    return c.problem.d > 256 || c.problem.dv > 256 || (c.problem.k_type && c.problem.k_type != c.problem.type) ||
           (c.problem.v_type && c.problem.v_type != c.problem.type);
}

static void check(const struct device *d, const char *type, const char *row, unsigned seed, const char *config,
                  enum layout layout)
{
    char problem[512], why[1024] = "";
    snprintf(problem, sizeof problem, "%s %s seed%u", type, row, seed);
    const int verdict = harness_check_text(d, problem, config, layout, why, sizeof why);
    if (verdict < 0)
        ok(is_refused(problem), "%s, %s is refused: %s", config, problem, why);
    else
        each_report(d, verdict, problem, config, layout, why);
}

/* Widths that fill no chunk, in rows that begin where whole chunks can be loaded and go on with what must not be. */
static void check_aligned(const struct device *d, const struct units *u)
{
    static const char *const rows[] = { "b1 h2/1 q37 k64 d41/26 lse", "b1 h2/1 q37 k75 d44/52 causal lse",
                                        "b1 h2/1 q37 k128 d64 causal lse",
                                        "b1 h8/2 q5 k30 d20 bthd lse" }; /* but for packed heads of Q */
    enum { ROWS = sizeof rows / sizeof *rows };
    for (unsigned i = 0; i < 2 * ROWS; i++)
        if (harness_turn(i / 2 + i, i == 3))
            check(d, types[i % 2], rows[i / 2], 960 + i / 2, u->small[i % 2], i / 2 == ROWS - 1 ? PLAIN : ALIGNED);
    if (!harness_more()) /* rows that keep nothing, by the kernel of the row above */
        check(d, types[1], "b1 h2/1 q70 k9 d44/52 causal lse", 964, u->small[1], ALIGNED);
}

/* Each row in one of the types, the first of a list now if it is to be soon; with CLATTN_FULL=1 all in both. */
static void check_rows(const struct device *d, const struct units *u, const char *const *rows, unsigned n,
                       unsigned seed, int soon)
{
    for (unsigned t = 0; t < (harness_flag("CLATTN_FULL") ? 2 : 1); t++)
        for (unsigned i = 0; i < n; i++)
            if (harness_turn(i + i / 6, soon && !i))
                check(d, types[(t + i) % 2], rows[i], seed + i, u->small[(t + i / 2) % 2], i % 2 ? PADDED : PLAIN);
}

enum { STRETCH = 7 };

/* Aligned rows and others are two paths. */
static void check_tiles(const struct device *d, const struct units *u)
{
    for (unsigned n = 0; u->tiles[n]; n++) {
        const char *const type = types[n / 2 % 2];
        if (!harness_shares(n))
            continue;
        for (unsigned i = 0; i < N_TILE; i += 2)
            check(d, type, tile_cases[i], 900 + i, u->tiles[n], PADDED);
        check(d, type, "b1 h2/1 q131 k261 d64 lse", 910, u->tiles[n], n / 2 % 2 ? PLAIN : PACKED);
    }
}

/* Rows are dealt out by stretches, which share kernels; of the rest, a third. A fourth of each part is in bf16. Never
 * asked is the row whose 68977 groups take minutes where instructions are emulated: check_grid() has fewer. */
static void check_table(const struct device *d, const struct units *u)
{
    const int full = harness_flag("CLATTN_FULL");
    for (unsigned i = 0; i < N_CASES; i++)
        for (unsigned t = 0; t < 2 && !strstr(cases[i], "h2999"); t++) {
            const unsigned stretch = i / STRETCH, dealt = (stretch + stretch / 8) % 4 == 3;
            const int rare = harness_rest() && stretch && stretch % 3 != 1;
            if (full || (harness_deals(stretch, 56) && !rare && t == dealt))
                check(d, types[t], cases[i], 3000 + i, u->small[t], (enum layout)(i % LAYOUTS));
        }
}

/* A grid of two rows, by the kernel of check_workspace(), and by one of narrow rows; make check has forward.t's. */
static void check_grid(const struct device *d, const struct units *u)
{
    if (harness_shares(1))
        check(d, "f16", "b5 h701 q1 k2 d1 causal bthd lse", 970, u->quick[0], PLAIN);
    if (harness_shares(0))
        check(d, "f16", "b3 h701 q1 k2 d8 lse", 970, u->quick[0], PADDED);
}

/* Rows that keep nothing, beside rows that do. */
static void check_emptied(const struct device *d, const struct units *u)
{
    static const char *const rows[] = { "b1 h2 q20 k9 d16 causal off-5 lse", "b1 h2 q90 k20 d16 mask:bhqk lse",
                                        "b1 h2 q300 k9 d16 bias:11q1 lse",
                                        "b2 h2 q20 k9 d16 kvlen:9,0 qlen:7,20 sink lse",
                                        "b1 h2 q20 k9 d16 mod:causal kvstart:5 lse" };
    check_rows(d, u, rows, sizeof rows / sizeof *rows, 980, 0);
}

/* Logits that go up all the way: each tile raises the maximum, and the lazy one has to follow. And very large ones,
 * where all that a row keeps may be very low. */
static void check_lazy(const struct device *d, const struct units *u)
{
    static const char *const rows[] = { "b1 h2 q33 k300 d64 scale1.5 lse",       "b1 h2 q33 k300 d64 scale0.02 lse",
                                        "b1 h2 q33 k300 d64 alibi off-1000 lse", "b1 h2 q33 k300 d64 scale1000 lse",
                                        "b1 h2 q33 k1 d64 scale1e30 lse",        "b1 h2 q33 k300 d64 scale1e9 lse",
                                        "b1 h2 q33 k300 d64 scale1 lse" };
    check_rows(d, u, rows, sizeof rows / sizeof *rows, 950, 1);
}

/* ---- What is refused ---- */

static void check_refusals(const struct device *d)
{
    static const struct {
        const char *problem, *config, *words;
    } rows[] = { { "f32 b1 h1 q9 k9 d64", "mma_emu", "f16 or in bf16" },
                 { "f64 b1 h1 q9 k9 d64", "mma_emu", "f16 or in bf16" },
                 { "f16 b1 h1 q9 k9 d64 k:bf16", "mma_emu", "f16 or in bf16" },
                 { "f16 b1 h1 q9 k9 d264", "mma_emu", "no tile for this problem" },
                 { "f16 b1 h1 q9 k9 d264", "mma_emu nw1,rt1,bk16,qreg1", "at most 256" },
                 { "f16 b1 h1 q9 k9 d64", "mma_emu nw4,rt1,bk24,qreg1", "multiple of 16" },
                 { "f16 b1 h1 q9 k9 d64", "mma_emu nw4,rt9,bk16,qreg1", "rt is 9" },
                 { "f16 b1 h1 q9 k9 d64", "mma_nv", "compute capability" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[1024] = "";
        int verdict = harness_check_text(d, rows[i].problem, rows[i].config, PLAIN, why, sizeof why);
        if (i == sizeof rows / sizeof *rows - 1 && verdict > 0)
            skip("this device has the units");
        else
            ok(verdict <= 0 && (strstr(why, rows[i].words) || (i == 1 && strstr(why, "cl_khr_fp64"))),
               "%s with %s is refused: %s", rows[i].problem, rows[i].config, why);
    }
}

/* The only engine here that needs a workspace for few keys too. */
static void check_workspace(const struct device *d)
{
    static const char text[] = "f16 b1 h2 q5 k7 d8 lse";
    struct fixture fixture, *const f = &fixture;
    char why[512];
    size_t need = 0;
    if (harness_has_units(d, CLATTN_F16)) {
        skip("the units themselves need no workspace");
        return;
    }
    cl_int e = fixture_open(f, d, text, PADDED, why, sizeof why);
    if (!e)
        e = harness_plan(d, &f->t.c.problem, "mma_emu nw1,rt1,bk16,qreg1", &f->plan, why, sizeof why);
    if (!ok(!e, "a plan that needs a workspace: %s: %s", text, why))
        return;
    is_int(clattn_workspace_size(f->plan, &f->t.args, &need), CL_SUCCESS, "its size can be asked");
    ok(need >= 32 * 6 * 4, "and is %zu bytes", need);
    clattn_forward_args *const args = &f->t.args;
    args->workspace = each_buffer(d->cl.context, CL_MEM_READ_WRITE, need + 64, NULL);
    args->workspace_size = need;
    REFUSED(CLATTN_ERROR_WORKSPACE, a.workspace = NULL);
    REFUSED(CLATTN_ERROR_WORKSPACE, a.workspace_size = need - 1);
    REFUSED(BAD, a.workspace_offset = 4);
    REFUSED(BAD, a.workspace_offset = 16);
    REFUSED(SMALL, a.workspace_offset = 96);
    REFUSED(SMALL, a.workspace_offset = SIZE_MAX - 31);
    const cl_mem inputs = each_buffer(d->cl.context, CL_MEM_READ_ONLY, need, NULL);
    REFUSED(BAD, a.workspace = inputs);
    clReleaseMemObject(inputs);
    args->workspace_offset = 64;
    ok(!trial_reset(&f->t, d->queue) && harness_run(d, &f->t, f->plan, why, sizeof why),
       "with one it runs, from an offset: %s", text);
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    o.config = "mma_emu nw1,rt1,bk16,qreg1";
    o.max_workspace = need;
    e = clattn_plan_create(&f->plan, d->handle, &f->t.c.problem, &o);
    e = e ? e : clattn_enqueue_forward(f->plan, d->queue, args, 0, NULL, NULL);
    is_int(e, CL_SUCCESS, "a plan that may have it");
    clFinish(d->queue);
    clattn_plan_release(f->plan);
    o.max_workspace = need - 1;
    e = clattn_plan_create(&f->plan, d->handle, &f->t.c.problem, &o);
    is_int(e, CL_SUCCESS, "one that may not");
    REFUSED(CLATTN_ERROR_NOT_SUPPORTED, (void)a);
    clattn_plan_release(f->plan);
    clReleaseMemObject(args->workspace);
    args->workspace = NULL;
    args->workspace_size = args->workspace_offset = 0;
    fixture_close(f);
}

static void check_quick(const struct device *d, const struct units *u)
{
    /* Aligned rows that end within a chunk's neighbours, and V's rows that are not aligned while K's are. */
    check(d, "f16", "b1 h1 q9 k16 d24 lse", 5, u->quick[0], PLAIN);
    check(d, "bf16", "b1 h1 q9 k16 d8/12 lse", 6, u->quick[0], PLAIN);
    for (unsigned i = 0; i < N_QUICK; i++)
        check(d, types[i % 2], quick_cases[i], i, u->quick[1], PADDED);
    for (unsigned i = 0; i < N_QUICK_FEATURES; i++)
        check(d, types[i % 2], quick_features[i], i, u->quick[2], PADDED);
}

static void check_all(const struct device *d, const struct units *u)
{
    check_table(d, u);
    check_tiles(d, u);
    check_rows(d, u, engine_cases, N_ENGINE, 600, 0);
    check_rows(d, u, feature_cases, N_FEATURES, 620, 0);
    check_rows(d, u, widths, N_WIDTHS, 640, 0);
    check_emptied(d, u);
    check_lazy(d, u);
    check_aligned(d, u);
    check_grid(d, u);
}

static void test_device(const struct device *d)
{
    check_refusals(d);
    check_workspace(d);
    for (unsigned i = 0; i < N_EMULATED; i++)
        if (harness_flag("CLATTN_QUICK"))
            check_quick(d, &emulated[i]);
        else if (harness_alternates(i, N_EMULATED))
            check_all(d, &emulated[i]);
        else if (!harness_more())
            for (unsigned t = 0; t < 2; t++)
                check(d, types[t], widths[3], 640 + t, emulated[i].small[t], t ? PADDED : PLAIN);
}

int main(void)
{
    return each_device(test_device);
}
