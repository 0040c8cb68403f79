/* captured.c - gradients of captured buffers, by counting: what texts say of elements that they look up, added exactly
 * SPDX-License-Identifier: Apache-2.0
 *
 * backward.t has those of real score_mods. Here mods leave scores as they are, and their derivatives ds, by ways that
 * make NaN of a 0; what elements receive are whole numbers, so that sums are exact. Texts of both forms take turns, and
 * engines of one work-item to a group with others, which build for long and so have two; CLATTN_PART: each problem with
 * all. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/graded.h"

#include <math.h>
#include <stdlib.h>

enum { MARGIN = 16, NEAR = 3, MIXED = 97 };

#define LINE_GOES_ON "?" "?/\n"
/* Key k is element k - NEAR: the first ones and, for a short buffer, the last ones lie outside. The second text looks
 * that up once more, and one of another buffer. The preprocessor makes names in every way that it knows. In f64 those
 * below 0 are so far below that 32 bits of them would be elements. */
static const struct form {
    const char *name, *first, *second;
    uint32_t flags;
} forms[] = {
    { "scalar", "table_in" LINE_GOES_ON "dex = k - 3;\ntable_grad = q + 1;\nds *= ds / ds;",
      "#define SAY(name, i, x) name##_index = i; name##_grad = x;\n"
      "SAY(mixed, (q * 32 + k / 8) % 97, 1)\nSAY(table, k - 3, 1)\nds *= ds / ds;",
      0 },
    { "vector",
      "const integer far = ((k - 3) >> 31) << 16 << 16;\n"
      "table_in\\\ndex = k - 3 + far - 8 * (far >> 32);\ntable_grad = real_(q + 1);\nds *= ds / ds;",
      "#define SAY(name, i, x) name%:%:_index = i; name%:%:_grad = x;\n"
      "SAY(mixed, (q * 32 + k / 8) % 97, 1)\nSAY(table, k - 3, 1)\nds *= ds / ds;",
      CLATTN_MOD_VECTOR },
    { "scalar, names put together in the second text only",
      "table_index = k - 3;\ntable_grad = q + 1;\nds *= ds / ds;",
      "#define SAY(name, i, x) name##_index = i; name##_grad = x;\n"
      "SAY(mixed, (q * 32 + k / 8) % 97, 1)\nSAY(table, k - 3, 1)\nds *= ds / ds;",
      0 },
};
enum { N_FORMS = sizeof forms / sizeof *forms - 1 }; /* the last one is tried once */

struct table {
    cl_mem mem, values;
    int64_t n;
    int wide;
    unsigned char *bytes; /* what the buffer held: canaries */
    size_t size;
};

static void make_table(struct table *t, const struct device *d, int64_t n, int wide)
{
    *t = (struct table){ .n = n, .wide = wide, .size = (size_t)(n + 2 * MARGIN) * (wide ? 8 : 4) };
    if (!(t->bytes = malloc(t->size)))
        bail("no memory");
    memset(t->bytes, 0xa5, t->size);
    t->mem = each_buffer(d->cl.context, CL_MEM_READ_WRITE, t->size, t->bytes);
    t->values = each_buffer(d->cl.context, CL_MEM_READ_ONLY, wide ? 8 : 4, NULL);
}

static void free_table(struct table *t)
{
    clReleaseMemObject(t->mem);
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

/* Adds up `of` of the keys that a query sees, all queries of all heads. */
static double sum_kept(const struct trial *t, double (*of)(int64_t q, int64_t k, int64_t i), int64_t i)
{
    unsigned char *const keep = malloc((size_t)t->sizes.nk + 1);
    double sum = 0;
    if (!keep)
        bail("no memory");
    for (int64_t b = 0; b < t->sizes.b; b++)
        for (int64_t h = 0; h < t->sizes.h; h++)
            for (int64_t q = 0; q < t->q_rows[b]; q++) {
                trial_keep_row(t, b, h, q, keep);
                for (int64_t k = 0; k < t->k_rows[b]; k++)
                    sum += keep[k] && !is_dropped(t, b, h, q, k) ? of(q, k, i) : 0;
            }
    free(keep);
    return sum;
}

/* What element i of the table receives. */
static double key(int64_t q, int64_t k, int64_t i) { return k == i + NEAR ? (double)(q + 1 + 1) : 0; }
static double of_key(const struct trial *t, int64_t i) { return sum_kept(t, key, i); }

/* What element i of the other buffer receives. Neighbouring keys often share one, and work-items have several. */
static double mixed(int64_t q, int64_t k, int64_t i) { return (q * 32 + k / 8) % MIXED == i; }
static double of_mixed(const struct trial *t, int64_t i) { return sum_kept(t, mixed, i); }

static int is_right(const struct table *x, double (*count)(const struct trial *, int64_t), const struct trial *t,
                    cl_command_queue queue)
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

/* The problem of a plan: that of the trial, with two mods and two buffers. */
struct modded {
    clattn_problem p;
    clattn_score_mod mods[2];
    clattn_aux aux[2];
    const char *grads[2];
};

static void make_problem(struct modded *m, const clattn_problem *p, const struct form *form)
{
    m->p = *p;
    m->mods[0] = (clattn_score_mod){ "s = s;", "first.cl", form->flags };
    m->mods[1] = (clattn_score_mod){ "s = s;", "second.cl", form->flags };
    m->grads[0] = form->first;
    m->grads[1] = form->second;
    m->aux[0] = (clattn_aux){ "table", p->type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32 };
    m->aux[1] = (clattn_aux){ "mixed", CLATTN_F32 };
    m->p.mods = m->mods;
    m->p.mod_grads = m->grads;
    m->p.aux = m->aux;
    m->p.n_mods = 2;
    m->p.n_aux = 2;
    m->p.aux_grads = 3;
}

/* Calls with two tables, and judges what they hold then. */
static int counts(struct graded *g, clattn_plan plan, struct table x[2], cl_command_queue queue)
{
    const clattn_array values[2] = { { x[0].values, 0 }, { x[1].values, 0 } };
    g->t.args.aux = values;
    for (int i = 0; i < 2; i++)
        g->daux[i] = (clattn_aux_gradient){ { x[i].mem, MARGIN }, x[i].n };
    g->args.daux = g->daux;
    const cl_int e = graded_run(g, plan, queue);
    if (e)
        diag("%s", clattn_status_string(e));
    return !e && is_right(&x[0], of_key, &g->t, queue) && is_right(&x[1], of_mixed, &g->t, queue);
}

/* Elements 0 to n - 1 of the table, in a call like that of the problem string. *bytes: of its workspace. */
static void check(const struct device *d, const char *config, const char *text, const struct form *form, int64_t n,
                  size_t *bytes)
{
    const clattn_workload c = each_case(text);
    const int wide = c.problem.type == CLATTN_F64;
    struct graded g;
    struct modded m;
    struct table tables[2];
    char why[1024] = "";
    const cl_int e = graded_make(&g, d->cl.context, d->queue, &c, PADDED, GRADED_ALL);
    make_table(&tables[0], d, n, wide);
    make_table(&tables[1], d, MIXED, wide);
    make_problem(&m, &g.t.c.problem, form);
    const clattn_plan plan = e ? NULL : each_plan(d, config, &m.p, text);
    ok(plan && counts(&g, plan, tables, d->queue), "%s, %s: %s, %lld elements: %s", d->name,
       config ? config : "default", form->name, (long long)n, text);
    *bytes = g.args.workspace_size;
    ok(plan && graded_verify(&g, d->queue, why, sizeof why), "and the other gradients are as without mods: %s",
       why);
    free_table(&tables[0]);
    free_table(&tables[1]);
    graded_free(&g);
}

static void check_sizes(const struct device *d, const char *config, const char *text, const struct form *form)
{
    size_t few, all, many;
    if (harness_may_refuse_text(d, text, NULL)) {
        skip("%s: %s", d->name, text);
        return;
    }
    check(d, config, text, form, 20, &few);
    check(d, config, text, form, 200, &all);
    check(d, config, text, form, 5000, &many);
    ok(few <= many && all <= many, "many elements take more of the workspace: %zu, %zu and %zu bytes", few, all, many);
}

/* Few elements, of which some are past the end; as many as there are; and more than dQ has, so that one work-group of a
 * stripe has all heads. */
static const char *const texts[] = {
    "f32 b2 h4/2 q37 k150 d8 causal bias:11q1 lse bwd",
    "f32 b3 h4/2 q40 k200 d8 varlen mask:11qk alibi lse bwd",
    "f16 b4 h2 q33 k70 d8 causal sink qlen:33,1,0,20 kvlen:70,5,33,64 kvstart:3,0,30,64 lse bwd",
    "f64 b2 h4/2 q37 k150 d8 softcap4 bias:bhq1 lse bwd",
    "f32 b0 h2 q3 k5 d8 lse bwd",
    "f32 b2 h2 q0 k5 d8 lse bwd",
    "f32 b2 h4/2 q5 k0 d8 causal bias:11q1 lse bwd", /* by the kernels of the first */
    "f32 b2 h2 q5 k0 d8 lse bwd",
};
enum { N_TEXTS = sizeof texts / sizeof *texts };

/* Items of a group that share one table, and several tables; rows of an item that are one vector, and two. */
static const char *const shared[] = { "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", "simt tx16,ty4,tm8,tn4,ch4,cv4,qres0" };

/* Whether text i is run in form f. make check has some texts once, on an engine that shares no tables;
 * backward_workspace.t has one whose items share some. */
static int is_due(size_t i, size_t f, int shares_tables)
{
    return harness_turn((unsigned)(i * N_FORMS + f), !shares_tables && f == i % 2 && (i < 2 || i == 6));
}

static void test(const struct device *d)
{
    /* PoCL's optimiser takes minutes for some of these kernels, whose sums are what counts here. */
    harness_unoptimised();
    for (size_t i = 0; i < N_TEXTS; i++)
        for (size_t f = 0; f < N_FORMS; f++)
            if (is_due(i, f, 0))
                check_sizes(d, NULL, texts[i], &forms[f]);
    if (harness_turn(0, 1))
        check_sizes(d, NULL, texts[0], &forms[N_FORMS]);
    for (size_t i = 0; i < N_TEXTS; i++)
        for (size_t f = 0; f < N_FORMS; f++)
            if (is_due(i, f, 1))
                check_sizes(d, shared[(i + f) % 2], texts[i], &forms[f]);
}

int main(void)
{
    return each_device(test);
}
