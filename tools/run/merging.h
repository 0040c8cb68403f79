/* merging.h - clattn-run --merge: partial results in files, merged on a device
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MERGING_H
#define MERGING_H

#include <clattn.h>

#include "tools/system/fault.h"
#include "tools/system/opencl.h"
#include "tools/run/options.h"
#include "tools/oracle/verify.h"

/* Partial results: o [parts,rows,width] and lse [parts,rows], float, or double O with f64; and what they merge to. */
struct merging {
    int64_t parts, rows;
    int64_t shape[8]; /* of O without the parts: ndim axes, the last one its width */
    int ndim, width, type;
    double *o_parts, *lse_parts;
    double *o, *lse;  /* [rows,width], [rows], after merging_run() */
    cl_mem mem[4];    /* of o_parts, lse_parts, o, lse */
    cl_command_queue queue;
};

/* Reads the files that `o` names. Returns 0, or -1 with `f` set; merging_free() is due in both cases. */
int merging_read(const struct options *o, struct merging *m, struct fault *f);

/* The problem of a plan that can merge these. */
clattn_problem merging_problem(const struct merging *m);

/* Makes the buffers; one merge, from enqueue to clFinish; reads O and LSE back. Each returns CL_SUCCESS or what failed.
 */
cl_int merging_open(struct merging *m, const struct opencl *where);
cl_int merging_run(struct merging *m, clattn_plan plan);
cl_int merging_fetch(struct merging *m);

/* Against float64: each part is a key, its LSE the score and its O the value. Returns 0, or -1 without memory. */
int merging_verify(const struct merging *m, struct verdict *out);

void merging_free(struct merging *m);

#endif
