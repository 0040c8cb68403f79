/* pass.h - passes: what each kernel of a plan is made of, what it takes and how much it covers. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_H
#define PASS_H

#include "engine/target.h"

/* The passes that plans are made of; and a program that belongs to none, of which device/exp2.c makes use. */
enum {
    PASS_FORWARD,
    PASS_MERGE,
    PASS_BLOCK_MAP,
    PASS_APPEND,
    PASS_ADVANCE,
    PASS_ROTARY,
    PASS_DELTA,
    PASS_BACKWARD_KEYS,
    PASS_BACKWARD_QUERIES,
    PASS_SUM_DQ,
    PASS_SUM_DBIAS,
    PASS_SUM_DSLOPES,
    PASS_SUM_DSINKS,
    PASS_SUM_DAUX,
    PASSES,
    PASS_EXP2 = PASSES
};

/* A slot of a program has one of these. */
struct slot {
    const char *fragment;                                  /* the same in every program of the pass */
    const char *(*choose)(const struct target *);          /* a fragment by the target; NULL: none */
    void (*write)(struct text *to, const struct target *); /* text that is written for the target */
};

struct arguments;
struct pass {
    const char *name;
    const char *kernel;
    bool (*applies)(const clattn_problem *);      /* whether plans of the problem have the pass .. */
    bool (*serves)(const struct engine *);        /* .. and those of the engine; NULL: all */
    const struct slot *slots; /* in the order in which one relies on another; ends with an empty one */
    void (*options)(struct text *to, const struct target *); /* build options beside those that all have */
    int (*items)(const struct target *);          /* of a work-group */
    int64_t (*groups)(const struct target *,
                      const struct arguments *); /* work-groups of a call; 0: there is nothing to do */
    int64_t (*group_bytes)(const struct target *, const struct arguments *); /* of the workspace, of each; NULL: 0 */
    void (*idle)(struct arguments *); /* what to call it with where it has nothing to do, in place of zeros */
};

const struct pass *pass_at(int id);

/* Whether a plan has it. */
bool pass_applies(int id, const clattn_problem *p, const struct engine *e);

/* The pass that does most of the work of the problem's plans, and whose configuration is chosen. */
int pass_main(const clattn_problem *p);

/* Bytes of the workspace that the passes of a forward call share, the states of parts; false: they are too many. */
bool pass_bytes_of_states(const struct target *t, const struct arguments *a, int64_t *bytes);

/* Rows of a forward call: those of each part's states. */
int64_t pass_state_rows(const struct arguments *a);

#endif
