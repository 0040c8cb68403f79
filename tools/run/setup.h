/* setup.h - buffers and arguments of one forward call, from arrays of doubles
 * SPDX-License-Identifier: Apache-2.0
 *
 * Arrays here are contiguous in the order of clattn.h, [b,h,n,width]; on the device they lie in the storage types of
 * the case, in its axis order. Varlen sequences are [h,total,width] here and [total,h,width] there. */
#ifndef SETUP_H
#define SETUP_H

#include <clattn.h>

#include "tools/oracle/extras.h"
#include "tools/system/opencl.h"
#include "tools/oracle/stored.h"

/* What a call reads. k and v are the values that are meant, whatever `caches` (NULL: none) says of how and where they
 * are stored; without pages, what is not quantised is taken from k and v. Lengths may be NULL: then those of the case
 * are used, where its flags ask for them. x may be NULL where the flags ask for none of it. */
struct setup_inputs {
    const double *q, *k, *v;
    const struct stored_kv *caches;
    int shared; /* k and v have a batch axis of 1, whatever b is */
    const int32_t *q_len, *kv_len, *kv_start, *offsets;
    int lse;    /* LSE is to be written */
    const struct extras *x;
};

struct setup {
    clattn_workload c; /* with nothing left to default */
    int shared;        /* K and V have a batch axis of 1, and b is larger */
    cl_context context;
    cl_command_queue queue;
    clattn_sizes sizes;
    clattn_forward_args args;
    clattn_array aux[CLATTN_AUX_MAX]; /* args.aux */
    int map_due;      /* the block map is still to be made from the mask */
    size_t workspace; /* bytes of args.workspace */
};

/* Makes a queue and the buffers, and uploads the inputs. O and LSE hold NaN afterwards, so that elements which a kernel
 * does not write are visible. Returns CL_SUCCESS or the status that failed; setup_close() must be called in both cases.
 * The sizes must have passed inputs_count(). */
cl_int setup_open(struct setup *s, const struct opencl *where, const clattn_workload *c, const struct setup_inputs *in);

/* What a plan does once for all calls: makes the block map from the mask where the inputs had none. */
cl_int setup_prepare(struct setup *s, clattn_plan plan);

/* One forward call, from enqueue to clFinish. */
cl_int setup_run(struct setup *s, clattn_plan plan);

/* O into o [b,h,nq,dv] and, unless NULL, LSE into lse [b,h,nq]; packed [h,total,dv] and [h,total]. */
cl_int setup_read(struct setup *s, double *o, double *lse);

/* Tensors that lie as one of the call's does: one more, with these values or, where `values` is NULL, with NaN; and its
 * values back, in the order of setup_inputs. The caller releases out->mem. */
enum setup_like { SETUP_Q, SETUP_K, SETUP_V, SETUP_O, SETUP_DOUT, SETUP_LSE };
cl_int setup_tensor(const struct setup *s, enum setup_like what, const double *values, clattn_tensor *out);
cl_int setup_fetch(struct setup *s, enum setup_like what, cl_mem mem, double *to);

void setup_close(struct setup *s);

/* Buffers of others: n numbers of `type`, NaN where `from` is NULL, and back. Where n is 0 there is no buffer. */
cl_int setup_numbers(cl_context context, cl_mem *out, int type, const double *from, size_t n);
cl_int setup_numbers_back(cl_command_queue queue, cl_mem mem, int type, double *to, size_t n);
void setup_release(const cl_mem *all, size_t n); /* those that are there */

#endif
