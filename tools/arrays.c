/* arrays.c - the files of clattn-run, checked against each other and turned into a case
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "arrays.h"

#include "changes.h"
#include "convert.h"
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

/* A file on the way in. Packed, it is one batch entry until read_sequences() finds b sequences in its total of rows, n
 * in the longest. */
struct input {
    const char *argument, *path;
    struct npy a;
    int64_t b, h, n, width, total;
    int packed;
};

void arrays_swap(const double *x, double *y, int64_t b, int64_t h, int64_t n, int64_t w)
{
    for (int64_t at = 0; at < b * h; at++)
        for (int64_t row = 0; row < n; row++, x += w)
            memcpy(y + (((at / h) * n + row) * h + at % h) * w, x, (size_t)w * sizeof *x);
}

/* The storage type that a float file stands for; 0 for others. */
static int storage(int npy_type)
{
    return npy_type == NPY_F4 ? CLATTN_F32 : npy_type == NPY_F2 ? CLATTN_F16 : npy_type == NPY_F8 ? CLATTN_F64 : 0;
}

static int read_tensor(struct input *x, int bthd, struct fault *f)
{
    const int first = x->packed ? 0 : 1; /* axis behind b */
    char shape[NPY_SHAPE_TEXT];
    if (npy_read(x->argument, x->path, &x->a, f) != 0)
        return -1;
    npy_shape(x->a.ndim, x->a.shape, shape);
    if (x->a.type == NPY_I1 && x->argument[0] != 'Q')
        return fault_set(f, EXIT_UNSUPPORTED,
                         "%s: %s: quantised keys and values (|i1) are not supported by this version", x->argument,
                         x->path);
    if (storage(x->a.type) == 0)
        return fault_set(f, EXIT_USAGE, "%s: %s: its type is %s, want <f4, <f2 or <f8", x->argument, x->path,
                         npy_name(x->a.type));
    if (x->a.ndim != first + 3)
        return fault_set(f, EXIT_USAGE, "%s: %s: its shape is %s, want %d axes, %s", x->argument, x->path, shape,
                         first + 3, x->packed ? "[total,h,d]" : bthd ? "[b,n,h,d]" : "[b,h,n,d]");
    x->b = x->packed ? 1 : x->a.shape[0];
    x->h = x->a.shape[first + (bthd ? 1 : 0)];
    x->n = x->total = x->a.shape[first + (bthd ? 0 : 1)];
    x->width = x->a.shape[first + 2];
    if (x->width < 1 || x->width > INT32_MAX || x->h < 1)
        return fault_set(f, EXIT_USAGE,
                         "%s: %s: its shape %s has a width or a number of heads of 0, or too large a one", x->argument,
                         x->path, shape);
    return 0;
}

/* "K.npy: k.npy: its shape [..] does not fit Q.npy: q.npy, [..]: why" */
static int misfit(const struct input *x, const struct input *y, const char *why, struct fault *f)
{
    char of_x[NPY_SHAPE_TEXT], of_y[NPY_SHAPE_TEXT];
    npy_shape(x->a.ndim, x->a.shape, of_x);
    npy_shape(y->a.ndim, y->a.shape, of_y);
    return fault_set(f, EXIT_USAGE, "%s: %s: its shape %s does not fit %s of %s, %s: %s", x->argument, x->path, of_x,
                     of_y, y->argument, y->path, why);
}

static int check_shapes(const struct input *q, const struct input *k, const struct input *v, struct fault *f)
{
    if (k->b != q->b && k->b != 1)
        return misfit(k, q, "the batch axes differ", f);
    if (q->h % k->h != 0)
        return misfit(k, q, "the query heads are no multiple of the key heads", f);
    if (k->width != q->width)
        return misfit(k, q, "the widths differ", f);
    if (v->b != k->b)
        return misfit(v, k, "the batch axes differ", f);
    if (v->h != k->h)
        return misfit(v, k, "the numbers of heads differ", f);
    if (v->n != k->n)
        return misfit(v, k, "the numbers of rows differ", f);
    return 0;
}

/* The file as doubles in [b,h,n,width] order, rounded to storage type `type`. */
static int load(struct input *x, int bthd, int type, double **out, struct fault *f)
{
    const size_t count = x->a.count, bytes = (count ? count : 1) * sizeof **out;
    *out = malloc(bytes);
    if (!*out)
        return fault_set(f, EXIT_USAGE, "%s: %s: there is no memory for it", x->argument, x->path);
    convert_load(storage(x->a.type), x->a.data, *out, count);
    npy_free(&x->a);
    if (bthd && count) {
        double *swapped = malloc(bytes);
        if (!swapped)
            return fault_set(f, EXIT_USAGE, "%s: %s: there is no memory for it", x->argument, x->path);
        arrays_swap(*out, swapped, x->packed ? 1 : x->b, x->total, x->h, x->width);
        free(*out);
        *out = swapped;
    }
    inputs_round(type, *out, count);
    return 0;
}

/* A file of one int32 per batch entry. most < 0: any value will do. */
static int read_ints(const char *argument, const char *path, const struct input *q, int64_t most, struct npy *a,
                     struct fault *f)
{
    char shape[NPY_SHAPE_TEXT], of_q[NPY_SHAPE_TEXT];
    if (!path)
        return 0;
    if (npy_read(argument, path, a, f) != 0)
        return -1;
    npy_shape(a->ndim, a->shape, shape);
    npy_shape(q->a.ndim, q->a.shape, of_q);
    if (a->type != NPY_I4)
        return fault_set(f, EXIT_USAGE, "%s: %s: its type is %s, want <i4", argument, path, npy_name(a->type));
    if (a->ndim != 1 || a->shape[0] != q->b)
        return fault_set(f, EXIT_USAGE, "%s: %s: its shape %s does not fit %s of %s, %s: want [%lld]", argument, path,
                         shape, of_q, q->argument, q->path, (long long)q->b);
    for (size_t i = 0; i < a->count && most >= 0; i++) {
        const int32_t x = ((const int32_t *)a->data)[i];
        if (x < 0 || x > most)
            return fault_set(f, EXIT_USAGE, "%s: %s: value %ld at [%zu] is outside 0 to %lld", argument, path, (long)x,
                             i, (long long)most);
    }
    return 0;
}

/* Where the sequences of varlen tensors begin: *out gets the list, `x` its b and n. */
static int read_sequences(const char *argument, const char *path, struct input *x, int32_t **out, struct fault *f)
{
    char shape[NPY_SHAPE_TEXT], of_x[NPY_SHAPE_TEXT];
    struct npy a;
    int status = -1;
    if (!path)
        return 0;
    if (npy_read(argument, path, &a, f) != 0)
        return -1;
    const int32_t *cu = a.data;
    const int64_t b = (int64_t)a.count - 1;
    npy_shape(a.ndim, a.shape, shape);
    npy_shape(x->a.ndim, x->a.shape, of_x);
    if (a.type != NPY_I4)
        fault_set(f, EXIT_USAGE, "%s: %s: its type is %s, want <i4", argument, path, npy_name(a.type));
    else if (a.ndim != 1 || b < 0)
        fault_set(f, EXIT_USAGE, "%s: %s: its shape is %s, want [b+1]", argument, path, shape);
    else if (cu[0] != 0)
        fault_set(f, EXIT_USAGE, "%s: %s: it begins with %ld, not with 0", argument, path, (long)cu[0]);
    else if (cu[b] != x->total)
        fault_set(f, EXIT_USAGE, "%s: %s: it ends with %ld, not with the rows of %s, %s, which is %s", argument, path,
                  (long)cu[b], x->argument, x->path, of_x);
    else
        status = 0;
    x->b = b;
    x->n = 0;
    for (int64_t i = 0; i < b && status == 0; i++) {
        const int64_t rows = (int64_t)cu[i + 1] - cu[i];
        x->n = rows > x->n ? rows : x->n;
        if (rows < 0)
            status = fault_set(f, EXIT_USAGE, "%s: %s: value %ld at [%lld] is less than the one before", argument, path,
                               (long)cu[i + 1], (long long)i + 1);
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

static void make_case(const struct options *o, struct arrays *a, const struct input *q, const struct input *k,
                      const struct input *v)
{
    clattn_workload *c = &a->c;
    clattn_problem *p = &c->problem;
    c->struct_size = sizeof *c;
    c->bthd = o->bthd;
    c->lse = o->lse != NULL;
    *p = o->problem;
    p->struct_size = sizeof *p;
    p->type = p->k_type = p->v_type = o->type ? o->type : q->a.type == NPY_F2 ? CLATTN_F16 : CLATTN_F32;
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
        p->sizes.total_q = q->total;
        p->sizes.total_k = k->total;
    }
    a->in.shared = k->b == 1 && q->b != 1;
    a->in.x = &a->x;
    a->in.lse = o->lse || o->verify;
}

static int read_lengths(const struct options *o, struct arrays *a, const struct input *q, const struct input *k,
                        struct fault *f)
{
    return read_ints("--q-len", o->q_len, q, q->n, &a->q_len, f) != 0 ||
                   read_ints("--kv-len", o->kv_len, q, k->n, &a->kv_len, f) != 0 ||
                   read_ints("--kv-start", o->kv_start, q, k->n, &a->kv_start, f) != 0 ||
                   read_ints("--align", o->offsets, q, -1, &a->offsets, f) != 0
               ? -1
               : 0;
}

static int read_packing(const struct options *o, struct arrays *a, struct input *q, struct input *k, struct fault *f)
{
    if (read_sequences("--cu-q", o->cu_q, q, &a->x.cu_q, f) != 0 ||
        read_sequences("--cu-k", o->cu_k, k, &a->x.cu_k, f) != 0)
        return -1;
    if (o->cu_q && q->b != k->b)
        return fault_set(f, EXIT_USAGE, "--cu-k: %s: its shape [%lld] does not fit [%lld] of --cu-q, %s", o->cu_k,
                         (long long)k->b + 1, (long long)q->b + 1, o->cu_q);
    return 0;
}

int arrays_read(const struct options *o, struct arrays *a, struct fault *f)
{
    const int packed = o->cu_q != NULL, bthd = o->bthd || packed;
    struct input q = { "Q", o->q, { 0 }, 0, 0, 0, 0, 0, packed }, k = { "K", o->k, { 0 }, 0, 0, 0, 0, 0, packed };
    struct input v = { "V", o->v, { 0 }, 0, 0, 0, 0, 0, packed };
    int status = -1;
    memset(a, 0, sizeof *a);
    if (read_tensor(&q, bthd, f) != 0 || read_tensor(&k, bthd, f) != 0 || read_tensor(&v, bthd, f) != 0 ||
        check_shapes(&q, &k, &v, f) != 0 || read_packing(o, a, &q, &k, f) != 0 || read_lengths(o, a, &q, &k, f) != 0)
        goto out;
    make_case(o, a, &q, &k, &v);
    if (changes_read(o, &a->c, &a->x, f) != 0)
        goto out;
    struct counts n;
    if (inputs_count(&a->c, &n) != 0) {
        fault_set(f, EXIT_USAGE, "Q: %s: O would be too large", o->q);
        goto out;
    }
    const int type = a->c.problem.type;
    if (load(&q, bthd, type, &a->q, f) != 0 || load(&k, bthd, type, &a->k, f) != 0 ||
        load(&v, bthd, type, &a->v, f) != 0)
        goto out;
    a->in.q = a->q;
    a->in.k = a->k;
    a->in.v = a->v;
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
    memset(a, 0, sizeof *a);
}
