/* random_mods.c - score_mods and derivatives made up at random, against float64 and its differences
 * SPDX-License-Identifier: Apache-2.0
 *
 * Scores are computed in double by what made the texts (tests/lib/made_mods.h), and gradients are differences of that:
 * no derivative is written twice. make check has two; CLATTN_PART=1: hundreds. random_mods.t N: number N alone, with
 * its texts. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/made_mods.h"
#include "tools/oracle/convert.h"

#include <math.h>

/* ---- What they come to ---- */

enum { H = 2, NQ = 3, NK = 5, D = 4, TABLE = 16 };
enum { Q_AT, K_AT = Q_AT + H * NQ * D, V_AT = K_AT + NK * D, TABLE_AT = V_AT + NK * D, ALL = TABLE_AT + TABLE };
enum { O_N = H * NQ * D, LSE_N = H * NQ };

struct problem {
    struct made_mod made;
    struct made_form form;
    double x[ALL], dout[O_N], dlse[LSE_N]; /* as stored */
};

/* O and LSE, and what the gradients are of. */
static double forward(const struct problem *p, const double *x, double *o, double *lse)
{
    double loss = 0;
    for (int row = 0; row < H * NQ; row++) {
        double s[NK], top = -INFINITY, sum = 0;
        for (int k = 0; k < NK; k++) {
            const int h = row / NQ, q = row % NQ;
            double dot = 0;
            for (int i = 0; i < D; i++)
                dot += x[Q_AT + row * D + i] * x[K_AT + k * D + i];
            s[k] = made_mod_compute(&p->made, dot / sqrt(D), q, k, x[TABLE_AT + made_form_index(&p->form, h, q, k)]);
            top = fmax(top, s[k]);
        }
        for (int k = 0; k < NK; k++)
            sum += exp(s[k] - top);
        lse[row] = top + log(sum);
        loss += p->dlse[row] * lse[row];
        for (int i = 0; i < D; i++) {
            double of = 0;
            for (int k = 0; k < NK; k++)
                of += exp(s[k] - lse[row]) * x[V_AT + k * D + i];
            o[row * D + i] = of;
            loss += p->dout[row * D + i] * of;
        }
    }
    return loss;
}

/* The derivative by x[i]; of two steps, since one may lie across a point where a function has none. */
static double difference(const struct problem *p, int i, double step)
{
    double x[ALL], o[O_N], lse[LSE_N];
    memcpy(x, p->x, sizeof x);
    x[i] = p->x[i] + step;
    const double more = forward(p, x, o, lse);
    x[i] = p->x[i] - step;
    return (more - forward(p, x, o, lse)) / (2 * step);
}

static int is_near(const struct problem *p, int i, double got, double tolerance, double *want)
{
    static const double steps[] = { 1e-4, 1e-5, 1e-6 };
    for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
        *want = difference(p, i, steps[n]);
        if (fabs(got - *want) <= tolerance * (1 + fabs(*want)))
            return 1;
    }
    return 0;
}

/* ---- On a device ---- */

enum { Q, K, V, AUX, DOUT, DLSE, O, LSE, DQ, DK, DV, DAUX, BUFFERS };
static const int counts[BUFFERS] = { H * NQ * D, NK *D, NK *D,    TABLE, O_N,   LSE_N,
                                     O_N,        LSE_N, H *NQ *D, NK *D, NK *D, TABLE };

struct run {
    const struct device *d;
    int type;
    cl_mem mem[BUFFERS];
};

static void put(struct run *r, int which, double *values)
{
    unsigned char bytes[8 * ALL];
    convert_store(r->type, values, bytes, (size_t)counts[which]);
    convert_load(r->type, bytes, values, (size_t)counts[which]);
    r->mem[which] = each_buffer(r->d->cl.context, CL_MEM_READ_WRITE, (size_t)counts[which] * convert_size(r->type),
                                bytes);
}

static void get(struct run *r, int which, double *to)
{
    unsigned char bytes[8 * ALL];
    if (clEnqueueReadBuffer(r->d->queue, r->mem[which], CL_TRUE, 0, (size_t)counts[which] * convert_size(r->type),
                            bytes, 0, NULL, NULL))
        bail("cannot read");
    convert_load(r->type, bytes, to, (size_t)counts[which]);
}

static void open_run(struct run *r, const struct device *d, int type, struct problem *p, uint64_t seed)
{
    double nothing[ALL] = { 0 };
    *r = (struct run){ .d = d, .type = type };
    for (int i = 0; i < ALL; i++)
        p->x[i] = trial_normal(seed, 1, (uint64_t)i);
    for (int i = 0; i < O_N; i++)
        p->dout[i] = trial_normal(seed, 2, (uint64_t)i);
    for (int i = 0; i < LSE_N; i++)
        p->dlse[i] = trial_normal(seed, 3, (uint64_t)i);
    double *const from[BUFFERS] = { p->x + Q_AT, p->x + K_AT, p->x + V_AT, p->x + TABLE_AT, p->dout, p->dlse };
    for (int i = 0; i < BUFFERS; i++)
        put(r, i, from[i] ? from[i] : nothing);
}

static void close_run(struct run *r)
{
    for (int i = 0; i < BUFFERS; i++)
        clReleaseMemObject(r->mem[i]);
}

/* Forward, then backward; the words of a failure in `why`. */
static cl_int run_both(struct run *r, const struct problem *of, const struct made_texts *t,
                       const char *const engines[2], char *why, size_t len)
{
    const clattn_score_mod mod = { t->mod, "mod.cl", of->form.flags };
    const clattn_aux aux = { "table", r->type };
    const char *const grad[] = { t->grad };
    const clattn_array captured = { r->mem[AUX], 0 };
    const clattn_aux_gradient daux = { { r->mem[DAUX], 0 }, TABLE };
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    clattn_backward_args g = CLATTN_BACKWARD_ARGS_INIT;
    clattn_plan plan = NULL;
    size_t size = 0;
    p.type = r->type;
    p.d = D;
    p.sizes = (clattn_sizes){ 1, H, 1, NQ, NK, 0, 0, 0 };
    p.mods = &mod;
    p.aux = &aux;
    p.n_mods = p.n_aux = 1;
    p.mod_grads = grad;
    p.flags = r->type == CLATTN_F64 ? CLATTN_LSE_F64 : 0;
    a.q.mem = r->mem[Q];
    a.k.mem = r->mem[K];
    a.v.mem = r->mem[V];
    a.o.mem = r->mem[O];
    a.lse.mem = r->mem[LSE];
    a.aux = &captured;
    g.forward = &a;
    g.dout.mem = r->mem[DOUT];
    g.dlse.mem = r->mem[DLSE];
    g.dq.mem = r->mem[DQ];
    g.dk.mem = r->mem[DK];
    g.dv.mem = r->mem[DV];
    g.daux = &daux;
    cl_int e = harness_plan(r->d, &p, engines[0], &plan, why, len);
    e = e ? e : clattn_enqueue_forward(plan, r->d->queue, &a, 0, NULL, NULL);
    p.flags |= CLATTN_BACKWARD;
    p.aux_grads = 1;
    e = e ? e : harness_plan(r->d, &p, engines[1], &plan, why, len);
    e = e ? e : clattn_backward_workspace_size(plan, &g, &size);
    g.workspace_size = size;
    if (!e && size)
        g.workspace = clCreateBuffer(r->d->cl.context, CL_MEM_READ_WRITE, size, NULL, &e);
    e = e ? e : clattn_enqueue_backward(plan, r->d->queue, &g, 0, NULL, NULL);
    e = e ? e : clFinish(r->d->queue);
    if (g.workspace)
        clReleaseMemObject(g.workspace);
    return e;
}

static int judge(struct run *r, const struct problem *p, double tolerance, char *why, size_t len)
{
    static const struct {
        const char *name;
        int buffer, at;
    } gradients[] = { { "dQ", DQ, Q_AT }, { "dK", DK, K_AT }, { "dV", DV, V_AT }, { "dTable", DAUX, TABLE_AT } };
    double o[O_N], lse[LSE_N], got[ALL], got_lse[LSE_N], want;
    forward(p, p->x, o, lse);
    get(r, O, got);
    get(r, LSE, got_lse);
    for (int i = 0; i < O_N; i++)
        if (!(fabs(got[i] - o[i]) <= tolerance) || !(fabs(got_lse[i / D] - lse[i / D]) <= tolerance * 4)) {
            snprintf(why, len, "O[%d] is %.9g, not %.9g, or LSE %.9g, not %.9g", i, got[i], o[i], got_lse[i / D],
                     lse[i / D]);
            return 0;
        }
    for (size_t n = 0; n < sizeof gradients / sizeof *gradients; n++) {
        get(r, gradients[n].buffer, got);
        for (int i = 0; i < counts[gradients[n].buffer]; i++)
            if (!is_near(p, gradients[n].at + i, got[i], tolerance, &want)) {
                snprintf(why, len, "%s[%d] is %.9g, not %.9g", gradients[n].name, i, got[i], want);
                return 0;
            }
    }
    return 1;
}

/* Number n: its type, form and engines take turns. */
static void test_number(const struct device *d, unsigned n, int show)
{
    static const char *const forwards[] = { "naive", "row", "cpu", "simt" };
    const int wide = n % 3 == 0, vector = n / 3 % 2;
    const char *const engines[2] = { forwards[n / 5 % 4], n % 8 == 7 ? "simt" : "cpu" };
    struct problem p = { .made = made_mod(n), .form = made_form(wide, vector) };
    static struct made_texts t;
    struct run r;
    char why[1024] = "";
    made_mod_write(&t, &p.form, &p.made, 1);
    if (show)
        diag("%s\n%s", t.mod, t.grad);
    open_run(&r, d, wide ? CLATTN_F64 : CLATTN_F32, &p, n);
    const cl_int e = run_both(&r, &p, &t, engines, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && wide)
        skip("%s: no f64", d->name);
    else if (!ok(!e && judge(&r, &p, wide ? 1e-6 : 2e-4, why, sizeof why), "%s: %s, %s: random_mods.t %u", d->name,
                 wide ? "f64" : "f32", p.form.flags ? "vector" : "scalar", n))
        diag("%s %s, %s: %s", engines[0], engines[1], clattn_status_string(e), why);
    harness_forget();
    close_run(&r);
}

static int chosen = -1;

static void test_device(const struct device *d)
{
    enum { NUMBERS = 400, SCALAR = 134, VECTOR = 201 }; /* f32 on engine cpu, f64 on naive */
    for (unsigned n = 0; n < NUMBERS; n++)
        if (chosen < 0 ? harness_turn(n, n == SCALAR || n == VECTOR) : n == (unsigned)chosen)
            test_number(d, n, chosen >= 0);
}

int main(int argc, char **argv)
{
    chosen = argc > 1 ? atoi(argv[1]) : -1;
    return each_device(test_device);
}
