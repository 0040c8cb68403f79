/* cache_files.c - K and V of clattn-run as their files and options have them: quantised, in pages
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/cache_files.h"

#include "tools/run/floats.h"
#include "tools/oracle/inputs.h"
#include "tools/oracle/quantise.h"
#include "tools/run/wholes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of K and V: its file, and what the options say of it. */
struct source {
    struct tensor_file *file;
    const char *scale, *zero, *scale_option, *zero_option, *type_option;
    int type; /* of type_option; 0: not given */
};

/* ---- Pages ---- */

int cache_files_table(const struct options *o, const struct tensor_file *q, struct tensor_file *k,
                      struct tensor_file *v, struct pages *p, struct fault *f)
{
    char want[48];
    struct npy a;
    int status = 0;
    if (!o->block_table)
        return 0;
    if (wholes_read("--block-table", o->block_table, &a, f) != 0)
        return -1;
    snprintf(want, sizeof want, "want [%lld,max_pages]", (long long)q->b);
    if (a.ndim != 2 || a.shape[0] != q->b)
        status = npy_misfit(&a, &q->a, want, f);
    else if (a.shape[1] > INT32_MAX / k->file_n)
        status = npy_fault(&a, f, "its shape %s is too large for pages of %lld rows", a.axes, (long long)k->file_n);
    if (status == 0) {
        p->b = q->b;
        p->page = k->file_n;
        p->slots = a.shape[1];
        p->n = k->file_b;
        p->table = a.data;
        a.data = NULL;
        k->b = v->b = q->b;
        k->n = v->n = p->slots * p->page;
    }
    npy_free(&a);
    return status;
}

/* ---- Scales and zero points ---- */

/* The axes of a file, in the order of [b,h,n,groups], each of which is that of K or V, or 1. */
static int scale_shape(const struct source *x, const struct npy *a, int64_t shape[4], struct fault *f)
{
    const struct tensor_file *const t = x->file;
    const int64_t axes[4] = { t->file_b, t->h, t->file_n, t->width };
    int fits = a->ndim == t->a.ndim;
    if (fits) {
        tensor_file_axes(t->form, a->shape, shape);
        for (int axis = 0; axis < 3; axis++)
            fits = fits && (shape[axis] == 1 || shape[axis] == axes[axis]);
        fits = fits && shape[3] >= 1 && t->width % shape[3] == 0;
    }
    return fits ? 0 : npy_misfit(a, &t->a, "want axes of 1 or of that size, and a last one that divides it", f);
}

/* Reads scales or zero points: *out gets [shape]. */
static int read_scales(const struct source *x, const char *argument, const char *path, double **out, int64_t shape[4],
                       struct fault *f)
{
    struct npy a;
    if (floats_read(argument, path, &a, f) != 0)
        return -1;
    int status = scale_shape(x, &a, shape, f);
    if (status == 0) {
        const size_t size = (size_t)shape[3] * sizeof **out;
        double *const values = floats_values(&a, CLATTN_F32, f);
        *out = malloc((a.count ? a.count : 1) * sizeof **out);
        if (values && *out) {
            if (tensor_file_rows_first(x->file->form))
                tensor_file_swap(values, *out, shape[0], shape[2], shape[1], size);
            else
                memcpy(*out, values, a.count * sizeof *values);
        } else {
            status = npy_no_memory(&a, f);
        }
        free(values);
    }
    npy_free(&a);
    return status;
}

/* The scales of a file of |i1, its zero points, and how many elements share one. */
static int read_all_scales(const struct source *x, struct stored *s, struct fault *f)
{
    const struct tensor_file *const t = x->file;
    static const int64_t none[4] = { 1, 1, 1, 1 };
    memcpy(s->zero_shape, none, sizeof none);
    if (!x->scale)
        return npy_fault(&t->a, f, "its type is |i1, which needs %s as well", x->scale_option);
    if (read_scales(x, x->scale_option, x->scale, &s->scale, s->scale_shape, f) != 0 ||
        (x->zero && read_scales(x, x->zero_option, x->zero, &s->zero, s->zero_shape, f) != 0))
        return -1;
    const int64_t of_scale = s->scale_shape[3], of_zero = s->zero_shape[3];
    if (of_scale != 1 && of_zero != 1 && of_scale != of_zero)
        return fault_set(f, EXIT_USAGE, "%s: %s: it has %lld groups, where %s, %s, has %lld", x->zero_option, x->zero,
                         (long long)of_zero, x->scale_option, x->scale, (long long)of_scale);
    s->group = s->width / (of_scale != 1 ? of_scale : of_zero);
    return 0;
}

/* ---- Elements ---- */

/* Bytes -8 to 7 into half a byte each. */
static int pack(const struct source *x, unsigned char *bytes, int64_t width, size_t count, struct fault *f)
{
    const struct tensor_file *const t = x->file;
    if (width % 2 != 0)
        return npy_fault(&t->a, f, "its width %lld is odd, where int4 has two elements in a byte", (long long)width);
    for (size_t i = 0; i < count; i++) {
        const int element = bytes[i] < 128 ? bytes[i] : bytes[i] - 256;
        if (element < -8 || element > 7)
            return npy_fault(&t->a, f, "it has an element of %d, and int4 has -8 to 7", element);
        if (i % 2 == 0)
            bytes[i / 2] = (unsigned char)(element & 15);
        else
            bytes[i / 2] = (unsigned char)(bytes[i / 2] | (element & 15) << 4);
    }
    return 0;
}

static int take_bytes(const struct source *x, struct stored *s, struct fault *f)
{
    struct tensor_file *const t = x->file;
    const size_t count = t->a.count;
    s->type = x->type ? x->type : CLATTN_INT8;
    if (!quantise_is_scaled(s->type))
        return fault_set(f, EXIT_USAGE, "%s: the elements of %s, %s, are |i1: want int8 or int4", x->type_option,
                         t->argument, t->path);
    if (read_all_scales(x, s, f) != 0)
        return -1;
    s->bytes = tensor_file_bytes(t, f);
    if (!s->bytes)
        return -1;
    return s->type == CLATTN_INT4 ? pack(x, s->bytes, s->width, count, f) : 0;
}

/* Floats, rounded to `type` or quantised. */
static int take_floats(const struct source *x, struct stored *s, int type, struct fault *f)
{
    struct tensor_file *const t = x->file;
    const size_t count = t->a.count;
    if (x->scale)
        return fault_set(f, EXIT_USAGE, "%s: %s: its elements are those of %s, %s, whose type is %s and not |i1",
                         x->scale_option, x->scale, t->argument, t->path, t->a.name);
    s->type = x->type ? x->type : type;
    if (s->width % quantise_block(s->type) != 0)
        return fault_set(f, EXIT_USAGE, "%s: the width of %s, %s, is %lld, and no multiple of %lld", x->type_option,
                         t->argument, t->path, (long long)s->width, (long long)quantise_block(s->type));
    s->value = tensor_file_values(t, f);
    if (!s->value)
        return -1;
    inputs_round(quantise_is(s->type) ? CLATTN_F32 : s->type, s->value, count);
    if (!quantise_is(s->type))
        return 0;
    s->group = s->width;
    double *const values = s->value;
    s->value = NULL;
    const int status = stored_quantise(s, 0, values) == 0 ? 0 : npy_no_memory(&t->a, f);
    free(values);
    return status;
}

/* What a call computes with, [b,h,n,width]. */
static double *values_of(const struct tensor_file *t, const struct stored *s, const struct pages *p)
{
    const size_t rows = (size_t)s->h * (size_t)s->width, row = sizeof(double);
    const size_t in_file = (size_t)(s->b * s->n) * rows, in_call = (size_t)(t->b * t->n) * rows;
    double *x = malloc((in_file ? in_file : 1) * row), *gathered;
    if (x)
        stored_values(s, x);
    if (!x || !p->table)
        return x;
    gathered = malloc((in_call ? in_call : 1) * row);
    if (gathered)
        pages_gather(p, s->h, t->n, s->width, x, gathered);
    free(x);
    return gathered;
}

static int read_one(const struct source *x, struct stored *s, const struct pages *p, int type, double **values,
                    struct fault *f)
{
    const struct tensor_file *const t = x->file;
    s->b = t->file_b;
    s->h = t->h;
    s->n = t->file_n;
    s->width = t->width;
    if ((t->a.type == NPY_I1 ? take_bytes(x, s, f) : take_floats(x, s, type, f)) != 0)
        return -1;
    *values = values_of(t, s, p);
    return *values ? 0 : npy_no_memory(&t->a, f);
}

int cache_files_read(const struct options *o, struct tensor_file *k, struct tensor_file *v, struct stored_kv *c,
                     clattn_problem *p, double **k_values, double **v_values, struct fault *f)
{
    const struct source of_k = { k, o->k_scale, o->k_zero, "--k-scale", "--k-zero", "--k-type", o->k_type };
    const struct source of_v = { v, o->v_scale, o->v_zero, "--v-scale", "--v-zero", "--v-type", o->v_type };
    if (read_one(&of_k, &c->k, &c->pages, p->type, k_values, f) != 0 ||
        read_one(&of_v, &c->v, &c->pages, p->type, v_values, f) != 0)
        return -1;
    p->k_type = c->k.type;
    p->v_type = c->v.type;
    p->k_group = quantise_is_scaled(p->k_type) ? (int32_t)c->k.group : 0;
    p->v_group = quantise_is_scaled(p->v_type) ? (int32_t)c->v.group : 0;
    p->flags |= (uint32_t)((c->k.zero ? CLATTN_K_ZERO : 0) | (c->v.zero ? CLATTN_V_ZERO : 0));
    p->page = (int32_t)c->pages.page;
    return 0;
}
