/* tune.h - searches on the device: once for a class, inside a plan's making or on demand
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TUNE_H
#define TUNE_H

#include "tune/config_lookup.h"
#include "tune/candidate.h"
#include "tune/search.h"

struct tune_request {
    int effort;     /* CLATTN_TUNE_QUICK, _FULL, _EXHAUSTIVE */
    double seconds; /* 0: what the effort has by default */
    int (*progress)(void *user, const clattn_progress *progress);
    void *progress_user;
    const clattn_measure *measure; /* NULL: in this process */
    bool once;                     /* for a plan: what cannot be told now is not tried again at the next start */
};

/* Searches for the class of a checked problem and keeps what was found. *measured: whether there was a choice at all. One
 * search at a time on a handle. programs_drop_brief() is due after these, once a plan has taken what it needs. */
cl_int tune_search(struct config *out, bool *measured, struct maker *maker, const clattn_problem *p,
                   const struct class *class, const struct tune_request *request, struct why *why);

/* The configuration for a plan, as settings say: known, found by a search now, or left as it is. Returns
 * CLATTN_ORIGIN_*. */
int tune_choose(struct config *config, struct maker *maker, const clattn_problem *p);

/* Builds a configuration and checks it as a candidate is. */
cl_int tune_verify(struct maker *maker, const clattn_problem *p, const struct class *class,
                   const struct config *config, struct why *why);

#endif
