/* timing_rounds.h - the half of the search that measures: times configurations in rounds beside a control. Knows no
 * device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMING_ROUNDS_H
#define TIMING_ROUNDS_H

#include "tune/search.h"

enum {
    OPEN_MAX = 12,    /* open at a time, the control among them */
    FINAL_ROUNDS = 9,
    LEAST_ROUNDS = 5, /* the fewest that decide anything, where time is up early */
    PASSES_MAX = 7,   /* calls of each configuration in a round of the final; odd */
    PASSES_AGAIN = 3,
    SAMPLES = FINAL_ROUNDS * PASSES_MAX,
    HOPELESS = 4      /* times as slow as the control: not worth another call */
};

enum entrant_state { ENTRANT_WAITING, ENTRANT_OPEN, ENTRANT_CLOSED, ENTRANT_OUT };

struct entrant {
    struct config config;
    enum entrant_state state;
    bool ran;                                /* its first call, which is not counted, was made */
    int n;                                   /* calls counted; the last SAMPLES of them are kept */
    double first;                            /* ratio of the first call */
    double seconds[SAMPLES], ratio[SAMPLES]; /* ratio: the time divided by the control's in the same round */
    double score;                            /* median ratio; 0: not known */
};

struct timing_rounds {
    const struct search_ops *ops;
    const struct search_options *o;
    struct search_result *out;
    struct entrant *at;
    int count, rounds;
    struct entrant *control; /* NULL: nothing runs */
    const struct entrant *proven; /* the fastest that has beaten the control so far, or NULL; see proven.h */
    double began;
    bool ran, compared; /* a call ended; something was timed beside the control */
    bool untimed;       /* the time of the control's calls cannot be measured */
};

double timing_rounds_elapsed(const struct timing_rounds *r);
bool timing_rounds_used(const struct timing_rounds *r, double part); /* of the limit */
bool timing_rounds_is_over(const struct timing_rounds *r); /* cancelled, out of time, or no control to compare with */

/* Returns the best configuration so far, or the control; NULL: there is none. */
const struct entrant *timing_rounds_best(const struct timing_rounds *r);

void timing_rounds_tell(struct timing_rounds *r, int step, const struct config *config, const char *words);

/* Opens a configuration. The first one that opens is the control. */
void timing_rounds_open(struct timing_rounds *r, struct entrant *c);
void timing_rounds_close(struct timing_rounds *r, struct entrant *c);
int timing_rounds_list(const struct timing_rounds *r, struct entrant *list[OPEN_MAX]); /* what is open */

/* Runs the control until its times agree, because an idle device takes a while to raise its clocks. */
void timing_rounds_warm_up(struct timing_rounds *r);

/* Runs everything that is open once, beginning with another one each time. Hopeless configurations are closed. */
void timing_rounds_round(struct timing_rounds *r);

/* Closes all configurations but the control and the best n. */
void timing_rounds_keep(struct timing_rounds *r, int n);

/* The seconds that one round of what is open takes. */
double timing_rounds_round_seconds(const struct timing_rounds *r);

/* ---- What a final says ---- */

double timing_rounds_median(const double *x, int n);
int timing_rounds_samples(const struct entrant *c);
bool timing_rounds_is_noisy(const struct entrant *control);
bool timing_rounds_is_decided(const struct entrant *control, int passes); /* enough rounds were run */
bool timing_rounds_beats(const struct entrant *c, int passes);

#endif
