/* graded.c - gradients of a trial: made-up dO and dLSE, poisoned buffers, the verdict
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/graded.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/inputs.h"
#include "tools/oracle/verify.h"
#include "tests/lib/mods.h"
#include "tests/lib/whole.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[GRADED_N] = { "dO", "dLSE", "dQ", "dK", "dV" };

static int is_keys(int i)
{
    return i == GRADED_DK || i == GRADED_DV;
}

/* How many rows of each sequence exist. */
static const int32_t *rows_of(const struct graded *g, int i)
{
    return is_keys(i) ? g->t.k_rows : g->t.q_rows;
}

/* Whether row n of a tensor is in its buffer. */
static int is_there(const struct graded *g, int i, int64_t b, int64_t h, int64_t n)
{
    if (i == GRADED_DOUT)
        return g->t.sees[(b * g->t.sizes.h + h) * g->t.sizes.nq + n];
    return n < rows_of(g, i)[b];
}

static void store(const struct graded *g, int i)
{
    const struct tensor *const x = &g->x[i];
    for (int64_t b = 0; b < x->n[0]; b++)
        for (int64_t h = 0; h < x->n[1]; h++)
            for (int64_t n = 0; n < x->n[2]; n++)
                if (is_there(g, i, b, h, n))
                    convert_store(x->type, tensor_row(x, b, h, n),
                                  x->image->byte + tensor_at(x, b, h, n) * convert_size(x->type), (size_t)x->width);
}

/* The tensor beside which it lies, in a buffer of its own. */
static cl_int place(struct graded *g, int i, const struct tensor *like)
{
    struct tensor *const x = &g->x[i];
    *x = *like;
    x->type = i == GRADED_DOUT ? g->t.q.type : like->type; /* dO is stored as Q is, whatever O is */
    x->image = &g->image[i];
    x->value = NULL;
    if (g->summed >> i & 1)
        x->n[0] = 1;
    const int rows_outside = (g->t.c.bthd || x->cu) && i != GRADED_DLSE; /* as LSE: [h,total_q] */
    const size_t n = trial_place(x, rows_outside, g->t.layout, g->summed >> i & 1);
    x->value = calloc((size_t)tensor_count(x) + 1, sizeof *x->value);
    return x->value ? image_alloc(x->image, n, x->type) : CL_OUT_OF_HOST_MEMORY;
}

static void fill(struct graded *g, int i)
{
    struct tensor *const x = &g->x[i];
    const int64_t n = tensor_count(x);
    const int given = i == GRADED_DOUT || i == GRADED_DLSE;
    for (int64_t at = 0; at < n; at++)
        x->value[at] = !given     ? NAN
                       : g->value ? g->value(i, at / x->width % x->n[2], at % x->width)
                                  : trial_normal(g->t.c.seed, 70 + (uint64_t)i, (uint64_t)at);
    for (int64_t row = 0; i == GRADED_DLSE && row < n; row++) /* of rows that no sequence has */
        if (row % x->n[2] >= g->t.q_rows[row / x->n[2] / x->n[1]])
            x->value[row] = 0;
    if (given) {
        inputs_round(x->type, x->value, (size_t)n);
        image_poison(x->image, x->type);
    } else {
        image_canaries(x->image);
    }
    store(g, i);
}

static void argument(const struct graded *g, int i, clattn_tensor *to)
{
    tensor_argument(&g->x[i], g->t.layout != PLAIN || (g->t.c.bthd && i != GRADED_DLSE) || g->summed >> i & 1, to);
}

/* ---- Bias, slopes, sinks ---- */

static cl_int make_cells(struct graded *g, int which, const int64_t shape[4], int type, cl_context context)
{
    struct graded_cells *const x = &g->cells[which];
    cl_int e = trial_array4(&x->at, shape, type, which == GRADED_DBIAS ? g->t.layout : PLAIN);
    if (e)
        return e;
    x->type = type;
    x->count = array4_count(&x->at);
    x->want = calloc((size_t)x->count + 1, sizeof *x->want);
    x->bound = calloc((size_t)x->count + 1, sizeof *x->bound);
    x->got = calloc((size_t)x->count + 1, sizeof *x->got);
    image_canaries(&x->at.image);
    if (!x->want || !x->bound || !x->got)
        return CL_OUT_OF_HOST_MEMORY;
    return image_buffer(&x->at.image, context, CL_MEM_READ_WRITE);
}

static cl_int make_others(struct graded *g, cl_context context)
{
    const struct trial *const t = &g->t;
    const clattn_sizes *const s = &t->sizes;
    const int64_t full[4] = { s->b, s->h, s->nq, s->nk }, heads[4] = { 1, 1, 1, s->h };
    const int64_t slopes[4] = { 1, 1, t->x.slopes_b, t->args.slopes_stride ? t->args.slopes_stride : s->h };
    cl_int e = CL_SUCCESS;
    if (t->x.bias) {
        e = make_cells(g, GRADED_DBIAS, t->x.bias_shape, t->q.type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32, context);
        array4_argument(t, &g->cells[GRADED_DBIAS].at, full, &g->args.dbias);
    }
    if (!e && t->x.slopes) {
        e = make_cells(g, GRADED_DSLOPES, slopes, CLATTN_F32, context);
        g->args.dslopes = (clattn_array){ g->cells[GRADED_DSLOPES].at.image.mem, 0 };
    }
    if (!e && t->x.sinks) {
        e = make_cells(g, GRADED_DSINKS, heads, CLATTN_F32, context);
        g->args.dsinks = (clattn_array){ g->cells[GRADED_DSINKS].at.image.mem, 0 };
    }
    return e;
}

/* Whether a derivative says what the element of a buffer receives. */
static int is_learnt(const struct extras *x, size_t i)
{
    char name[80];
    int is = 0;
    snprintf(name, sizeof name, "%s_index", x->aux[i].name);
    for (size_t n = 0; n < x->n_mods && x->aux[i].type == CLATTN_F32; n++)
        is = is || (x->mod_grads[n] && strstr(x->mod_grads[n], name));
    return is;
}

/* What follows the elements must stay as it is. */
static cl_int make_captured(struct graded *g, cl_context context)
{
    enum { BEHIND = 8 };
    const struct extras *const x = &g->t.x;
    cl_int e = CL_SUCCESS;
    for (size_t i = 0; i < x->n_aux && !e; i++) {
        const int64_t shape[4] = { 1, 1, 1, (int64_t)x->aux[i].count + BEHIND };
        const int which = GRADED_DAUX + (int)i;
        if (!is_learnt(x, i))
            continue;
        e = make_cells(g, which, shape, g->t.q.type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32, context);
        g->t.c.problem.aux_grads |= 1u << i;
        g->daux[i] = (clattn_aux_gradient){ { g->cells[which].at.image.mem, 0 }, shape[3] - BEHIND };
        g->args.daux = g->daux;
    }
    return e;
}

/* Where element i of what was wanted lies: slopes of an entry may have a gap behind them. */
static size_t cell_at(const struct graded *g, int which, int64_t i)
{
    int64_t index[4];
    const int64_t h = g->t.sizes.h;
    const struct graded_cells *const x = &g->cells[which];
    return which == GRADED_DSLOPES ? (size_t)(i / h * x->at.shape[3] + i % h) : array4_at(&x->at, i, index);
}
int64_t graded_cells_wanted(const struct graded *g, int which)
{
    if (which >= GRADED_DAUX)
        return g->cells[which].count ? g->daux[which - GRADED_DAUX].n : 0;
    return which == GRADED_DSLOPES && g->cells[which].count ? g->t.x.slopes_b * g->t.sizes.h : g->cells[which].count;
}

static const char *name_of_cells(const struct graded *g, int which)
{
    static const char *const names_of[] = { "dBias", "dSlope", "dSink" };
    return which < GRADED_DAUX ? names_of[which] : g->t.x.aux[which - GRADED_DAUX].name;
}

/* Reads them: 1 when nothing else changed in their buffer. */
static int fetch_cells(struct graded *g, int which, cl_command_queue queue)
{
    struct graded_cells *const x = &g->cells[which];
    const size_t size = convert_size(x->type);
    unsigned char *const now = image_read(&x->at.image, queue);
    for (int64_t i = 0; i < graded_cells_wanted(g, which) && now; i++) {
        const size_t at = cell_at(g, which, i) * size;
        convert_load(x->type, now + at, &x->got[i], 1);
        memcpy(x->at.image.byte + at, now + at, size);
    }
    const int same = now && !memcmp(now, x->at.image.byte, x->at.image.size);
    free(now);
    return same;
}

/* The part of its bound that a number is off by. */
static double share_of(const struct graded *g, double got, double want, double bound)
{
    const double error = g->tainted && isnan(got) && isnan(want) ? 0 : fabs(got - want);
    return error == 0 ? 0 : error / bound;
}

static int compare_cells(struct graded *g, int which, char *why, size_t len)
{
    const struct graded_cells *const x = &g->cells[which];
    for (int64_t i = 0; i < graded_cells_wanted(g, which); i++) {
        const double share = share_of(g, x->got[i], x->want[i], x->bound[i]);
        g->most = share > g->most ? share : g->most;
        if (share <= 1)
            continue;
        snprintf(why, len, "%s[%lld] is %.9g, not %.9g: %.3g of the bound", name_of_cells(g, which), (long long)i,
                 x->got[i], x->want[i], share);
        return 0;
    }
    return 1;
}

/* O and LSE of the forward pass. */
static cl_int give_outputs(struct graded *g, cl_command_queue queue)
{
    struct trial *const t = &g->t;
    struct truth truth;
    cl_int e = CL_OUT_OF_HOST_MEMORY;
    if (trial_truth(t, NULL, &truth, NULL) == 0) {
        memcpy(t->o.value, truth.o, (size_t)tensor_count(&t->o) * sizeof *truth.o);
        memcpy(t->lse.value, truth.lse, (size_t)tensor_count(&t->lse) * sizeof *truth.lse);
        inputs_round(t->o.type, t->o.value, (size_t)tensor_count(&t->o));
        trial_store(t, &t->o);
        trial_store(t, &t->lse);
        e = image_write(t->o.image, queue);
        e = e ? e : image_write(t->lse.image, queue);
    }
    truth_free(&truth);
    return e;
}

/* Q, K or V as g->value says. */
static void replace(struct graded *g, int which, struct tensor *x)
{
    for (int64_t at = 0; at < tensor_count(x); at++)
        x->value[at] = g->value(which, at / x->width % x->n[2], at % x->width);
    inputs_round(x->type, x->value, (size_t)tensor_count(x));
}
static cl_int replace_inputs(struct graded *g, cl_command_queue queue)
{
    replace(g, GRADED_Q, &g->t.q);
    replace(g, GRADED_K, &g->t.k);
    replace(g, GRADED_V, &g->t.v);
    return trial_upload_inputs(&g->t, queue);
}

static void forget_truth(struct graded *g)
{
    for (int i = GRADED_DQ; i < GRADED_N; i++) {
        free(g->want[i]);
        free(g->bound[i]);
        g->want[i] = g->bound[i] = NULL;
    }
    for (int i = 0; i < GRADED_CELLS; i++)
        for (int64_t at = 0; at < g->cells[i].count; at++)
            g->cells[i].want[at] = g->cells[i].bound[at] = 0;
}

/* What float64 says, and how far off the engine may be. Where batch entries share keys their gradients are summed
 * here. */
static cl_int find_truth(struct graded *g)
{
    struct reference r = trial_problem(&g->t);
    struct mods_gradients mods = { .x = &g->t.x };
    forget_truth(g);
    for (int i = 0; i < CLATTN_AUX_MAX; i++) {
        mods.daux[i] = g->cells[GRADED_DAUX + i].want;
        mods.bound[i] = g->cells[GRADED_DAUX + i].bound;
    }
    const size_t keys = (size_t)(r.b * r.hk * r.nk);
    const size_t n[GRADED_N] = { [GRADED_DQ] = (size_t)(r.b * r.h * r.nq * r.d),
                                 [GRADED_DK] = keys * (size_t)r.d,
                                 [GRADED_DV] = keys * (size_t)r.dv };
    for (int i = GRADED_DQ; i < GRADED_N; i++) {
        g->want[i] = calloc(n[i] + 1, sizeof **g->want);
        g->bound[i] = calloc(n[i] + 1, sizeof **g->bound);
        if (!g->want[i] || !g->bound[i])
            return CL_OUT_OF_HOST_MEMORY;
    }
    r.share = trial_share(g->t.demand);
    r.narrow_p = g->t.narrow_p;
    const int types[3] = { g->t.q.type, g->t.k.type, g->t.v.type };
    const struct reference_gradients to = {
        .entries = g->summed ? r.b : 0,
        .dout = g->x[GRADED_DOUT].value, .dlse = g->args.dlse.mem ? g->x[GRADED_DLSE].value : NULL,
        .dq = g->want[GRADED_DQ], .dk = g->want[GRADED_DK], .dv = g->want[GRADED_DV],
        .dq_bound = g->bound[GRADED_DQ], .dk_bound = g->bound[GRADED_DK], .dv_bound = g->bound[GRADED_DV],
        .dbias = g->cells[GRADED_DBIAS].want, .dbias_bound = g->cells[GRADED_DBIAS].bound,
        .dslopes = g->cells[GRADED_DSLOPES].want, .dslopes_bound = g->cells[GRADED_DSLOPES].bound,
        .dsinks = g->cells[GRADED_DSINKS].want, .dsinks_bound = g->cells[GRADED_DSINKS].bound,
        .mod_grad = mods_back, .mod_user = &mods,
    };
    if (reference_backward_add(&r, g->t.q.value, g->t.k.value, g->t.v.value, &to))
        return CL_OUT_OF_HOST_MEMORY;
    for (int i = GRADED_DK; i < GRADED_N && r.b; i++)
        for (size_t at = n[i] / (size_t)r.b; g->summed >> i & 1 && at < n[i]; at++) {
            g->want[i][at % (n[i] / (size_t)r.b)] += g->want[i][at];
            g->bound[i][at % (n[i] / (size_t)r.b)] += g->bound[i][at];
        }
    whole_end(&r, &to, types);
    return CL_SUCCESS;
}

cl_int graded_upload(struct graded *g, int which, cl_command_queue queue)
{
    struct tensor *const x = &g->x[which];
    inputs_round(x->type, x->value, (size_t)tensor_count(x));
    store(g, which);
    return image_write(x->image, queue);
}

cl_int graded_truth(struct graded *g, cl_command_queue queue)
{
    const cl_int e = give_outputs(g, queue);
    return e ? e : find_truth(g);
}

cl_int graded_make(struct graded *g, cl_context context, cl_command_queue queue, const clattn_workload *c,
                   enum layout layout, unsigned wanted)
{
    return graded_make_bad(g, context, queue, c, layout, wanted, NULL);
}

cl_int graded_make_bad(struct graded *g, cl_context context, cl_command_queue queue, const clattn_workload *c,
                       enum layout layout, unsigned wanted, graded_value *value)
{
    clattn_workload with_lse = *c;
    clattn_tensor *const to[GRADED_N] = { &g->args.dout, &g->args.dlse, &g->args.dq, &g->args.dk, &g->args.dv };
    cl_int e;
    memset(g, 0, sizeof *g);
    with_lse.lse = 1;
    g->value = value;
    if ((e = trial_make(&g->t, context, &with_lse, layout)) || (value && (e = replace_inputs(g, queue))))
        return e;
    g->t.demand = value ? WHOLE : USUAL;
    const struct tensor *const like[GRADED_N] = { &g->t.o, &g->t.lse, &g->t.q, &g->t.k, &g->t.v };
    if (g->t.sizes.b > 1 && !(c->problem.flags & CLATTN_CU_K))
        g->summed = (g->t.layout == SHARED || g->t.layout == SHARED_K) << GRADED_DK |
                    (g->t.layout == SHARED || g->t.layout == SHARED_V) << GRADED_DV;
    g->args.struct_size = sizeof g->args;
    g->args.forward = &g->t.args;
    for (int i = 0; i < GRADED_N && !e; i++) {
        if ((e = place(g, i, like[i])))
            break;
        fill(g, i);
        if (i != GRADED_DOUT && !(wanted >> i & 1))
            continue;
        if (!(e = image_buffer(&g->image[i], context, i <= GRADED_DLSE ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE)))
            argument(g, i, to[i]);
    }
    if (!e && wanted & GRADED_OTHERS)
        e = make_others(g, context);
    if (!e && wanted & GRADED_CAPTURED)
        e = make_captured(g, context);
    return e ? e : graded_truth(g, queue);
}

cl_int graded_run(struct graded *g, clattn_plan plan, cl_command_queue queue)
{
    const int before = g->t.narrow_p;
    char config[512] = "";
    size_t need = 0;
    cl_int e = clattn_plan_config(plan, config, sizeof config, NULL);
    g->t.narrow_p = verify_narrow_p(config);
    if (!e && g->t.narrow_p != before)
        e = find_truth(g);
    e = e ? e : clattn_backward_workspace_size(plan, &g->args, &need);
    if (!e && need > g->args.workspace_size) {
        e = workspace_make(&g->workspace, queue, need);
        g->args.workspace = g->workspace.mem;
        g->args.workspace_offset = WORKSPACE_MARGIN;
        g->args.workspace_size = need;
    }
    e = e ? e : clattn_enqueue_backward(plan, queue, &g->args, 0, NULL, NULL);
    return e ? e : clFinish(queue);
}

/* ---- The verdict ---- */

static int compare(struct graded *g, int i, char *why, size_t len)
{
    const struct tensor *const x = &g->x[i];
    const int64_t rows = x->n[2];
    for (int64_t at = 0; at < tensor_count(x); at++) {
        const int64_t row = at / x->width, b = row / rows / x->n[1], h = row / rows % x->n[1], n = row % rows;
        if (!is_there(g, i, b, h, n))
            continue;
        const double error = fabs(x->value[at] - g->want[i][at]);
        const double share = share_of(g, x->value[at], g->want[i][at], g->bound[i][at]);
        g->most = share > g->most ? share : g->most;
        if (share <= 1)
            continue;
        snprintf(why, len, "%s[%lld,%lld,%lld,%lld] is %.9g, not %.9g: off by %.3g, %.3g of the bound", names[i],
                 (long long)b, (long long)h, (long long)n, (long long)(at % x->width), x->value[at], g->want[i][at],
                 error, share);
        return 0;
    }
    return 1;
}

int graded_fetch(struct graded *g, cl_command_queue queue, char *why, size_t len)
{
    const clattn_tensor *const to[GRADED_N] = { &g->args.dout, &g->args.dlse, &g->args.dq, &g->args.dk, &g->args.dv };
    for (int i = 0; i < GRADED_N; i++)
        if (to[i]->mem && !(i <= GRADED_DLSE ? image_unchanged(&g->image[i], queue)
                                             : tensor_fetch(&g->x[i], rows_of(g, i), queue))) {
            snprintf(why, len, "the buffer of %s changed where it must not", names[i]);
            return 0;
        }
    for (int i = 0; i < GRADED_CELLS; i++)
        if (g->cells[i].count && !fetch_cells(g, i, queue)) {
            snprintf(why, len, "the buffer of %s changed where it must not", name_of_cells(g, i));
            return 0;
        }
    if (!workspace_is_kept(&g->workspace, queue)) {
        snprintf(why, len, "it writes beside the workspace");
        return 0;
    }
    return 1;
}

int graded_verify(struct graded *g, cl_command_queue queue, char *why, size_t len)
{
    const clattn_tensor *const to[GRADED_N] = { &g->args.dout, &g->args.dlse, &g->args.dq, &g->args.dk, &g->args.dv };
    g->most = 0;
    if (!graded_fetch(g, queue, why, len))
        return 0;
    for (int i = GRADED_DQ; i < GRADED_N; i++)
        if (to[i]->mem && !compare(g, i, why, len))
            return 0;
    for (int i = 0; i < GRADED_CELLS; i++)
        if (g->cells[i].count && !compare_cells(g, i, why, len))
            return 0;
    for (int i = 0; i < 5; i++)
        if (!image_unchanged(&g->t.image[i], queue)) {
            snprintf(why, len, "the forward call's buffer %d changed", i);
            return 0;
        }
    return 1;
}

cl_int graded_reset(struct graded *g, cl_command_queue queue)
{
    cl_int e = CL_SUCCESS;
    for (int i = GRADED_DQ; i < GRADED_N && !e; i++) {
        fill(g, i);
        e = g->image[i].mem ? image_write(&g->image[i], queue) : CL_SUCCESS;
    }
    for (int i = 0; i < GRADED_CELLS && !e; i++)
        if (g->cells[i].count) {
            image_canaries(&g->cells[i].at.image);
            e = image_write(&g->cells[i].at.image, queue);
        }
    return e;
}

int graded_is_blank(const struct graded *g, cl_command_queue queue)
{
    int blank = 1;
    for (int i = GRADED_DQ; i < GRADED_N; i++)
        blank = blank && (!g->image[i].mem || image_unchanged(&g->image[i], queue));
    for (int i = 0; i < GRADED_CELLS; i++)
        blank = blank && (!g->cells[i].count || image_unchanged(&g->cells[i].at.image, queue));
    return blank;
}

int graded_is_same(const struct graded *x, const struct graded *y)
{
    int same = 1;
    for (int i = GRADED_DQ; i < GRADED_N; i++)
        same = same && x->image[i].size == y->image[i].size &&
               !memcmp(x->image[i].byte, y->image[i].byte, x->image[i].size);
    for (int i = 0; i < GRADED_CELLS; i++)
        same = same && (!x->cells[i].count || !memcmp(x->cells[i].at.image.byte, y->cells[i].at.image.byte,
                                                      x->cells[i].at.image.size));
    return same;
}

void graded_free(struct graded *g)
{
    for (int i = 0; i < GRADED_N; i++) {
        image_free(&g->image[i]);
        free(g->x[i].value);
        free(g->want[i]);
        free(g->bound[i]);
    }
    for (int i = 0; i < GRADED_CELLS; i++) {
        image_free(&g->cells[i].at.image);
        free(g->cells[i].want);
        free(g->cells[i].bound);
        free(g->cells[i].got);
    }
    image_free(&g->workspace);
    trial_free(&g->t);
    memset(g, 0, sizeof *g);
}
