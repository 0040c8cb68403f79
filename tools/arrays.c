/* arrays.c - the files of clattn-run, checked against each other and turned into a case
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "arrays.h"

#include "convert.h"
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

/* A file on the way in. */
struct input {
    const char *argument, *path;
    struct npy a;
    int64_t b, h, n, width;
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
    if (x->a.ndim != 4)
        return fault_set(f, EXIT_USAGE, "%s: %s: its shape is %s, want 4 axes, %s", x->argument, x->path, shape,
                         bthd ? "[b,n,h,d]" : "[b,h,n,d]");
    x->b = x->a.shape[0];
    x->h = x->a.shape[bthd ? 2 : 1];
    x->n = x->a.shape[bthd ? 1 : 2];
    x->width = x->a.shape[3];
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
        arrays_swap(*out, swapped, x->b, x->n, x->h, x->width);
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
    npy_shape(4, q->a.shape, of_q);
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
    clattn_case *c = &a->c;
    clattn_problem *p = &c->problem;
    c->struct_size = sizeof *c;
    c->bthd = o->bthd;
    c->lse = o->lse != NULL;
    p->struct_size = sizeof *p;
    p->type = p->k_type = p->v_type = o->type ? o->type : q->a.type == NPY_F2 ? CLATTN_F16 : CLATTN_F32;
    p->d = (int32_t)q->width;
    p->dv = (int32_t)v->width;
    p->causal = o->causal;
    p->align = o->causal ? o->align : CLATTN_ALIGN_BOTTOM_RIGHT;
    p->flags = o->has_scale ? CLATTN_SCALE : 0;
    p->scale = o->scale;
    p->sizes.b = q->b;
    p->sizes.h = q->h;
    p->sizes.hk = k->h;
    p->sizes.nq = q->n;
    p->sizes.nk = k->n;
    p->sizes.offset = p->align == CLATTN_ALIGN_OFFSET ? o->offset : 0;
    a->in.q_len = take_list(a, &a->q_len, CLATTN_Q_LEN, c->q_len);
    a->in.kv_len = take_list(a, &a->kv_len, CLATTN_KV_LEN, c->kv_len);
    a->in.kv_start = take_list(a, &a->kv_start, CLATTN_KV_START, c->kv_start);
    if (o->causal)
        take_offsets(a);
    a->in.shared = k->b == 1 && q->b != 1;
    a->in.lse = o->lse || o->verify;
}

int arrays_read(const struct options *o, struct arrays *a, struct fault *f)
{
    struct input q = { "Q", o->q, { 0 }, 0, 0, 0, 0 }, k = { "K", o->k, { 0 }, 0, 0, 0, 0 };
    struct input v = { "V", o->v, { 0 }, 0, 0, 0, 0 };
    int status = -1;
    memset(a, 0, sizeof *a);
    if (read_tensor(&q, o->bthd, f) != 0 || read_tensor(&k, o->bthd, f) != 0 || read_tensor(&v, o->bthd, f) != 0 ||
        check_shapes(&q, &k, &v, f) != 0 || read_ints("--q-len", o->q_len, &q, q.n, &a->q_len, f) != 0 ||
        read_ints("--kv-len", o->kv_len, &q, k.n, &a->kv_len, f) != 0 ||
        read_ints("--kv-start", o->kv_start, &q, k.n, &a->kv_start, f) != 0 ||
        read_ints("--align", o->offsets, &q, -1, &a->offsets, f) != 0)
        goto out;
    make_case(o, a, &q, &k, &v);
    struct counts n;
    if (inputs_count(&a->c, &n) != 0) {
        fault_set(f, EXIT_USAGE, "Q: %s: O would be too large", o->q);
        goto out;
    }
    const int type = a->c.problem.type;
    if (load(&q, o->bthd, type, &a->q, f) != 0 || load(&k, o->bthd, type, &a->k, f) != 0 ||
        load(&v, o->bthd, type, &a->v, f) != 0)
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
    memset(a, 0, sizeof *a);
}
