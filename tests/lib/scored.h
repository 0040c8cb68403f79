/* scored.h - scores of a trial: a poisoned tensor, one stage after another, the verdict
 * SPDX-License-Identifier: Apache-2.0
 *
 * The trial runs forward first: weights are made of the LSE that it wrote. Scores before masks are those of keys that
 * no query sees, too, so what is poison in the trial becomes what it stands for. V and O are not given. */
#ifndef SCORED_H
#define SCORED_H

#include "tests/lib/trial.h"

enum { SCORED_STAGES = CLATTN_SCORES_WEIGHTS + 1 };
extern const char *const scored_stages[SCORED_STAGES]; /* "products" */

struct scored {
    struct trial t;
    struct array4 at;    /* [b,h,nq,nk]; of varlen queries [1,h,total_q,nk] */
    double *value, *want, *bound; /* [b,h,nq,nk] */
    struct truth truth;  /* of O and LSE */
    clattn_forward_args forward;
    clattn_scores_args args;
    double most;         /* behind scored_verify(): the largest part of a bound that an error was */
};

/* As trial_make(), of a problem with CLATTN_SCORES and LSE, which it adds. scored_free() is due in both cases. */
cl_int scored_make(struct scored *s, cl_context context, const clattn_workload *c, enum layout layout);
/* The forward call, and what float64 says of it. Returns 1, or 0 and `why`. */
int scored_forward(struct scored *s, clattn_plan plan, cl_command_queue queue, char *why, size_t len);
/* The scores of a stage, from poison, read back: 1, or 0 and `why` when the call fails or anything else was written. */
int scored_run(struct scored *s, int stage, clattn_plan plan, cl_command_queue queue, char *why, size_t len);
/* Its parts: poison, and arguments for the stage; and reading. */
cl_int scored_reset(struct scored *s, int stage, cl_command_queue queue);
int scored_fetch(struct scored *s, cl_command_queue queue, char *why, size_t len);
/* Whether every element that a call writes is poison; behind scored_fetch(). */
int scored_is_blank(const struct scored *s);
/* Whether what scored_run() read is what float64 says. */
int scored_verify(struct scored *s, char *why, size_t len);
/* All of that, every stage: 1, or 0 and `why`. */
int scored_check(struct scored *s, clattn_plan plan, cl_command_queue queue, char *why, size_t len);
/* Puts every key and every query that an entry has into its buffer, whatever masks say. */
cl_int scored_show(struct scored *s, cl_command_queue queue);
void scored_free(struct scored *s);

#endif
