/* search.h - the search for the fastest configuration; measures and reads the clock by callbacks. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SEARCH_H
#define SEARCH_H

#include "engine/tile.h"

#include <clattn_tune.h>

/* What the search does to a configuration. `config` names it from open() to close(); several are open at a time. */
struct search_ops {
    void *user;
    cl_int (*open)(void *user, const struct config *config, struct why *why); /* builds and checks it; a refusal is a
                                                                               * result */
    cl_int (*run)(void *user, const struct config *config, double *seconds);  /* one timed call; a failure excludes
                                                                               * it */
    void (*close)(void *user, const struct config *config);                   /* after every open(), also a failed
                                                                               * one */
    double (*now)(void *user);                                                /* seconds from any origin */
    bool (*report)(void *user, const clattn_progress *progress);              /* returning false cancels. NULL:
                                                                               * nobody listens */
    void (*won)(void *user, const struct config *config);                     /* called with what won, while it is
                                                                               * still open. NULL: nobody asks */
};

struct search_options {
    int effort;            /* CLATTN_TUNE_QUICK, _FULL, _EXHAUSTIVE */
    double seconds;        /* limit, builds included; 0: none */
    const char *class_text; /* for progress */
    struct config control; /* the configuration that is used without a search */
    const struct config *first; /* tried before the table's rows: configurations of similar classes' records */
    size_t n_first;
    double spent;          /* seconds of the limit that were used before */
    bool keep;             /* a search that is cancelled ends with the fastest that is proven, if there is one */
};

/* What was measured of a configuration: medians of its rounds. */
struct finding {
    struct config config;
    double ratio;          /* its time divided by the control's, in the same rounds */
    double seconds, mad, control_seconds;
    int rounds;            /* 0: there is none */
};

struct search_result {
    struct config best;
    double seconds, mad, control_seconds; /* medians of the final rounds; 0 where nothing was timed */
    int rounds, trials, refused;
    bool measured;         /* the control and a challenger were timed */
    bool noisy;            /* too noisy to tell: best is the control */
    bool control_refused;  /* the control cannot run; best is another one, measured or not */
    bool cancelled, all_refused; /* all_refused: nothing ran, not even the control */
    bool kept;             /* it was cancelled, and best is what was proven before */
    struct finding proven; /* the fastest that has beaten the control so far: all there is of a search that was
                            * cancelled */
};

void search_run(struct search_result *out, const struct search_ops *ops, const struct search_options *o,
                const struct caps *caps, const clattn_problem *p);

#endif
