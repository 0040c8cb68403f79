/* pass.h - passes: what each kernel of a plan is made of, what it takes and how much it covers. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_H
#define PASS_H

#include "engine/target.h"

/* The passes that plans are made of: X(NAME, row), whose id is PASS_NAME. pass_forward_rows is a row of pass_forward.c,
 * and so on. A call goes through its passes in this order. */
#define PASSES_FORWARD(X) \
    X(BLOCK_MAP, pass_forward_block_map) \
    X(FORWARD, pass_forward_rows) \
    X(MERGE, pass_forward_merge) \
    X(SCORES, pass_forward_scores) \
    X(APPEND, pass_caches_append) \
    X(ADVANCE, pass_caches_advance) \
    X(ROTARY, pass_caches_rotary)
#define PASSES_BACKWARD(X) \
    X(DELTA, pass_backward_delta) \
    X(BACKWARD_KEYS, pass_backward_keys) \
    X(BACKWARD_QUERIES, pass_backward_queries) \
    X(SUM_DQ, pass_backward_sum_dq) \
    X(SUM_DBIAS, pass_backward_sum_dbias) \
    X(SUM_DSLOPES, pass_backward_sum_dslopes) \
    X(SUM_DSINKS, pass_backward_sum_dsinks) \
    X(SUM_DAUX, pass_backward_sum_daux)
#define PASS_ID(NAME, row) PASS_##NAME,
enum {
    PASSES_FORWARD(PASS_ID) PASSES_BACKWARD(PASS_ID) PASSES,
    PASS_EXP2 = PASSES /* a program that belongs to none, of which device/exp2.c makes use */
};

/* What callers ask of a plan (run/launch.h). */
enum {
    PASS_CALL_FORWARD = 1,
    PASS_CALL_MERGE = 2,
    PASS_CALL_BLOCK_MAP = 4,
    PASS_CALL_APPEND = 8,
    PASS_CALL_ROTARY = 16,
    PASS_CALL_BACKWARD = 32,
    PASS_CALL_SCORES = 64
};

/* How it is found out whether the kernel of a pass computes right (judge/judge.c). */
enum {
    PASS_JUDGED_WITH_OTHERS, /* not by itself: what judges another pass of its calls runs it, or nothing does */
    PASS_JUDGED_BY_ROWS,     /* a forward call on a sample */
    PASS_JUDGED_IN_PARTS,    /* the same with its keys in two parts, and a merge of partial results */
    PASS_JUDGED_BY_MAP,      /* a block map of a sample's mask */
    PASS_JUDGED_BY_SCORES,   /* the scores of a sample at each stage */
    PASS_JUDGED_BY_GRADIENTS,
    PASS_JUDGES
};

/* A slot of a program has one of these. */
struct slot {
    const char *fragment;                                  /* the same in every program of the pass */
    const char *(*choose)(const struct target *);          /* a fragment by the target; NULL: none */
    void (*write)(struct text *to, const struct target *); /* text that is written for the target */
};

struct arguments;
struct pass {
    const char *kernel;
    unsigned calls;                               /* PASS_CALL_*: those that go through it */
    int judged;                                   /* PASS_JUDGED_* */
    bool (*applies)(const clattn_problem *);      /* whether plans of the problem have the pass .. */
    bool (*serves)(const struct engine *);        /* .. and those of the engine; NULL: all */
    const struct slot *slots; /* in the order in which one relies on another; ends with an empty one */
    void (*options)(struct text *to, const struct target *); /* build options beside those that all have */
    int (*items)(const struct target *);          /* of a work-group */
    bool one_result; /* of one that sums up (cl/passes/sums.cl), where its items share the sum */
    int64_t (*groups)(const struct target *,
                      const struct arguments *); /* work-groups of a call; 0: there is nothing to do */
    int64_t (*group_bytes)(const struct target *, const struct arguments *); /* of the workspace, of each; NULL: 0 */
    void (*idle)(struct arguments *); /* what to call it with where it has nothing to do, in place of zeros */
};

#define PASS_ROW(NAME, row) extern const struct pass row;
PASSES_FORWARD(PASS_ROW)
PASSES_BACKWARD(PASS_ROW)

const struct pass *pass_at(int id);

/* Whether a plan has it. */
bool pass_applies(int id, const clattn_problem *p, const struct engine *e);

/* The pass that does most of the work of the problem's plans, and whose configuration is chosen. */
int pass_main(const clattn_problem *p);

/* Bytes of the workspace that the passes of a call share: states of parts; what passes of gradients tell each other.
 * False: they are too many. */
bool pass_forward_bytes(const struct target *t, const struct arguments *a, int64_t *bytes);
bool pass_backward_bytes(const struct target *t, const struct arguments *a, int64_t *bytes);

/* Rows of a forward call: those of each part's states. */
int64_t pass_forward_state_rows(const struct arguments *a);

/* ---- For rows of several files ---- */

bool pass_is_backward(const clattn_problem *p);
bool pass_is_forward(const clattn_problem *p);
int pass_items_of_engine(const struct target *t);
int pass_items_for_blocks(const struct target *t);
void pass_idle_rows(struct arguments *a);

#endif
