/* caches.h - a caller's K and V: where they lie, in one piece or on pages
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHES_H
#define CACHES_H

#include "engine/params.h"

/* What a caller says of them. CACHES_OF(a): in any struct of clattn.h that has these members. */
struct caches {
    const clattn_tensor *k, *v;
    const clattn_tensor4 *k_scale, *k_zero, *v_scale, *v_zero;
    const clattn_array *block_table;
    int64_t block_table_stride, pages;
    int32_t page;
};
#define CACHES_OF(a) \
    { &(a)->k, &(a)->v, &(a)->k_scale, &(a)->k_zero, &(a)->v_scale, &(a)->v_zero, &(a)->block_table, \
      (a)->block_table_stride, (a)->pages, (a)->page }

/* What they are checked for. Of the sizes b, hk, nk and total_k count. */
struct caches_use {
    const clattn_problem *p;
    const clattn_sizes *s;
    cl_context context;
    bool written; /* K and V are written, and scales that are not given for all rows alike; else they are read */
    bool without_v; /* V is not looked at */
};

/* On success *to says where all of it lies and how to find a page, and `mem` has the buffers. */
cl_int caches_check(const struct caches *in, const struct caches_use *use, struct arguments *to, cl_mem mem[PARAMS],
                    struct why *why);

#endif
