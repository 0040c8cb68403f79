/* target.h - what a program is composed for, and the numbers that follow from it. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TARGET_H
#define TARGET_H

#include "engine/tile.h"

/* How the work-groups of pass merge cover rows (cl/passes/merge.cl), and how many of them cover the columns of one. */
struct merge_shape {
    int items, column_items, vectors, width, chunks;
};

/* What programs and calls go by, worked out once. */
struct shape {
    int rows;              /* that a work-group owns: queries, or keys where it goes over queries */
    int keys;              /* of a tile, or queries likewise */
    int items;             /* of the engine's work-groups */
    int items_of_others;   /* of those that no engine has of its own */
    int width;             /* lanes of `real` */
    int tables;            /* of captured buffers' cells that a work-group adds gradients up in */
    int64_t scalar_bytes;  /* of what is computed in */
    int64_t own_bytes;     /* of the workspace that a work-group of the engine keeps its own in */
    int64_t total_bytes;   /* and the sums of segments, where it has more than one (cl/engines/total.cl); 0: none */
    struct merge_shape merge;
};

/* A pass of a checked problem on a device with a configuration. exp2: which 2^x (caps.h), for the program that tests
 * it; that one needs no problem, no configuration and no shape. */
struct target {
    int pass; /* PASS_* */
    const clattn_problem *p;
    const struct caps *caps;
    const struct config *config;
    struct shape shape;
    int exp2;
};

struct target target_make(int pass, const clattn_problem *p, const struct caps *caps, const struct config *config);

#endif
