/* captured.c - gradients of captured buffers, by counting: what texts say of elements that they look up, added exactly
 * SPDX-License-Identifier: Apache-2.0
 *
 * backward.t has those of real score_mods. Here mods leave scores as they are, and their derivatives ds, by ways that
 * make NaN of a 0; what elements receive are whole numbers, so that sums are exact. Texts of both forms take turns;
 * CLATTN_PART: each problem with both. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/graded.h"

#include <math.h>
#include <stdlib.h>

enum { MARGIN = 16, NEAR = 3, WANTED = 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV | GRADED_OTHERS };

/* Key k is element k - NEAR: the first ones and, for a short buffer, the last ones lie outside. */
static const struct form {
    const char *name, *look_up;
    uint32_t flags;
} forms[] = {
    { "scalar", "table_index = k - 3;\ntable_grad = q + 1;\nds *= ds / ds;", 0 },
    { "vector", "table_index = k - 3;\ntable_grad = real_(q + 1);\nds *= ds / ds;", CLATTN_MOD_VECTOR },
};

struct table {
    cl_mem mem, values;
    int64_t n;
    int wide;
    unsigned char *bytes; /* what the buffer held: canaries */
    size_t size;
};

static cl_int make_table(struct table *t, const struct device *d, int64_t n, int wide)
{
    cl_int e, e2;
    *t = (struct table){ .n = n, .wide = wide, .size = (size_t)(n + 2 * MARGIN) * (wide ? 8 : 4) };
    if (!(t->bytes = malloc(t->size)))
        bail("no memory");
    memset(t->bytes, 0xa5, t->size);
    t->mem = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, t->size, t->bytes, &e);
    t->values = clCreateBuffer(d->cl.context, CL_MEM_READ_ONLY, 4, NULL, &e2);
    return e ? e : e2;
}

static void free_table(struct table *t)
{
    if (t->mem)
        clReleaseMemObject(t->mem);
    if (t->values)
        clReleaseMemObject(t->values);
    free(t->bytes);
}

/* A bias of -inf. */
static int is_dropped(const struct trial *t, int64_t b, int64_t h, int64_t q, int64_t k)
{
    const int64_t *const n = t->x.bias_shape;
    if (!t->x.bias)
        return 0;
    const int64_t at[4] = { b % n[0], h % n[1], q % n[2], k % n[3] };
    return t->x.bias[((at[0] * n[1] + at[1]) * n[2] + at[2]) * n[3] + at[3]] == -INFINITY;
}

/* What element i receives. */
static double count(const struct trial *t, int64_t i)
{
    double sum = 0;
    const int64_t k = i + NEAR;
    for (int64_t b = 0; b < t->sizes.b && k < t->sizes.nk; b++)
        for (int64_t h = 0; h < t->sizes.h; h++)
            for (int64_t q = 0; q < t->q_rows[b]; q++)
                if (k < t->k_rows[b] && trial_keeps(t, b, h, q, k) && !is_dropped(t, b, h, q, k))
                    sum += (double)(q + 1);
    return sum;
}

static int is_right(const struct table *x, const struct trial *t, cl_command_queue queue)
{
    const size_t size = x->wide ? 8 : 4;
    unsigned char *const now = malloc(x->size);
    if (!now || clEnqueueReadBuffer(queue, x->mem, CL_TRUE, 0, x->size, now, 0, NULL, NULL))
        bail("the table cannot be read");
    int good = !memcmp(now, x->bytes, MARGIN * size) &&
               !memcmp(now + x->size - MARGIN * size, x->bytes, MARGIN * size);
    if (!good)
        diag("it writes beside its elements");
    for (int64_t i = 0; i < x->n && good; i++) {
        const unsigned char *const at = now + (size_t)(i + MARGIN) * size;
        double got;
        float single;
        memcpy(x->wide ? (void *)&got : (void *)&single, at, size);
        got = x->wide ? got : (double)single;
        if (!(good = got == count(t, i)))
            diag("element %lld is %.9g, not %.9g", (long long)i, got, count(t, i));
    }
    free(now);
    return good;
}

/* The problem of a plan: that of the trial, with two mods. What is said of the first one's table is marked. */
struct modded {
    clattn_problem p;
    clattn_score_mod mods[2];
    clattn_aux aux;
    const char *grads[2];
};

static void make_problem(struct modded *m, const clattn_problem *p, const struct form *form)
{
    m->p = *p;
    m->mods[0] = (clattn_score_mod){ "s = s;", "first.cl", form->flags };
    m->mods[1] = (clattn_score_mod){ "s = s;", "second.cl", form->flags };
    m->grads[0] = form->look_up;
    m->grads[1] = "ds *= ds / ds;";
    m->aux = (clattn_aux){ "table", CLATTN_F32 };
    m->p.mods = m->mods;
    m->p.mod_grads = m->grads;
    m->p.aux = &m->aux;
    m->p.n_mods = 2;
    m->p.n_aux = 1;
    m->p.aux_grads = 1;
}

/* Elements 0 to n - 1 of the table, in a call like that of the problem string. *bytes: of its workspace. */
static void check(const struct device *d, const char *text, const struct form *form, int64_t n, size_t *bytes)
{
    const clattn_workload c = each_case(text);
    struct graded g;
    struct modded m;
    struct table table;
    clattn_array values;
    clattn_plan plan = NULL;
    char why[1024] = "";
    double most;
    cl_int e = graded_make(&g, d->cl.context, d->queue, &c, PADDED, WANTED);
    cl_int e2 = make_table(&table, d, n, c.problem.type == CLATTN_F64);
    make_problem(&m, &g.t.c.problem, form);
    e = e ? e : e2 ? e2 : clattn_plan_create(&plan, d->handle, &m.p, NULL);
    values = (clattn_array){ table.values, 0 };
    g.t.args.aux = &values;
    g.daux[0] = (clattn_aux_gradient){ { table.mem, MARGIN }, n };
    g.args.daux = g.daux;
    e = e ? e : graded_run(&g, plan, d->queue);
    *bytes = g.args.workspace_size;
    if (!ok(!e && is_right(&table, &g.t, d->queue), "%s: %s, %lld elements: %s", d->name, form->name, (long long)n,
            text))
        diag("%s", clattn_status_string(e));
    ok(!e && graded_verify(&g, d->queue, &most, why, sizeof why), "and the other gradients are as without mods: %s",
       why);
    clattn_plan_release(plan);
    free_table(&table);
    graded_free(&g);
}

/* Few elements, of which some are past the end; as many as there are; and more than dQ has, so that one work-group of a
 * stripe has all heads. */
static void test(const struct device *d)
{
    static const char *const texts[] = {
        "f32 b2 h4/2 q37 k150 d8 causal bias:11q1 lse bwd",
        "f32 b3 h4/2 q40 k200 d8 varlen mask:11qk alibi lse bwd",
        "f16 b4 h2 q33 k70 d8 causal sink qlen:33,1,0,20 kvlen:70,5,33,64 kvstart:3,0,30,64 lse bwd",
        "f64 b2 h4/2 q37 k150 d8 softcap4 bias:bhq1 lse bwd", "f32 b0 h2 q3 k5 d8 lse bwd",
        "f32 b2 h2 q0 k5 d8 lse bwd", "f32 b2 h2 q5 k0 d8 lse bwd",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            size_t few, all, many;
            if (i && f != i % 2 && !harness_rest())
                continue;
            check(d, texts[i], &forms[f], 20, &few);
            check(d, texts[i], &forms[f], 200, &all);
            check(d, texts[i], &forms[f], 5000, &many);
            ok(few <= all && all <= many, "the workspace grows with the elements: %zu, %zu and %zu bytes", few, all,
               many);
        }
}

int main(void)
{
    return each_device(test);
}
