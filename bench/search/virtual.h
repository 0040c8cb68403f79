/* virtual.h - a device on paper: times from a table, told by clocks that lie as real ones do
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything follows from a seed. For the replay of recordings and for the tests of the search. */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include "src/tune/search.h"

struct entry {
    struct config config;
    double seconds; /* the truth; 0: it does not build */
};

struct space {
    struct entry *at; /* the caller's to free */
    int n;
};

enum clock {
    CLOCK_EXACT,
    CLOCK_NOISE,   /* plain noise of 3 % */
    CLOCK_COLD,    /* first calls take 4 times as long: three after every build, and each configuration's first one */
    CLOCK_DRIFT,   /* ever slower, by 30 % in the end */
    CLOCK_OUTLIER, /* one call takes 100 times as long */
    CLOCK_BIMODAL, /* two speeds 25 % apart, one for some hundred calls, then the other */
    CLOCK_FLICKER, /* every fourth call takes 25 % longer */
    CLOCK_LOAD,    /* another program begins at some time: 60 % slower from there on, and noise of 3 % */
    CLOCK_WILD,    /* anything from the truth to twice as long */
    CLOCKS
};
const char *clock_name(enum clock c);

struct device {
    const struct space *space;
    enum clock clock;
    double build_seconds;
    uint64_t random;
    double now, factor;     /* virtual seconds; of the two speeds, the one it has */
    long span;              /* calls that a search may take, about */
    long calls, event;      /* the call at which an outlier comes, or another program */
    int since_build, n_open;
    struct {
        const struct entry *entry;
        bool warm;
    } open[64];
    int opens, closes, most_open;
    double best_opened;     /* the truth, seconds */
};

/* `ops` works on `d` as long as d exists. span: about as many calls as the search makes; events that happen once fall
 * among them. */
void device_init(struct device *d, struct search_ops *ops, const struct space *space, enum clock clock, long span,
                 uint64_t seed);

/* NULL when the space lacks it. */
const struct entry *space_find(const struct space *s, const struct config *config);
double space_best(const struct space *s);

/* A space of engine cpu with times made up: smooth but for a cliff where registers run out, and rough as measured ones
 * are. false: no memory. */
bool space_make(struct space *s, const struct caps *caps, const clattn_problem *p, uint64_t seed);

#endif
