/* tune.h - searches on the device: once for a class, inside a plan's making or on demand
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TUNE_H
#define TUNE_H

#include "tune/config_lookup.h"
#include "tune/candidate.h"
#include "tune/search.h"

struct tune_request {
    int effort;     /* CLATTN_TUNE_QUICK, _FULL, _EXHAUSTIVE */
    double seconds; /* 0: the default of the effort */
    int (*progress)(void *user, const clattn_progress *progress);
    void *progress_user;
    const clattn_measure *measure; /* NULL: in this process */
    bool once;                     /* for a plan: a search that was too noisy or had no time is not repeated at the
                                    * next start */
    bool keep;                     /* a search that is cancelled keeps the fastest that is proven */
};

/* Searches for the class of a checked problem and keeps what was found. known: what was known of it, and of similar
 * ones. *measured: whether there was a choice at all.
 * Only one search may run on a handle at a time. programs_drop_brief() must be called afterwards, once a plan has taken
 * what it needs. */
cl_int tune_search(struct config *out, bool *measured, struct maker *maker, const clattn_problem *p,
                   const struct class *class, const struct known *known, const struct tune_request *request,
                   struct why *why);

/* Chooses the configuration for a plan, as settings say: a known one, one that a search finds now, or *config as it is.
 * Returns CLATTN_ORIGIN_*. */
int tune_choose(struct config *config, struct maker *maker, const clattn_problem *p);

/* Builds a configuration and checks it as a candidate is. */
cl_int tune_verify(struct maker *maker, const clattn_problem *p, const struct class *class,
                   const struct config *config, struct why *why);

#endif
