/* merging.c - clattn-run --merge: partial results in files, merged on a device
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/merging.h"

#include "tools/oracle/convert.h"
#include "tools/run/floats.h"
#include "tools/npy/npy.h"
#include "tools/oracle/reference.h"
#include "tools/run/setup.h"
#include "tools/run/tensor_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What partial results are stored in. */
static int parts_type(const struct merging *m)
{
    return m->type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32;
}

/* ---- Files ---- */

/* O_PARTS is [S,...,dv] and LSE_PARTS [S,...]. */
static int take_shapes(struct merging *m, const struct npy *of_o, const struct npy *of_lse, struct fault *f)
{
    if (of_o->ndim < 2)
        return npy_fault(of_o, f, "its shape is %s, want [S,...,dv]", of_o->axes);
    int fits = of_lse->ndim == of_o->ndim - 1;
    for (int i = 0; i < of_lse->ndim && fits; i++)
        fits = of_lse->shape[i] == of_o->shape[i];
    if (!fits)
        return npy_misfit(of_lse, of_o, "want the axes but the last", f);
    m->parts = of_o->shape[0];
    m->ndim = of_o->ndim - 1;
    m->rows = 1;
    for (int i = 0; i < m->ndim; i++) {
        m->shape[i] = of_o->shape[i + 1];
        m->rows *= i + 1 < m->ndim ? m->shape[i] : 1; /* npy_read() has seen that no product overflows */
    }
    const int64_t width = m->shape[m->ndim - 1], most = INT64_C(1) << 30;
    if (width < 1 || width > INT32_MAX || m->rows > most || m->parts > most)
        return npy_fault(of_o, f, "its shape %s has a width of 0, or too large an axis", of_o->axes);
    m->width = (int)width;
    return 0;
}

int merging_read(const struct options *o, struct merging *m, struct fault *f)
{
    struct npy of_o = { 0 }, of_lse = { 0 };
    int status = -1;
    memset(m, 0, sizeof *m);
    if (floats_read("O_PARTS", o->o_parts, &of_o, f) != 0 || floats_read("LSE_PARTS", o->lse_parts, &of_lse, f) != 0 ||
        take_shapes(m, &of_o, &of_lse, f) != 0)
        goto out;
    m->type = o->type ? o->type : CLATTN_F32;
    m->o_parts = floats_values(&of_o, parts_type(m), f);
    m->lse_parts = floats_values(&of_lse, CLATTN_F32, f);
    m->o = malloc((size_t)(m->rows * m->width + 1) * sizeof *m->o);
    m->lse = malloc((size_t)(m->rows + 1) * sizeof *m->lse);
    if (m->o_parts && m->lse_parts && m->o && m->lse)
        status = 0;
    else
        npy_no_memory(&of_o, f);
out:
    npy_free(&of_o);
    npy_free(&of_lse);
    return status;
}

/* ---- The device ---- */

clattn_problem merging_problem(const struct merging *m)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.type = m->type;
    p.d = p.dv = m->width;
    p.sizes.b = p.sizes.h = p.sizes.hk = 1;
    p.sizes.nq = m->rows;
    return p;
}

cl_int merging_open(struct merging *m, const struct opencl *where)
{
    const size_t parts = (size_t)m->parts, rows = (size_t)m->rows, values = rows * (size_t)m->width;
    cl_int e;
    m->queue = clCreateCommandQueue(where->context, where->device, 0, &e);
    if (e != CL_SUCCESS) {
        m->queue = NULL;
        return e;
    }
    e = setup_numbers(where->context, &m->mem[0], parts_type(m), m->o_parts, parts * values);
    if (e == CL_SUCCESS)
        e = setup_numbers(where->context, &m->mem[1], CLATTN_F32, m->lse_parts, parts * rows);
    if (e == CL_SUCCESS)
        e = setup_numbers(where->context, &m->mem[2], m->type, NULL, values);
    if (e == CL_SUCCESS)
        e = setup_numbers(where->context, &m->mem[3], CLATTN_F32, NULL, rows);
    return e;
}

cl_int merging_run(struct merging *m, clattn_plan plan)
{
    clattn_merge_args a = CLATTN_MERGE_ARGS_INIT;
    clattn_sizes z = merging_problem(m).sizes;
    a.sizes = &z;
    a.parts = m->parts;
    a.o_parts.mem = m->mem[0];
    a.lse_parts.mem = m->mem[1];
    a.o.mem = m->mem[2];
    a.lse.mem = m->mem[3];
    const cl_int e = clattn_enqueue_merge(plan, m->queue, &a, 0, NULL, NULL);
    return e != CL_SUCCESS ? e : clFinish(m->queue);
}

cl_int merging_fetch(struct merging *m)
{
    const size_t rows = (size_t)m->rows;
    const cl_int e = setup_numbers_back(m->queue, m->mem[2], m->type, m->o, rows * (size_t)m->width);
    return e != CL_SUCCESS ? e : setup_numbers_back(m->queue, m->mem[3], CLATTN_F32, m->lse, rows);
}

/* ---- float64 ---- */

/* Parts as the keys of a row, which is a batch entry of one query, 1, that a part without keys is masked for. */
struct keys {
    double *ones, *k, *v, *o, *lse, *o_bound, *lse_bound;
    unsigned char *mask;
};

static int fill_keys(const struct merging *m, struct keys *x)
{
    const size_t rows = (size_t)m->rows + 1, cells = (size_t)(m->rows * m->parts) + 1, width = (size_t)m->width;
    x->ones = malloc(rows * sizeof *x->ones);
    x->k = malloc(cells * sizeof *x->k);
    x->v = malloc(cells * width * sizeof *x->v);
    x->mask = malloc(cells);
    x->o = malloc(rows * width * sizeof *x->o);
    x->lse = malloc(rows * sizeof *x->lse);
    x->o_bound = malloc(rows * width * sizeof *x->o_bound);
    x->lse_bound = malloc(rows * sizeof *x->lse_bound);
    if (!x->ones || !x->k || !x->v || !x->mask || !x->o || !x->lse || !x->o_bound || !x->lse_bound)
        return -1;
    for (int64_t row = 0; row < m->rows; row++) {
        x->ones[row] = 1;
        for (int64_t part = 0; part < m->parts; part++) {
            const int64_t from = part * m->rows + row, to = row * m->parts + part;
            x->k[to] = m->lse_parts[from];
            x->mask[to] = m->lse_parts[from] != -(double)INFINITY;
            memcpy(x->v + (size_t)to * width, m->o_parts + (size_t)from * width, width * sizeof *x->v);
        }
    }
    return 0;
}

int merging_verify(const struct merging *m, struct verdict *out)
{
    struct keys x = { 0 };
    struct reference r;
    memset(&r, 0, sizeof r);
    memset(out, 0, sizeof *out);
    r.type = m->type;
    r.b = m->rows;
    r.h = r.hk = r.nq = r.d = 1;
    r.nk = m->parts;
    r.dv = m->width;
    r.scale = 1;
    r.mask_shape[0] = m->rows;
    r.mask_shape[1] = r.mask_shape[2] = 1;
    r.mask_shape[3] = m->parts;
    int status = fill_keys(m, &x);
    r.mask = x.mask;
    if (status == 0)
        status = reference_forward(&r, x.ones, x.k, x.v, x.o, x.lse, x.o_bound, x.lse_bound, NULL);
    for (int64_t row = 0; row < m->rows && status == 0; row++) {
        farthest_consider(&out->lse, m->lse[row], x.lse[row], x.lse_bound[row]);
        for (int64_t i = row * m->width; i < (row + 1) * m->width; i++)
            farthest_consider(&out->o, m->o[i], x.o[i], x.o_bound[i]);
    }
    out->good = farthest_part(&out->o) <= 1 && farthest_part(&out->lse) <= 1;
    free(x.ones);
    free(x.k);
    free(x.v);
    free(x.mask);
    free(x.o);
    free(x.lse);
    free(x.o_bound);
    free(x.lse_bound);
    return status;
}

void merging_free(struct merging *m)
{
    if (m->queue) {
        (void)clFinish(m->queue);
        (void)clReleaseCommandQueue(m->queue);
    }
    setup_release(m->mem, sizeof m->mem / sizeof *m->mem);
    free(m->o_parts);
    free(m->lse_parts);
    free(m->o);
    free(m->lse);
    memset(m, 0, sizeof *m);
}
