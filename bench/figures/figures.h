/* figures.h - what was measured of one problem, and all that follows from it; needs no device
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FIGURES_H
#define FIGURES_H

#include "bench/figures/ceilings.h"

#include <stddef.h>
#include <stdint.h>

enum { PEERS_MAX = 8, CONFIG_TEXT = 256, LABEL_TEXT = 128 };

struct peer_figures {
    const char *name, *note; /* note: what a reader of its time must know, or NULL */
    char label[LABEL_TEXT];  /* both, in words */
    double ms;               /* as shown; NaN: it did not run, and `missing` says why */
    double ratio;            /* its time over ours, as both are shown */
    int differs;             /* its O is not ours */
    char missing[160];
};

struct figures {
    const char *problem, *platform, *device, *driver; /* the caller's */
    char config[CONFIG_TEXT];
    int rounds, asked;       /* fewer than asked: a signal ended them */
    double ms, best_ms;      /* median, and the least; as shown */
    double flops, bytes;     /* of one call */
    int at_most;             /* the work may be less, so that no share is known */
    int type, twice;         /* number of its type among those of ceilings; the probe is one of double */
    struct roof roof;
    double share;            /* of it; NaN: not known */
    double probe_gflops;     /* median of the rounds' probes; NaN: not probed */
    double copied, read;     /* GB/s of the largest probes */
    struct ceilings ceilings;
    uint64_t host_bytes, device_bytes;
    int n_peers;
    struct peer_figures peers[PEERS_MAX];
};

/* A time as it is shown: four digits, and no more than six behind the point. What is printed, divided and drawn is
 * this number, so that whoever divides two printed times gets the printed ratio. */
double figures_shown(double ms);
int figures_decimals(double ms); /* behind the point */

double figures_gflops(const struct figures *g);
double figures_gbytes_s(const struct figures *g);
double figures_intensity(const struct figures *g); /* FLOP per byte that has to be moved at least; NaN: no bytes */

/* The median of n times, or the least; both as shown. NaN where n is 0 or there is no memory. */
double figures_median(const double *ms, int n);
double figures_least(const double *ms, int n);

/* Sets a peer's time, its ratio and its label. g->ms is set. */
void figures_peer(const struct figures *g, struct peer_figures *p, double ms);

/* "CLBlast, unfused, untuned parameters": the name of a peer, for a known one as its authors write it, and the note. */
void figures_label(char label[LABEL_TEXT], const char *name, const char *note);

/* Raises the ceilings to what this problem reached, ours and each peer's that computed the same, and sets roof, share
 * and a copy of the ceilings. best: the least times, of ours and of each peer that computes the same; n of them. */
void figures_share(struct figures *g, struct ceilings *c, const double *best, int n);

#endif
