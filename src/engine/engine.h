/* engine.h - the engines: which fragment, which numbers, which rows of them. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_H
#define ENGINE_H

#include "engine/caps.h"
#include "problem/problem.h"

enum { TILE_NUMBERS = 8, VALUES_MAX = 5 };

/* The numbers of a tile, in the order of its engine's `numbers`. */
struct tile {
    int n[TILE_NUMBERS];
};

/* A row of an engine's table: a tile, and what it is meant for. Rows stand in order of preference. A first number of 0
 * (engines cpu and row) stands for the device's vector width. */
struct row {
    struct tile tile;
    int widest;              /* largest d and dv */
    int most_rows;           /* largest nq, 0 for any */
    int most_shared;         /* most rows that share keys (gqa.h), 0 for any */
    int narrowest, broadest; /* vector widths of the device, 0 for any */
    int sub_group;           /* that of the device (caps.h), 0 for any */
    bool causal;             /* for causal problems only */
    bool converted;          /* for K stored in 16 bits only */
    bool plain;              /* for problems only that scale scores, and drop them by causal masks, windows and lengths */
};

/* What a search tries for one number: `n` values, ascending. */
struct values {
    int n, at[VALUES_MAX];
};

struct engine {
    const char *name;
    const char *fragment;
    const char *numbers[TILE_NUMBERS + 1]; /* as in tile text; -DCLA_<upper case> */
    const struct row *rows;                /* ends with widest 0 */
    const struct values *values;           /* of each number */
    int width;                             /* lanes of `real`; 0: the tile's first number says */
    const char *exp;                       /* fragment for 2^x in f32; exp_native.cl where the device computes it well (exp2.h) */
    /* Whether a tile can run; words in *why when not. */
    cl_int (*fits)(const struct tile *, const struct caps *, const clattn_problem *, struct why *);
    int (*rows_per_group)(const struct tile *); /* BQ */
    int (*items_per_group)(const struct tile *);
    const char *(*load)(const clattn_problem *); /* fragment of the load slot, or NULL */
    const char *squares;                         /* fragment that reads what lies query by query */
    const char *options;                         /* more build options, "" for none */
    int own_words;                               /* of 4 bytes, of the workspace, that each item of a call has */
    int (*keys_per_tile)(const struct tile *);   /* BK */
    /* Scalars of the workspace that each item of a call has whose keys are more than a segment (cl/total.cl); NULL: none,
     * it keeps them in memory of its own. */
    int (*total_scalars)(const struct tile *, const clattn_problem *);
    bool narrow_p;                               /* P is stored in 16 bits: O may be farther off */
};

/* All engines; ends with a NULL name. */
extern const struct engine engines[];

const struct engine *engine_find(const char *name, size_t length);

/* Lanes of a native vector of what the problem computes in; of the shortest that any device has. */
int engine_lanes(const struct caps *caps, const clattn_problem *p);
int engine_least_lanes(const clattn_problem *p);

/* Engines to consider for a problem on a device, best first: the n-th, or NULL. */
const struct engine *engine_ranked(const struct caps *caps, const clattn_problem *p, size_t n);

#endif
