/* verify.c - the judge judged, and the small parts of the tools: seeded inputs, JSON
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/mods.h"
#include "tests/lib/tap.h"
#include "tests/lib/whole.h"

#include "tools/oracle/inputs.h"
#include "tools/system/json.h"
#include "tools/oracle/verify.h"

#include <math.h>

enum { B = 2, H = 4, HK = 2, NQ = 6, NK = 9, D = 5, DV = 3 };
static double q[B * H * NQ * D], k[B * HK * NK * D], v[B * HK * NK * DV], o[B * H * NQ * DV], lse[B * H * NQ];
static double o_bound[B * H * NQ * DV], lse_bound[B * H * NQ]; /* of answer() */

static clattn_workload make_case(void)
{
    clattn_workload c;
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    c.seed = 7;
    c.problem.struct_size = sizeof c.problem;
    c.problem.d = D;
    c.problem.dv = DV;
    c.problem.causal = 1;
    c.problem.flags = CLATTN_KV_LEN | CLATTN_KV_START;
    c.problem.sizes = (clattn_sizes){ .b = B, .h = H, .hk = HK, .nq = NQ, .nk = NK };
    c.kv_len[0] = 8;
    c.kv_len[1] = 4; /* causal leaves its first two queries nothing */
    c.kv_start[0] = 1;
    return c;
}

static struct reference whole(void)
{
    struct reference r;
    memset(&r, 0, sizeof r);
    r.b = B;
    r.h = H;
    r.hk = HK;
    r.nq = NQ;
    r.nk = NK;
    r.d = D;
    r.dv = DV;
    r.scale = 1 / sqrt(D);
    return r;
}

/* O and LSE as they should be. */
static void answer(const clattn_workload *c)
{
    struct reference r = whole();
    r.p.causal = 1;
    r.kv_len = c->kv_len;
    r.kv_start = c->kv_start;
    if (reference_forward(&r, q, k, v, o, lse, o_bound, lse_bound, NULL) != 0)
        bail("no memory");
}

/* Puts `x` at `*at`, and says whether that is found right, or puts it back. */
static int accepts(const clattn_workload *c, const struct setup_inputs *in, double *at, double x)
{
    const double before = *at;
    struct verdict verdict;
    *at = x;
    void *const user = in->x ? (void *)(uintptr_t)in->x : NULL;
    const int status = verify(c, in, 0, mods_reference, user, o, lse, NULL, &verdict);
    *at = before;
    return status == 0 && verdict.good;
}

/* The verdict on O and LSE as they are. */
static struct verdict judge(const clattn_workload *c, const struct setup_inputs *in, const double *with_lse)
{
    struct verdict verdict;
    if (verify(c, in, 0, mods_reference, in->x ? (void *)(uintptr_t)in->x : NULL, o, with_lse, NULL, &verdict) != 0)
        bail("no memory");
    return verdict;
}

/* The element with the largest part of its bound stands for all, even where another is farther off. */
static void check_worst(const clattn_workload *c, const struct setup_inputs *in)
{
    const int n = B * H * NQ * DV;
    int least = -1, most = 0;
    for (int i = 0; i < n; i++) {
        if (o_bound[i] > 0 && (least < 0 || o_bound[i] < o_bound[least]))
            least = i;
        if (o_bound[i] > o_bound[most])
            most = i;
    }
    const double before[2] = { o[least], o[most] }, off = 0.8 * o_bound[least], farther = 0.7 * o_bound[most];
    o[least] += off;
    o[most] += farther;
    const struct verdict verdict = judge(c, in, lse);
    o[least] = before[0];
    o[most] = before[1];
    ok(farther > off && verdict.good && verdict.o.bound == o_bound[least] && fabs(verdict.o.error - off) < 1e-3 * off &&
           fabs(farthest_part(&verdict.o) - 0.8) < 1e-3,
       "the largest part of a bound stands for all");
}

static void check_verify(void)
{
    const clattn_workload c = make_case();
    const struct setup_inputs in = { .q = q, .k = k, .v = v, .lse = 1 };
    struct verdict verdict;
    inputs_fill(&c, q, k, v);
    for (int i = 0; i < DV; i++) /* padding: beyond kv_len, before kv_start */
        v[8 * DV + i] = v[i] = NAN;
    v[(HK * NK + 4) * DV] = 1e30;
    answer(&c);
    verdict = judge(&c, &in, lse);
    ok(verdict.good && verdict.o.error == 0 && verdict.lse.error == 0, "the right answer is right");
    ok(verdict.o.bound > 0 && verdict.o.bound < 1e-4, "what padding holds does not widen the bound");
    double *last = &o[B * H * NQ * DV - 1];
    const double bound = o_bound[B * H * NQ * DV - 1];
    ok(accepts(&c, &in, last, *last + 0.9 * bound) && !accepts(&c, &in, last, *last - 1.1 * bound),
       "an error of O is held against the bound");
    ok(!accepts(&c, &in, last, NAN) && !accepts(&c, &in, last, INFINITY), "NaN and inf in O are found");
    ok(accepts(&c, &in, &lse[5], lse[5] + 0.9 * lse_bound[5]) &&
           !accepts(&c, &in, &lse[5], lse[5] + 1.1 * lse_bound[5]),
       "an error of LSE too");
    check_worst(&c, &in);
    const int empty = H * NQ; /* the first row of the second entry sees nothing */
    ok(lse[empty] == -INFINITY && !accepts(&c, &in, &lse[empty], -1e30) && !accepts(&c, &in, &lse[empty], INFINITY),
       "a row that sees nothing has LSE = -inf and nothing else");
    ok(!accepts(&c, &in, &o[empty * DV], NAN) && !accepts(&c, &in, &o[empty * DV], 1e-3), "and O = 0");

    v[7 * DV + 1] = INFINITY; /* the last key of entry 0, head 0: only its last query keeps it */
    answer(&c);
    ok(isinf(o[(NQ - 1) * DV + 1]) && !isinf(o[1]) && judge(&c, &in, lse).good,
       "an infinite value shows where it is kept");
    ok(accepts(&c, &in, &o[1], NAN) && accepts(&c, &in, &o[(NQ - 1) * DV + 1], NAN), "it may reach the rows beside it");
    ok(!accepts(&c, &in, &o[0], NAN) && !accepts(&c, &in, &o[2 * NQ * DV + 1], NAN),
       "but no other column, and no head that reads other keys");
    ok(!accepts(&c, &in, &o[(NQ - 1) * DV + 1], 1), "and it must not vanish");

    double *const places[] = { &q[(H * NQ - 1) * D],
                               &k[7 * D] }; /* kept: the last query of entry 0, and its last key */
    for (int i = 0; i < 2; i++) {
        inputs_fill(&c, q, k, v);
        *places[i] = INFINITY;
        answer(&c);
        verdict = judge(&c, &in, lse);
        ok(verdict.good && verdict.o.bound < 1e-4 && verdict.lse.bound < 1e-4, "inf in %s does not widen the bounds",
           i ? "K" : "Q");
        ok(!accepts(&c, &in, last, *last + 1e-2) && !accepts(&c, &in, last, NAN) &&
               !accepts(&c, &in, &lse[B * H * NQ - 1], 0),
           "nor excuse an error elsewhere");
    }
}

/* NaN in a value that only the last of many queries keeps reaches no farther than a tile. */
static void check_reach(void)
{
    enum { N = 300 };
    static double x[N], zero[N], got[N];
    clattn_workload c = make_case();
    const struct setup_inputs in = { .q = zero, .k = zero, .v = x };
    struct verdict near_by, far_off;
    c.problem.flags = 0;
    c.problem.d = c.problem.dv = 1;
    c.problem.sizes = (clattn_sizes){ .b = 1, .h = 1, .hk = 1, .nq = N, .nk = N };
    x[N - 1] = NAN;
    got[N - 1] = NAN;
    got[N - 256] = NAN;
    int status = verify(&c, &in, 0, NULL, NULL, got, NULL, NULL, &near_by);
    got[N - 257] = NAN;
    status += verify(&c, &in, 0, NULL, NULL, got, NULL, NULL, &far_off);
    ok(!status && near_by.good && !far_off.good, "NaN in a value reaches no farther than a tile");
    for (int i = 0; i < N; i++)
        got[i] = NAN;
    ok(!verify(&c, &in, 0, NULL, NULL, got, NULL, NULL, &far_off) && !far_off.good && isinf(far_off.o.error),
       "so NaN everywhere is no result");
}

static void check_shared(void)
{
    clattn_workload c = make_case();
    const struct setup_inputs in = { .q = q, .k = k, .v = v, .shared = 1 };
    inputs_fill(&c, q, k, v);
    memcpy(k + HK * NK * D, k, sizeof k / 2);
    memcpy(v + HK * NK * DV, v, sizeof v / 2);
    answer(&c);
    for (size_t i = HK * NK * D; i < sizeof k / sizeof *k; i++)
        k[i] = NAN;
    ok(judge(&c, &in, NULL).good, "keys shared by the batch");
}

/* Seeded extras of a problem string whose sizes are those above. */
static clattn_workload changed(const char *words, struct extras *x)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char text[256], why[200] = "";
    const char *words_why = NULL;
    snprintf(text, sizeof text, "f32 b%d h%d/%d q%d k%d d%d/%d %s", B, H, HK, NQ, NK, D, DV, words);
    if (clattn_workload_parse(text, &c, why, sizeof why) != CL_SUCCESS)
        bail("%s: %s", text, why);
    if (extras_fill(&c, x, &words_why) != 0)
        bail("%s: %s", text, words_why);
    inputs_fill(&c, q, k, v);
    return c;
}

/* Entry by entry as the whole is. */
static void check_changes(void)
{
    struct extras x;
    const clattn_workload c = changed("window4,2 softcap3 alibi bias:bhqk mask:b1qk blocks:2,3 sink mod:tanh_gate "
                                  "seed1", &x);
    const struct setup_inputs in = { .q = q, .k = k, .v = v, .lse = 1, .x = &x };
    struct reference r = whole();
    r.p.flags = CLATTN_WINDOW;
    r.p.window_left = 4;
    r.p.window_right = 2;
    r.p.softcap = 3;
    r.bias = x.bias;
    r.mask = x.mask;
    memcpy(r.bias_shape, x.bias_shape, sizeof r.bias_shape);
    memcpy(r.mask_shape, x.mask_shape, sizeof r.mask_shape);
    r.slopes = x.slopes;
    r.slopes_b = x.slopes_b;
    r.sinks = x.sinks;
    r.mod = mods_reference;
    r.user = &x;
    if (reference_forward(&r, q, k, v, o, lse, o_bound, lse_bound, NULL) != 0)
        bail("no memory");
    const struct verdict verdict = judge(&c, &in, lse);
    ok(verdict.good && verdict.o.error == 0 && verdict.lse.error == 0, "with all that changes scores");
    double *last = &o[B * H * NQ * DV - 1];
    ok(!accepts(&c, &in, last, *last + 1.1 * o_bound[B * H * NQ * DV - 1]) && !accepts(&c, &in, &lse[3], lse[3] + 1e-2),
       "an error is found");
    extras_free(&x);
}

/* Varlen sequences against padded ones: the arrays here hold [h,total,width]. */
static void check_packed(void)
{
    struct extras x;
    const clattn_workload c = changed("causal alibi bias:1hqk varlen", &x);
    const struct setup_inputs in = { .q = q, .k = k, .v = v, .lse = 1, .x = &x };
    const int64_t nq = x.cu_q[B], nk = x.cu_k[B];
    ok(nq == 9 && nk == 14 && x.cu_q[1] == 3 && x.cu_k[1] == 5, "lengths of varlen sequences");
    for (int64_t b = 0; b < B; b++) {
        struct reference r = whole();
        r.b = 1;
        r.nq = x.cu_q[b + 1] - x.cu_q[b];
        r.nk = x.cu_k[b + 1] - x.cu_k[b];
        r.q_pitch = nq;
        r.k_pitch = nk;
        r.p.causal = 1;
        r.bias = x.bias;
        memcpy(r.bias_shape, x.bias_shape, sizeof r.bias_shape);
        r.slopes = x.slopes;
        r.slopes_b = 1;
        if (reference_forward(&r, q + x.cu_q[b] * D, k + x.cu_k[b] * D, v + x.cu_k[b] * DV, o + x.cu_q[b] * DV,
                              lse + x.cu_q[b], o_bound + x.cu_q[b] * DV, lse_bound + x.cu_q[b], NULL) != 0)
            bail("no memory");
    }
    const struct verdict verdict = judge(&c, &in, lse);
    ok(verdict.good && verdict.o.error == 0 && verdict.lse.error == 0, "varlen sequences");
    double *last = &o[H * nq * DV - 1];
    ok(!accepts(&c, &in, last, NAN) && !accepts(&c, &in, &lse[H * nq - 1], 0) && !accepts(&c, &in, o, o[0] + 1e-2),
       "an error is found");
    extras_free(&x);
}

/* Puts `x` at element `at` of a gradient, and says whether that is found right, or puts it back. */
static int accepts_gradient(const clattn_workload *c, const struct setup_inputs *in, const struct verify_gradients *g,
                            double *at, double x)
{
    const double before = *at;
    struct verdict verdict;
    *at = x;
    const int status = verify(c, in, 0, NULL, NULL, o, lse, g, &verdict);
    *at = before;
    return status == 0 && verdict.good;
}

/* A call, and its gradients as they should be. */
static struct {
    clattn_workload c;
    struct extras x;
    struct setup_inputs in;
    double dout[B * H * NQ * DV], dlse[B * H * NQ];
    double got[VERIFY_GRADIENTS][B * H * NQ * D], bound[VERIFY_GRADIENTS][B * H * NQ * D]; /* the most of any */
    struct verify_gradients given;
} call;

static void open_call(const char *text)
{
    uint64_t stream = inputs_stream(1, 2);
    call.c = changed(text, &call.x);
    call.in = (struct setup_inputs){ .q = q, .k = k, .v = v, .lse = 1, .x = &call.x };
    call.given = (struct verify_gradients){ call.dout, call.dlse, { NULL } };
    for (int i = 0; i < VERIFY_GRADIENTS; i++)
        call.given.got[i] = call.got[i];
    for (int i = 0; i < B * H * NQ * DV; i++)
        call.dout[i] = inputs_normal(&stream);
    for (int i = 0; i < B * H * NQ; i++)
        call.dlse[i] = inputs_normal(&stream);
}

static void compute_call(void)
{
    double(*const got)[B * H * NQ * D] = call.got, (*const bound)[B * H * NQ * D] = call.bound;
    struct reference r = whole();
    const struct reference_gradients to = { .dout = call.dout, .dlse = call.dlse, .o_bound = o_bound,
                                            .lse_bound = lse_bound, .dq = got[VERIFY_DQ], .dk = got[VERIFY_DK],
                                            .dv = got[VERIFY_DV], .dbias = got[VERIFY_DBIAS],
                                            .dslopes = got[VERIFY_DSLOPES], .dsinks = got[VERIFY_DSINKS],
                                            .dq_bound = bound[VERIFY_DQ], .dk_bound = bound[VERIFY_DK],
                                            .dv_bound = bound[VERIFY_DV], .dbias_bound = bound[VERIFY_DBIAS],
                                            .dslopes_bound = bound[VERIFY_DSLOPES],
                                            .dsinks_bound = bound[VERIFY_DSINKS] };
    memset(call.got, 0, sizeof call.got);
    memset(call.bound, 0, sizeof call.bound);
    r.p = call.c.problem;
    verify_take_extras(&r, &call.x);
    if (reference_forward(&r, q, k, v, o, lse, o_bound, lse_bound, NULL) != 0 ||
        whole_backward(&r, q, k, v, &to) != 0)
        bail("no memory");
}

static int accepts_call(int which, int at, double x)
{
    return accepts_gradient(&call.c, &call.in, &call.given, &call.got[which][at], x);
}

/* Summed over entries that share a bias, slopes and sinks, they are those of the whole. */
static void check_gradients(void)
{
    static const int last[VERIFY_GRADIENTS] = { B * H * NQ * D - 1, B * HK * NK * D - 1, B * HK * NK * DV - 1,
                                                H * NQ * NK - 1, H - 1, H - 1 };
    struct verdict verdict;
    open_call("causal softcap3 alibi bias:1hqk sink seed1");
    compute_call();
    if (verify(&call.c, &call.in, 0, NULL, NULL, o, lse, &call.given, &verdict) != 0)
        bail("no memory");
    ok(verdict.good, "the right gradients are right");
    for (int i = 0; i < VERIFY_GRADIENTS; i++) {
        const double x = call.got[i][last[i]], off = call.bound[i][last[i]];
        ok(verdict.gradients[i].error == 0 && off > 0 && off < 1e-2 && accepts_call(i, last[i], x + 0.9 * off) &&
               !accepts_call(i, last[i], x - 1.1 * off) && !accepts_call(i, last[i], NAN),
           "%s: an error is held against the bound", verify_gradient_names[i]);
    }
    ok(!accepts_call(VERIFY_DBIAS, NK - 1, 1e-30), "what no query sees has 0 and no bound");
    call.given.got[VERIFY_DK] = NULL;
    ok(accepts_call(VERIFY_DK, 0, call.got[VERIFY_DK][0] + 2 * call.bound[VERIFY_DK][0]),
       "what is not given is not looked at");
    extras_free(&call.x);
}

/* Row q sees keys q + 1 to q + 3, so key 0 is seen by nobody. All is of the first head of the first entry. */
static void check_nan(void)
{
    enum { HEAD = NQ * NK };
    struct {
        const char *what;
        double *at;
        struct {
            int which, at, may_be; /* NaN, where there is none */
        } others[5];
        int which, must_be; /* NaN */
    } const cases[] = {
        { "a key that no row sees", k, { { VERIFY_DK, 0, 0 }, { VERIFY_DQ, 0, 0 }, { VERIFY_DBIAS, 0, 0 } }, -1, 0 },
        { "its value", v, { { VERIFY_DV, 0, 0 }, { VERIFY_DQ, D - 1, 0 }, { VERIFY_DSINKS, 0, 0 } }, -1, 0 },
        { "a key", k + 4 * D + 1,
          { { VERIFY_DQ, 5 * D + 1, 1 }, { VERIFY_DQ, 5 * D, 0 }, { VERIFY_DK, (HK * NK + 4) * D, 0 } },
          VERIFY_DQ, 2 * D },
        { "a query", q + 2 * D + 1,
          { { VERIFY_DK, 8 * D + 1, 1 }, { VERIFY_DQ, 3 * D + 1, 0 }, { VERIFY_DK, (NK + 4) * D, 0 },
            { VERIFY_DBIAS, 3 * NK + 8, 0 }, { VERIFY_DV, 8 * DV, 1 } },
          VERIFY_DK, 4 * D },
        { "a row of dO", call.dout + 2 * DV + 1,
          { { VERIFY_DV, 8 * DV + 1, 1 }, { VERIFY_DV, 8 * DV, 0 }, { VERIFY_DQ, 3 * D, 0 },
            { VERIFY_DBIAS, HEAD + 2 * NK + 4, 0 } },
          VERIFY_DV, 4 * DV + 1 },
        { "dLSE of a row", call.dlse + 2, { { VERIFY_DV, 4 * DV, 0 }, { VERIFY_DQ, 3 * D, 0 } }, VERIFY_DSINKS, 0 },
    };
    open_call("causal window2,0 alibi bias:1hqk sink seed1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double before = *cases[i].at;
        struct verdict verdict;
        int good = 1;
        *cases[i].at = NAN;
        compute_call();
        if (verify(&call.c, &call.in, 0, NULL, NULL, o, lse, &call.given, &verdict) != 0)
            bail("no memory");
        for (int j = 0; j < 5 && (cases[i].others[j].which || cases[i].others[j].at); j++)
            good = good &&
                   accepts_call(cases[i].others[j].which, cases[i].others[j].at, NAN) == cases[i].others[j].may_be;
        ok(verdict.good && good, "NaN in %s: where it may get is known", cases[i].what);
        if (cases[i].which >= 0)
            ok(isnan(call.got[cases[i].which][cases[i].must_be]) && !accepts_call(cases[i].which, cases[i].must_be, 0),
               "and it has to get into %s", verify_gradient_names[cases[i].which]);
        *cases[i].at = before;
    }
    extras_free(&call.x);
}

enum { N_DQ = B * H * NQ * D, N_DV = B * HK * NK * DV };
struct rows { /* what goes into gradients, and dQ and dV of it */
    double dout[B * H * NQ * DV], dlse[B * H * NQ], dq[N_DQ], dk[B * HK * NK * D], dv[N_DV];
    double dq_bound[N_DQ], dk_bound[B * HK * NK * D], dv_bound[N_DV];
};

static void differentiate(struct rows *x, const double *off_o, const double *off_lse)
{
    const struct reference_gradients to = { .dout = x->dout, .dlse = x->dlse, .o_bound = off_o, .lse_bound = off_lse,
                                            .dq = x->dq, .dk = x->dk, .dv = x->dv, .dq_bound = x->dq_bound,
                                            .dk_bound = x->dk_bound, .dv_bound = x->dv_bound };
    const struct reference r = whole();
    if (whole_backward(&r, q, k, v, &to) != 0)
        bail("no memory");
}

/* The largest part of its bound that an element is away from what another is. */
static double most_apart(const double *x, const double *y, const double *bound, int n)
{
    struct farthest worst = { 0, 0 };
    for (int i = 0; i < n; i++)
        farthest_consider(&worst, x[i], y[i], bound[i]);
    return farthest_part(&worst);
}

/* An LSE that is too large by x makes weights smaller by exp(-x), as a smaller dO would, and an O that is off by x does
 * what a dLSE does that is off by dot(dO, x). */
static void check_inexact(void)
{
    static struct rows exact, room, of_lse, of_o;
    static double off[B * H * NQ * DV];
    const clattn_workload c = make_case();
    uint64_t stream = inputs_stream(3, 4);
    inputs_fill(&c, q, k, v);
    for (int i = 0; i < B * H * NQ * DV; i++) {
        off[i] = 1e-3;
        exact.dout[i] = inputs_normal(&stream);
    }
    room = of_lse = of_o = exact;
    for (int i = 0; i < B * H * NQ * DV; i++) {
        of_lse.dout[i] *= exp(-off[i]);
        of_o.dlse[i / DV] -= fabs(exact.dout[i]) * off[i];
    }
    differentiate(&exact, NULL, NULL);
    differentiate(&room, off, off);
    differentiate(&of_lse, NULL, NULL);
    differentiate(&of_o, NULL, NULL);
    ok(most_apart(of_lse.dv, exact.dv, exact.dv_bound, N_DV) > 1 &&
           most_apart(of_lse.dv, exact.dv, room.dv_bound, N_DV) < 1 &&
           most_apart(of_lse.dv, exact.dv, room.dv_bound, N_DV) > 0.5,
       "gradients may be as far off as LSE makes them");
    ok(most_apart(of_o.dq, exact.dq, exact.dq_bound, N_DQ) > 1 &&
           most_apart(of_o.dq, exact.dq, room.dq_bound, N_DQ) < 1 &&
           most_apart(of_o.dq, exact.dq, room.dq_bound, N_DQ) > 0.1,
       "and as O does");
}

static void check_inputs(void)
{
    const char *text = "bf16 b2 h8/2 q300 k200 d64/32 k:f16 seed3";
    clattn_workload c;
    struct counts n;
    char why[200] = "";
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    if (clattn_workload_parse(text, &c, why, sizeof why) != CL_SUCCESS)
        bail("%s: %s", text, why);
    ok(inputs_count(&c, &n) == 0 && n.q == 307200 && n.k == 51200 && n.v == 25600 && n.o == 153600 && n.lse == 4800,
       "counts");
    double *x = malloc((n.q + n.k + n.v) * sizeof *x), *y = malloc((n.q + n.k + n.v) * sizeof *y), sum = 0, square = 0;
    if (!x || !y)
        bail("no memory");
    inputs_fill(&c, x, x + n.q, x + n.q + n.k);
    inputs_fill(&c, y, y + n.q, y + n.q + n.k);
    ok(memcmp(x, y, (n.q + n.k + n.v) * sizeof *x) == 0, "one seed gives one set of inputs");
    for (size_t row = 0; row < 150; row++) {
        double s = 0;
        for (int i = 0; i < 64; i++)
            s += x[row * 64 + i] * x[n.q + row * 64 + i] / 8;
        sum += s;
        square += s * s;
    }
    ok(fabs(sum / 150) < 1 && fabs(sqrt(square / 150) - 3) < 0.7, "logits deviate by about 3 (%g)", sqrt(square / 150));
    inputs_round(CLATTN_BF16, y, n.q);
    inputs_round(CLATTN_F16, y + n.q, n.k);
    ok(memcmp(x, y, (n.q + n.k) * sizeof *x) == 0, "values are exact in their storage types");
    c.seed++;
    inputs_fill(&c, y, y + n.q, y + n.q + n.k);
    ok(memcmp(x, y, n.q * sizeof *x) != 0 && memcmp(x + n.q, y + n.q, n.k * sizeof *x) != 0,
       "another seed gives others");
    free(x);
    free(y);
    c.problem.sizes.nq = INT64_MAX / 8;
    is_int(inputs_count(&c, &n), -1, "sizes that overflow are found");
}

static void check_json(void)
{
    static const struct {
        const char *from, *to;
    } strings[] = {
        { "plain", "\"plain\"" },
        { NULL, "null" },
        { "a\"b\\c\n\x7f", "\"a\\\"b\\\\c\\u000a\\u007f\"" },
        { "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"" },
        { "\xff\xc0\xaf\xed\xa0\x80\xe2\x82", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"" },
    };
    char text[JSON_NUMBER];
    is_str(json_number(text, -1.5e-7, 9), "-1.5e-07", "a number");
    is_str(json_number(text, NAN, 9), "null", "NaN is null");
    is_str(json_number(text, -INFINITY, 9), "null", "infinity is null");
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        char got[200] = "";
        FILE *f = tmpfile();
        if (!f)
            bail("no temporary file");
        json_string(f, strings[i].from);
        rewind(f);
        got[fread(got, 1, sizeof got - 1, f)] = '\0';
        fclose(f);
        is_str(got, strings[i].to, "string %zu", i);
    }
}

int main(void)
{
    check_verify();
    check_reach();
    check_shared();
    check_changes();
    check_packed();
    check_gradients();
    check_nan();
    check_inexact();
    check_inputs();
    check_json();
    return done_testing();
}
