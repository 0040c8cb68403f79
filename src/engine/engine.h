/* engine.h - the engines: what each of them says of itself in a file of its own. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_H
#define ENGINE_H

#include "base/text.h"
#include "cl/passes/args.h"
#include "engine/caps.h"
#include "problem/problem.h"

enum { TILE_NUMBERS = 8, VALUES_MAX = 5, UNIT_FRAGMENTS = 3 };

/* The numbers of a tile, in the order of its engine's `numbers`. */
struct tile {
    int n[TILE_NUMBERS];
};

/* A row of an engine's table: a tile, and what it is meant for. Rows stand in order of preference. Where the lanes
 * of vectors are a number of the tile, 0 stands for as many as the device's vectors have. */
struct row {
    struct tile tile;
    int widest;              /* largest d and dv */
    int most_rows;           /* largest nq, 0 for any */
    int most_shared;         /* most rows that share keys (split.h), 0 for any */
    int narrowest, broadest; /* vector widths of the device, 0 for any */
    int sub_group;           /* that of the device (caps.h), 0 for any */
    bool large;              /* takes registers that GPUs with a first_group (caps.h) may not have */
    bool causal;             /* for causal problems only */
    bool converted;          /* for K stored in 16 bits only */
    bool backward;           /* for backward passes, and only for them */
    bool plain;              /* for problems only that scale scores, and drop them by causal masks, windows, lengths */
};

/* What a search tries for one number: `n` values, ascending. TRY(1, 2, 4): a struct values. */
struct values {
    int n, at[VALUES_MAX];
};
#define TRY(...) { (int)(sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)), { __VA_ARGS__ } }

/* A number of a tile: what one may choose about a kernel. */
struct tile_number {
    const char *name;     /* as in tile text; -DCLA_<upper case> */
    const char *meaning;  /* what it counts */
    int least, most;      /* what is taken at all; fits() may ask for more */
    struct values values; /* what a search tries */
};

/* A matrix unit: by all lanes of a wave, D, m x n, += A, m x k, times B, k x n (cl/engines/mma_unit.cl). */
struct unit {
    const char *fragments[UNIT_FRAGMENTS + 1]; /* how lanes hold the three, and its instructions; ends with NULL */
    const char *operands; /* fragment: how B lies in local memory */
    const char *(*surfaces)(const struct caps *); /* fragment: how tiles are read; NULL: mma_surfaces_none.cl */
    int wave; /* lanes */
    int m, n, k;
    int rows; /* of A and D that a lane has elements of */
    int widest_sum; /* columns of O that a wave has registers for: two share wider rows; 0: all there are */
};

/* NULL and 0 in a member that may be: there is no such thing. */
struct engine {
    const char *name;
    const char *fragment;
    const struct unit *unit; /* whose fragments go before all of its own, or NULL */
    const char *products; /* a fragment that goes before it, or before `backward`; may be NULL */
    const char *backward; /* fragment of its backward passes; NULL: it has none */
    const char *look_ups; /* how its items add up what derivatives look up; NULL: captured buffers have no gradients */
    bool dq_in_stripes; /* that pass adds up dQ, too, each stripe on its own; else dQ has a pass that owns queries */
    struct tile_number numbers[TILE_NUMBERS + 1]; /* ends with a NULL name */
    const struct row *rows;                       /* ends with widest 0 */
    int width;           /* lanes of `real`; 0: number `width_at` of the tile says how many */
    int width_at;
    const char *exp;     /* fragment for 2^x in f32; exp_native.cl where the device computes it well (device/exp2.h) */
    const char *gather;  /* fragment that reads what lies query by query */
    const char *options; /* more build options, or NULL */
    const char *(*load)(const clattn_problem *); /* fragment of the load slot, or NULL */

    /* How good it is on a device, to be compared with others: the default is the best that fits. 0: it is not to be
     * chosen. NULL: it is for tests, chosen by name alone. */
    int (*rank)(const struct caps *, const clattn_problem *);
    bool wants_selftest; /* relies on what few devices have: is used where it was seen to compute right (selftest.h) */

    /* Whether it can do the problem at all, may be NULL; and whether a tile can run, besides what numbers, work-group
     * and local memory say, may be NULL. Words in *why when not. */
    cl_int (*suits)(const struct caps *, const clattn_problem *, struct why *);
    cl_int (*fits)(const struct tile *, const struct caps *, const clattn_problem *, struct why *);
    int (*rows_per_group)(const struct engine *, const struct tile *, const clattn_problem *); /* BQ */
    int (*items_per_group)(const struct engine *, const struct tile *);
    int (*keys_per_tile)(const struct tile *);   /* BK */
    /* As its fragment declares them, may be NULL. */
    int64_t (*local_bytes)(const struct engine *, const struct tile *, const clattn_problem *);
    int own_words; /* of 4 bytes, of the workspace, that each item of a call has */
    /* Scalars of the workspace that each item of a call has whose keys are more than a segment (cl/engines/total.cl);
     * NULL: none, it keeps them in memory of its own. */
    int (*total_scalars)(const struct engine *, const struct tile *, const clattn_problem *);
    /* Scalars of a work-group's sum of rows so wide, backward (cl/engines/segments.cl); NULL: there is none. */
    int64_t (*sum_scalars)(const struct tile *, int width);
    int waves;  /* work-groups for each compute unit that keys are split for (split.h) */
    int uneven; /* times as many where batch entries have lengths of their own */
    bool narrow_p; /* P, and dS of gradients, are stored in 16 bits: results may be farther off */
};

/* The i-th engine of the table (engine_list.h); NULL behind the last. */
const struct engine *engine_at(size_t i);
const struct engine *engine_find(const char *name, size_t length);

/* Adds the names of all that are not for tests alone: "simt, cpu, ..". */
void engine_names(struct text *to);

/* Whether a tile can run a problem on a device; words in *why when not. */
cl_int engine_fits(const struct engine *e, const struct tile *t, const struct caps *caps, const clattn_problem *p,
                   struct why *why);

/* CAPS_UNTESTED, CAPS_PASSED, CAPS_FAILED: passed where it wants no test. Atomic. */
int engine_verdict(const struct engine *e, const struct caps *caps);
void engine_set_verdict(const struct engine *e, struct caps *caps, int verdict);

/* Lanes of `real`. */
int engine_width(const struct engine *e, const struct tile *t);
/* Waves that share rows, each with a part of V's columns (cl/engines/products_mma.cl). */
int engine_shares(const struct unit *u, const clattn_problem *p);

/* Lanes of a native vector of what the problem computes in; of the shortest that any device has. */
int engine_lanes(const struct caps *caps, const clattn_problem *p);
int engine_least_lanes(const clattn_problem *p);

/* Tables of cells of captured buffers that a work-group adds gradients up in. */
int engine_tables(const struct engine *e, const struct tile *t);

/* Whether the device is a CPU whose driver takes explicit vectors well. */
bool engine_vectors_are_fast(const struct caps *caps);

/* Engines to consider for a problem on a device, best first, equals in the order of the table: the n-th, or NULL. */
const struct engine *engine_ranked(const struct caps *caps, const clattn_problem *p, size_t n);

/* The last of them: what to try when all others are refused. */
const struct engine *engine_last_resort(const struct caps *caps, const clattn_problem *p);

/* For engines' files. */
static inline int engine_round_up(int x, int to)
{
    return (x + to - 1) / to * to;
}
static inline int64_t engine_scalar_bytes(const clattn_problem *p) /* of what is computed in */
{
    return p->type == CLATTN_F64 ? 8 : 4;
}

#endif
