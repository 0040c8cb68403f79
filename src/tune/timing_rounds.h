/* timing_rounds.h - configurations timed in rounds beside a control: the half of the search that measures. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMING_ROUNDS_H
#define TIMING_ROUNDS_H

#include "tune/search.h"

enum {
    OPEN_MAX = 12,    /* open at a time, the control among them */
    FINAL_ROUNDS = 9,
    LEAST_ROUNDS = 5, /* that decide anything where time is up before */
    PASSES_MAX = 7,   /* calls of each in a final round, odd */
    PASSES_AGAIN = 3,
    SAMPLES = FINAL_ROUNDS * PASSES_MAX,
    HOPELESS = 4      /* times the control: not worth another call */
};

enum entrant_state { ENTRANT_WAITING, ENTRANT_OPEN, ENTRANT_CLOSED, ENTRANT_OUT };

struct entrant {
    struct config config;
    enum entrant_state state;
    bool ran;                                /* its first call, which is not counted, is over */
    int n;                                   /* calls counted; the last SAMPLES of them are kept */
    double first;                            /* ratio of the first call */
    double seconds[SAMPLES], ratio[SAMPLES]; /* ratio: to the control in the same round */
    double score;                            /* median ratio; 0: not known */
};

struct timing_rounds {
    const struct search_ops *ops;
    const struct search_options *o;
    struct search_result *out;
    struct entrant *at;
    int count, rounds;
    struct entrant *control; /* NULL: nothing runs */
    double began;
    bool ran, compared; /* a call came to its end; something was timed beside the control */
    bool untimed;       /* what the control's calls took cannot be told */
};

double timing_rounds_elapsed(const struct timing_rounds *r);
bool timing_rounds_used(const struct timing_rounds *r, double part); /* of the limit */
bool timing_rounds_is_over(const struct timing_rounds *r);           /* cancelled, out of time, nothing to measure with */

/* The best known so far, or the control. NULL: none. */
const struct entrant *timing_rounds_best(const struct timing_rounds *r);

void timing_rounds_tell(struct timing_rounds *r, int step, const struct config *config, const char *words);

/* The first that opens is the control. */
void timing_rounds_open(struct timing_rounds *r, struct entrant *c);
void timing_rounds_close(struct timing_rounds *r, struct entrant *c);
int timing_rounds_list(const struct timing_rounds *r, struct entrant *list[OPEN_MAX]); /* what is open */

/* Runs the control until its times agree: clocks of an idle device take a while to rise. */
void timing_rounds_warm_up(struct timing_rounds *r);

/* Everything open runs once, another one first each time. What is clearly out is closed. */
void timing_rounds_round(struct timing_rounds *r);

/* Closes all but the control and the best n. */
void timing_rounds_keep(struct timing_rounds *r, int n);

/* Seconds of one round of what is open. */
double timing_rounds_round_seconds(const struct timing_rounds *r);

/* ---- What a final says ---- */

double timing_rounds_median(const double *x, int n);
int timing_rounds_samples(const struct entrant *c);
bool timing_rounds_is_noisy(const struct entrant *control);
bool timing_rounds_is_decided(const struct entrant *control, int passes); /* as far as rounds go */
bool timing_rounds_beats(const struct entrant *c, int passes);

#endif
