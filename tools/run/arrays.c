/* arrays.c - the files of clattn-run, checked against each other and turned into a case
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/arrays.h"

#include "tools/run/cache_files.h"
#include "tools/run/changes.h"
#include "tools/oracle/inputs.h"
#include "tools/run/tensor_file.h"
#include "tools/run/wholes.h"
#include "tools/run/score_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of one whole number per batch entry. most < 0: any value will do. */
static int read_ints(const char *argument, const char *path, const struct tensor_file *q, int64_t most, struct npy *a,
                     struct fault *f)
{
    char want[32];
    if (!path)
        return 0;
    if (wholes_read(argument, path, a, f) != 0)
        return -1;
    snprintf(want, sizeof want, "want [%lld]", (long long)q->b);
    if (a->ndim != 1 || a->shape[0] != q->b)
        return npy_misfit(a, &q->a, want, f);
    for (size_t i = 0; i < a->count && most >= 0; i++) {
        const int32_t x = ((const int32_t *)a->data)[i];
        if (x < 0 || x > most)
            return npy_fault(a, f, "value %ld at [%zu] is %s %lld", (long)x, i, most ? "outside 0 to" : "not",
                             (long long)most);
    }
    return 0;
}

/* Where the sequences of varlen tensors begin: *out gets the list, `x` its b and n. */
static int read_sequences(const char *argument, const char *path, struct tensor_file *x, int32_t **out, struct fault *f)
{
    struct npy a;
    int status = -1;
    if (!path)
        return 0;
    if (wholes_read(argument, path, &a, f) != 0)
        return -1;
    const int32_t *cu = a.data;
    const int64_t b = (int64_t)a.count - 1;
    if (a.ndim != 1 || b < 0)
        npy_fault(&a, f, "its shape is %s, want [b+1]", a.axes);
    else if (cu[0] != 0)
        npy_fault(&a, f, "it begins with %ld, not with 0", (long)cu[0]);
    else if (cu[b] != x->file_n)
        npy_fault(&a, f, "it ends with %ld, not with the rows of %s, %s, which is %s", (long)cu[b], x->argument,
                  x->path, x->a.axes);
    else
        status = 0;
    x->b = b;
    x->n = 0;
    for (int64_t i = 0; i < b && status == 0; i++) {
        const int64_t rows = (int64_t)cu[i + 1] - cu[i];
        x->n = rows > x->n ? rows : x->n;
        if (rows < 0)
            status = npy_fault(&a, f, "value %ld at [%lld] is less than the one before", (long)cu[i + 1],
                               (long long)i + 1);
    }
    if (status == 0) {
        *out = a.data;
        a.data = NULL;
    }
    npy_free(&a);
    return status;
}

/* Takes a list over into the case, as far as a case has room for it. */
static const int32_t *take_list(struct arrays *a, const struct npy *list, uint32_t flag, int32_t *room)
{
    if (!list->data)
        return NULL;
    a->c.problem.flags |= flag;
    if (list->count > CLATTN_LIST_MAX)
        a->long_lists = 1;
    else
        memcpy(room, list->data, list->count * sizeof *room);
    return list->data;
}

/* Offsets that are all the same are an offset; others have no word in the problem string. */
static void take_offsets(struct arrays *a)
{
    const int32_t *x = a->offsets.data;
    if (!x)
        return;
    for (size_t i = 0; i < a->offsets.count; i++)
        if (x[i] != x[0])
            a->mixed = 1;
    a->c.problem.align = CLATTN_ALIGN_OFFSETS;
    a->in.offsets = x;
}

static void make_case(const struct options *o, struct arrays *a, const struct tensor_file *q,
                      const struct tensor_file *k, const struct tensor_file *v)
{
    clattn_workload *c = &a->c;
    clattn_problem *p = &c->problem;
    c->struct_size = sizeof *c;
    c->bthd = o->bthd;
    c->lse = o->lse != NULL;
    *p = o->problem;
    p->struct_size = sizeof *p;
    p->type = o->type ? o->type : q->a.type == NPY_F2 ? CLATTN_F16 : CLATTN_F32;
    p->o_type = o->o_type ? o->o_type : o->dout && p->type != CLATTN_F64 ? CLATTN_F32 : p->type;
    p->d = (int32_t)q->width;
    p->dv = (int32_t)v->width;
    p->align = o->has_diagonal ? o->align : CLATTN_ALIGN_BOTTOM_RIGHT;
    p->sizes.b = q->b;
    p->sizes.h = q->h;
    p->sizes.hk = k->h;
    p->sizes.nq = q->n;
    p->sizes.nk = k->n;
    p->sizes.offset = p->align == CLATTN_ALIGN_OFFSET ? o->offset : 0;
    a->in.q_len = take_list(a, &a->q_len, CLATTN_Q_LEN, c->q_len);
    a->in.kv_len = take_list(a, &a->kv_len, CLATTN_KV_LEN, c->kv_len);
    a->in.kv_start = take_list(a, &a->kv_start, CLATTN_KV_START, c->kv_start);
    if (o->has_diagonal)
        take_offsets(a);
    if (q->packed) {
        p->flags |= CLATTN_CU_Q | CLATTN_CU_K;
        p->sizes.total_q = q->file_n;
        p->sizes.total_k = k->file_n;
    }
    a->q_form = q->form;
    a->k_form = k->form;
    a->v_form = v->form;
    a->in.shared = k->b == 1 && q->b != 1;
    a->in.x = &a->x;
    a->in.lse = o->lse || o->verify || o->dout || score_files_need_lse(o);
}

static int read_lengths(const struct options *o, struct arrays *a, const struct tensor_file *q,
                        const struct tensor_file *k, struct fault *f)
{
    return read_ints("--q-len", o->q_len, q, q->n, &a->q_len, f) != 0 ||
                   read_ints("--kv-len", o->kv_len, q, k->n, &a->kv_len, f) != 0 ||
                   read_ints("--kv-start", o->kv_start, q, k->n, &a->kv_start, f) != 0 ||
                   read_ints("--align", o->offsets, q, -1, &a->offsets, f) != 0
               ? -1
               : 0;
}

static int read_packing(const struct options *o, struct arrays *a, struct tensor_file *q, struct tensor_file *k,
                        struct fault *f)
{
    if (read_sequences("--cu-q", o->cu_q, q, &a->x.cu_q, f) != 0 ||
        read_sequences("--cu-k", o->cu_k, k, &a->x.cu_k, f) != 0)
        return -1;
    if (o->cu_q && q->b != k->b)
        return fault_set(f, EXIT_USAGE, "--cu-k: %s: its shape [%lld] does not fit [%lld] of --cu-q, %s", o->cu_k,
                         (long long)k->b + 1, (long long)q->b + 1, o->cu_q);
    return 0;
}

/* Q, in its storage type. */
static int take_queries(struct tensor_file *q, struct arrays *a, struct fault *f)
{
    const size_t count = q->a.count;
    a->q = tensor_file_values(q, f);
    if (!a->q)
        return -1;
    inputs_round(a->c.problem.type, a->q, count);
    a->in.q = a->q;
    return 0;
}

int arrays_read(const struct options *o, struct arrays *a, struct fault *f)
{
    const int packed = o->cu_q != NULL, paged = o->block_table != NULL;
    struct tensor_file q = { .argument = "Q", .path = o->q, .packed = packed, .bthd = o->bthd };
    struct tensor_file k = { .argument = "K", .path = o->k, .packed = packed, .paged = paged, .bthd = o->bthd };
    struct tensor_file v = { .argument = "V", .path = o->v, .packed = packed, .paged = paged, .bthd = o->bthd };
    int status = -1;
    memset(a, 0, sizeof *a);
    if (tensor_file_read(&q, f) != 0 || tensor_file_read(&k, f) != 0 || tensor_file_read(&v, f) != 0 ||
        tensor_file_fit(&q, &k, &v, f) != 0 || cache_files_table(o, &q, &k, &v, &a->caches.pages, f) != 0 ||
        read_packing(o, a, &q, &k, f) != 0 || read_lengths(o, a, &q, &k, f) != 0)
        goto out;
    make_case(o, a, &q, &k, &v);
    if (changes_read(o, &a->c, &a->x, f) != 0)
        goto out;
    struct counts n;
    if (inputs_count(&a->c, &n) != 0) {
        fault_set(f, EXIT_USAGE, "Q: %s: O would be too large", o->q);
        goto out;
    }
    if (take_queries(&q, a, f) != 0 || cache_files_read(o, &k, &v, &a->caches, &a->c.problem, &a->k, &a->v, f) != 0)
        goto out;
    a->in.k = a->k;
    a->in.v = a->v;
    a->in.caches = &a->caches;
    status = 0;
out:
    npy_free(&q.a);
    npy_free(&k.a);
    npy_free(&v.a);
    return status;
}

void arrays_free(struct arrays *a)
{
    free(a->q);
    free(a->k);
    free(a->v);
    npy_free(&a->q_len);
    npy_free(&a->kv_len);
    npy_free(&a->kv_start);
    npy_free(&a->offsets);
    extras_free(&a->x);
    stored_kv_free(&a->caches);
    memset(a, 0, sizeof *a);
}
