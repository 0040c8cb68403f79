/* call_kinds.h - kinds of calls that are made to fail, each with inputs, outputs and a judge of its own
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_KINDS_H
#define CALL_KINDS_H

#include "tests/lib/appended.h"
#include "tests/lib/graded.h"
#include "tests/lib/harness.h"
#include "tests/lib/scored.h"
#include "tests/lib/states.h"

/* What is called, and what it is called with. */
struct call_subject {
    const struct device *d;
    const struct call_kind *kind;
    const char *text;
    clattn_problem *problem; /* that of what is made below */
    struct trial t;
    struct graded g;
    struct appended a;
    struct states s;
    struct scored l;
    clattn_workload c;
};

/* A kind of call, on inputs of its own. All but `plan` and `once` are the test's part. */
struct call_kind {
    cl_int (*make)(struct call_subject *x);
    cl_int (*size)(struct call_subject *x, clattn_plan plan); /* the workspace that calls of the plan get; NULL: none */
    cl_int (*reset)(struct call_subject *x);                  /* outputs are poison */
    cl_int (*plan)(struct call_subject *x, clattn_plan plan, cl_event *event);
    cl_int (*once)(struct call_subject *x, clattn_handle h, cl_event *event);
    int (*is_blank)(struct call_subject *x, char *why, size_t len); /* no output was written */
    int (*is_kept)(struct call_subject *x, char *why, size_t len);  /* nothing else was */
    int (*is_right)(struct call_subject *x, char *why, size_t len);
    void (*free)(struct call_subject *x);
};

extern const struct call_kind call_forward, call_backward, call_append, call_merge, call_scores;

#endif
