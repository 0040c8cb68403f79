/* appended.h - calls that append rows to caches, and every byte that is to come of them
 * SPDX-License-Identifier: Apache-2.0
 *
 * The host computes what every byte of every buffer has to be afterwards, and all are compared: what is written beside
 * the new rows is seen, too. */
#ifndef APPENDED_H
#define APPENDED_H

#include "tests/lib/encoded.h"

/* What a plan is made for, and the call's sizes and buffers. */
struct appended {
    clattn_problem p;
    clattn_sizes sizes;
    int page;
    int64_t pages, table_stride, entries;
    struct place new_place[2];
    struct image new_rows[2], new_len, kv_len, dropped, table;
    size_t new_len_at, kv_len_at, dropped_at, table_at;
    int new_len_given, dropped_wanted, rotates;
    struct turning turning;
    struct encoded k, v;
    clattn_append_args args;
};

/* A call of random sizes, rows, lists and strides; some of them write nothing. */
void appended_make(struct appended *c, const clattn_problem *p, uint64_t *state, cl_context context);
void appended_free(struct appended *c);

/* What comes of one append; returns the rows that are written. */
int64_t appended_expect(struct appended *c);

/* Whether the device has what is expected; words in `why`. */
int appended_agrees(const struct appended *c, cl_command_queue queue, char *why, size_t len);

/* A plan of the quickest engine to compile; NULL where the device lacks f64. */
clattn_plan appended_plan(const struct device *d, const clattn_problem *p);

#endif
