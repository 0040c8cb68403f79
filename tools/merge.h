/* merge.h - clattn-run --merge: partial results in files, merged on a device
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MERGE_H
#define MERGE_H

#include <clattn.h>

#include "fault.h"
#include "opencl.h"
#include "options.h"
#include "verify.h"

/* Partial results: o [parts,rows,width] and lse [parts,rows], float, or double O with f64; and what they merge to. */
struct merge {
    int64_t parts, rows;
    int64_t shape[8]; /* of O without the parts: ndim axes, the last one its width */
    int ndim, width, type;
    double *o_parts, *lse_parts;
    double *o, *lse;  /* [rows,width], [rows], after merge_run() */
    cl_mem mem[4];    /* of o_parts, lse_parts, o, lse */
    cl_command_queue queue;
};

/* Reads the files that `o` names. Returns 0, or -1 with `f` set; merge_free() is due in both cases. */
int merge_read(const struct options *o, struct merge *m, struct fault *f);

/* The problem of a plan that can merge these. */
clattn_problem merge_problem(const struct merge *m);

/* Makes the buffers; one merge, from enqueue to clFinish; reads O and LSE back. Each returns CL_SUCCESS or what failed.
 */
cl_int merge_open(struct merge *m, const struct opencl *where);
cl_int merge_run(struct merge *m, clattn_plan plan);
cl_int merge_fetch(struct merge *m);

/* Against float64: each part is a key, its LSE the score and its O the value. Returns 0, or -1 without memory. */
int merge_verify(const struct merge *m, struct verdict *out);

void merge_free(struct merge *m);

#endif
