/* states.h - partial results to be merged: made up, placed anyhow in buffers, and judged against float64
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STATES_H
#define STATES_H

#include "tests/lib/image.h"
#include <clattn.h>

/* Where parts lie. */
enum states_layout {
    STATES_PLAIN,  /* all strides 0 */
    STATES_INSIDE, /* the parts of a row side by side, gaps everywhere */
    STATES_ROWS,   /* [part,n,h,b], gaps everywhere */
    STATES_LAYOUTS
};

struct states {
    int64_t n[3], parts, dv; /* b, h, n */
    int type, o_type, lse_type; /* of what is read and written: CLATTN_F32, .. */
    enum states_layout layout;
    double *o, *lse; /* [part,b,h,n,dv] and [part,b,h,n], as stored, but LSE in natural units and -inf for nothing */
    /* What parts are exactly, and how far off those that are stored may be: likewise, and the caller's. NULL: o and lse
     * are exact. */
    const double *exact_o, *exact_lse, *o_off, *lse_off;
    struct image image[4]; /* parts of O and of LSE, and the results */
    clattn_sizes sizes;
    clattn_merge_args args;
    double part; /* behind states_verify(): the largest part of its bound that an element is off */
};

/* Makes up parts in which about a fifth saw nothing, as did all parts of some rows; O of these is NaN or inf. For plans
 * of the problem's types and dv. states_free() is due in any case. */
cl_int states_make(struct states *s, cl_context context, const clattn_problem *p, const int64_t n[3], int64_t parts,
                   enum states_layout layout, uint32_t flags, uint64_t seed);

/* Stores o and lse again, after a test has changed them, and poisons the results. */
cl_int states_store(struct states *s, cl_command_queue queue);

/* Merges, and waits for it. */
cl_int states_run(struct states *s, clattn_plan plan, cl_command_queue queue);

/* 1 when O and LSE of the results are as float64 says, within `share` of what a merge may add and the rounding of O,
 * and nothing else was written. share 0: within what doc/semantics promises. */
int states_verify(struct states *s, cl_command_queue queue, double share, char *why, size_t len);

/* The same, where what was merged is what parts of `of` came to. */
int states_verify_as(struct states *s, const struct states *of, cl_command_queue queue, double share, char *why,
                     size_t len);

/* Reads the results: [b,h,n,dv], and LSE as it is written. 1 when nothing else was. */
int states_take(struct states *s, cl_command_queue queue, double *o, double *lse);

/* 1 when nothing at all was written. */
int states_are_blank(const struct states *s, cl_command_queue queue);

/* 1 when nothing but results was written, whatever they are. */
int states_are_kept(struct states *s, cl_command_queue queue);

void states_free(struct states *s);

#endif
