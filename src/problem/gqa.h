/* gqa.h - GQA packing: when the query heads that share keys are rows of one tile. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GQA_H
#define GQA_H

#include "problem/problem.h"

/* How the work-groups of a plan's kernel own rows. */
struct rows {
    int per_group;
    bool packs_heads; /* the kernel takes rows of several heads */
};

/* A kernel packs where calls of the problem's sizes would, and nothing but sinks differs from head to head. */
struct rows gqa_rows(const clattn_problem *p, int per_group);

/* Rows of the problem's sizes that share keys: queries, of all heads that a kernel may pack. 0: the problem has no
 * sizes. */
int64_t gqa_shared_rows(const clattn_problem *p);

/* Kernels find a row's query by (row + 0.5) / n in float: off by at most row / n / 2^22, and 0.5 / n from the next
 * integer. So rows are few; longer sequences fill tiles anyway. */
enum { GQA_ROWS_MAX = 1 << 16 };

/* Query heads whose rows a call packs: all that share keys where they fill tiles better, else 1. */
int gqa_heads(const struct rows *rows, const clattn_sizes *s);

#endif
