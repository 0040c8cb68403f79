/* split.h - how a call's work is cut into work-groups: heads that share tiles, parts of the keys. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPLIT_H
#define SPLIT_H

#include "engine/tile.h"

/* How the work-groups of a plan's kernel own rows. */
struct rows {
    int per_group;
    bool packs_heads; /* the kernel takes rows of several heads */
};

/* A kernel packs where calls of the problem's sizes would, and nothing but sinks differs from head to head. */
struct rows split_rows(const clattn_problem *p, int per_group);

/* Rows of the problem's sizes that share keys: queries, of all heads that a kernel may pack. 0: the problem has no
 * sizes. */
int64_t split_shared_rows(const clattn_problem *p);

/* Kernels find a row's query by (row + 0.5) / n in float: off by at most row / n / 2^22, and 0.5 / n from the next
 * integer. So rows are few; longer sequences fill tiles anyway. */
enum { SPLIT_ROWS_MAX = 1 << 16 };

/* Query heads whose rows a call packs: all that share keys where they fill tiles better, else 1. */
int split_heads(const struct rows *rows, const clattn_sizes *s);

/* Parts, and how many keys each of them has at least: cl/passes/forward.cl finds a row's own from these. */
struct split {
    int parts, least;
};

/* What a plan knows of that before any call. Parts are to be as many as give every compute unit of the device the
 * work-groups that the configuration asks for, `waves` of them. On CPUs, whose runtime may give each thread a range of
 * them, it is twice as many where the entries of a batch have lengths of their own: where the first parts hold all keys
 * of the short entries, the others must be enough to even that out. */
struct split_rule {
    struct rows rows;
    bool invariant, has_lists;     /* CLATTN_BATCH_INVARIANT; problem_has_lists() */
    int least, most;               /* keys of a part; parts */
    int64_t groups, uneven_groups; /* that are wanted; of a batch with several entries */
    int64_t window;                /* keys that a work-group sees, at most */
};
struct split_rule split_rule(const clattn_problem *p, const struct caps *caps, const struct config *config);

/* s: the call's sizes; packed: split_heads() of them. */
struct split split_by_rule(const struct split_rule *rule, const clattn_sizes *s, int packed);

/* As the caller wants. */
struct split split_by_force(int parts);

/* Keys of a part, at most, of a tile's rows that see `keys` of them: all, or what kernels find (cl/passes/parts.h). */
int64_t split_keys(int64_t keys, int parts, int least, int tile);

/* The index-th configuration that differs from `from` in its number of waves only, and splits the keys of the problem's
 * sizes into another number of parts. They have one program. */
bool split_waves_at(struct config *out, const struct caps *caps, const clattn_problem *p, const struct config *from,
                    size_t index);

#endif
