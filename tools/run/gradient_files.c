/* gradient_files.c - what clattn-run reads for gradients, and room for them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/gradient_files.h"

#include "tools/run/floats.h"
#include "tools/oracle/inputs.h"
#include "tools/run/tensor_file.h"

#include <stdlib.h>
#include <string.h>

static int check_shape(const struct npy *a, int ndim, const int64_t *want, struct fault *f)
{
    char wanted[NPY_SHAPE_TEXT];
    npy_shape(ndim, want, wanted);
    return strcmp(a->axes, wanted) == 0 ? 0 : npy_fault(a, f, "its shape is %s, want %s", a->axes, wanted);
}

static int read_dout(const struct options *o, const struct arrays *a, struct gradient_files *g, struct fault *f)
{
    const clattn_problem p = inputs_defaults(&a->c.problem);
    struct tensor_file x = { .argument = "--dout", .path = o->dout, .packed = o->cu_q != NULL, .bthd = o->bthd };
    const clattn_sizes *const z = &p.sizes;
    const int64_t of_o[4] = { z->b, z->h, o->cu_q ? z->total_q : z->nq, p.dv };
    int64_t want[4];
    const int ndim = tensor_file_shape(a->q_form, of_o, want);
    int status = tensor_file_read(&x, f);
    if (status == 0)
        status = check_shape(&x.a, ndim, want, f);
    if (status == 0) {
        const size_t count = x.a.count;
        g->at.dout = tensor_file_values(&x, f);
        if (g->at.dout)
            inputs_round(p.type, g->at.dout, count);
        status = g->at.dout ? 0 : -1;
    }
    npy_free(&x.a);
    return status;
}

static int read_dlse(const struct options *o, const struct arrays *a, struct gradient_files *g, struct fault *f)
{
    const clattn_sizes *const z = &a->c.problem.sizes;
    const int64_t of_lse[4] = { z->b, z->h, o->cu_q ? z->total_q : z->nq, 1 };
    int64_t want[4];
    const int ndim = tensor_file_shape(tensor_file_form_of_lse(a->q_form), of_lse, want);
    struct npy x;
    if (!o->dlse)
        return 0;
    if (floats_read("--dlse", o->dlse, &x, f) != 0)
        return -1;
    if (check_shape(&x, ndim, want, f) == 0)
        g->at.dlse = floats_values(&x, CLATTN_F32, f);
    npy_free(&x);
    return g->at.dlse ? 0 : -1;
}

/* Room for a gradient of n elements, where its file is named. */
static int make_room(const char *path, size_t n, double **to, struct fault *f)
{
    if (path && !(*to = malloc((n ? n : 1) * sizeof **to)))
        return fault_set(f, EXIT_UNSUPPORTED, "there is no memory for the outputs");
    return 0;
}

/* "NAME=D.npy": room for the gradient of the buffer of that name. */
static int make_daux(const char *value, const struct extras *x, struct gradient_files *g, struct fault *f)
{
    const char *const argument = "--daux", *const equals = strchr(value, '=');
    const size_t n = equals ? (size_t)(equals - value) : 0;
    size_t i = 0;
    if (n == 0)
        return fault_set(f, EXIT_USAGE, "%s: %s is not NAME=D.npy", argument, value);
    while (i < x->n_aux && (strncmp(x->aux[i].name, value, n) != 0 || x->aux[i].name[n]))
        i++;
    if (i == x->n_aux)
        return fault_set(f, EXIT_USAGE, "%s: %s: there is no --aux of that name", argument, value);
    if (x->aux[i].type != CLATTN_F32)
        return fault_set(f, EXIT_USAGE, "%s: %s: only a buffer of <f4 has a gradient", argument, value);
    if (g->at.daux[i])
        return fault_set(f, EXIT_USAGE, "%s: %s: it is written already", argument, value);
    g->daux_path[i] = equals + 1;
    return make_room(equals + 1, x->aux[i].count, &g->at.daux[i], f);
}

int gradient_files_read(const struct options *o, const struct arrays *a, struct gradient_files *g, struct fault *f)
{
    struct counts n;
    memset(g, 0, sizeof *g);
    if (!o->dout)
        return 0;
    if (inputs_count(&a->c, &n) != 0)
        return fault_set(f, EXIT_USAGE, "the outputs would be too large");
    const struct extras *const x = &a->x;
    const int64_t *const cells = x->bias_shape;
    const size_t h = (size_t)a->c.problem.sizes.h;
    const struct {
        const char *argument, *path, *needs;
        int has;
        size_t n;
        double **to;
    } others[] = {
        { "--dbias", o->dbias, "--bias", x->bias != NULL,
          (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2] * (size_t)cells[3], &g->at.dbias },
        { "--dslopes", o->dslopes, "--alibi or --bias-slopes", x->slopes != NULL, (size_t)x->slopes_b * h,
          &g->at.dslopes },
        { "--dsinks", o->dsinks, "--sinks", x->sinks != NULL, h, &g->at.dsinks },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].path && !others[i].has)
            return fault_set(f, EXIT_USAGE, "%s: %s needs %s as well", others[i].argument, others[i].path,
                             others[i].needs);
        if (make_room(others[i].path, others[i].n, others[i].to, f) != 0)
            return -1;
    }
    for (int i = 0; i < o->daux.n; i++)
        if (make_daux(o->daux.at[i], x, g, f) != 0)
            return -1;
    return read_dout(o, a, g, f) != 0 || read_dlse(o, a, g, f) != 0 || make_room(o->dq, n.q, &g->at.dq, f) != 0 ||
                   make_room(o->dk, n.k, &g->at.dk, f) != 0 || make_room(o->dv, n.v, &g->at.dv, f) != 0
               ? -1
               : 0;
}

void gradient_files_free(struct gradient_files *g)
{
    const struct gradient_arrays *const a = &g->at;
    double *const all[] = { a->dout, a->dlse, a->dq, a->dk, a->dv, a->dbias, a->dslopes, a->dsinks };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (int i = 0; i < CLATTN_AUX_MAX; i++)
        free(g->at.daux[i]);
    memset(g, 0, sizeof *g);
}
