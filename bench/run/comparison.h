/* comparison.h - all that runs for one problem: the plan, and peers that compute the same
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARISON_H
#define COMPARISON_H

#include "bench/figures/work.h"
#include "bench/run/backward.h"
#include "bench/run/bench.h"
#include "tools/run/setup.h"

/* The plan is number 0, and the peers follow. */
struct comparison {
    const char *problem;
    clattn_workload c;
    struct extras extras;           /* c.problem points into them */
    struct setup setup;
    clattn_plan plan;
    struct backward backward;       /* where gradients are asked for */
    void *peers[PEERS_MAX];
    char missing[PEERS_MAX][160];   /* why a peer does not run; else empty */
    struct memory_need need;
    struct probe *probe;            /* NULL: the roofline is not known */
    int rounds;                     /* that have run */
    double *ms;                     /* [1 + n_peers][rounds asked] */
    double *peak;                   /* [rounds asked], GFLOP/s */
    double largest, off[PEERS_MAX]; /* our largest |O|, and how far each peer is from ours */
};

/* Reads the problem, makes everything, and runs it once: drivers compile at the first launch. A problem that needs more
 * memory than there is is refused, before it takes any; a peer that does is left out. Returns 0, or -1 with `f` set.
 * comparison_close() is due in both cases. */
int comparison_open(struct bench *b, struct comparison *r, const char *problem, struct fault *f);
void comparison_close(struct bench *b, struct comparison *r);

/* Measures the device's ceilings, once, before a problem takes memory. twice: multiply-adds of double. Returns the
 * probe that each round runs again, or NULL where there is none. */
struct probe *comparison_probe(struct bench *b, int twice);

/* Runs the plan, or the peer of that number less one, once. */
int comparison_run(struct bench *b, struct comparison *r, int n, double *ms, struct fault *f);

/* Whether a peer runs; whether it computed something else. */
int comparison_has(const struct comparison *r, int peer);
int comparison_differs(const struct bench *b, const struct comparison *r, int peer);

#endif
