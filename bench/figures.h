/* figures.h - what was measured of one problem, and its printing
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdio.h>

enum { PEERS_MAX = 8, CONFIG_TEXT = 256 };

struct figures {
    const char *problem, *device;       /* the caller's */
    char config[CONFIG_TEXT];
    double ms, best_ms;                 /* median, and the least */
    double flops, bytes;                /* of one call */
    double peak_gflops;                 /* of the device, by probes in the same run; NaN: not probed */
    double copy_gbytes_s, read_gbytes_s;
    int twice;                          /* those are of double, not of float */
    double fraction;                    /* of what the roofline allows, median over rounds; NaN where that is nothing */
    int n_peers;
    struct {
        const char *name, *note;        /* note: what a reader of its time must know, or NULL */
        double ms, ratio;               /* medians; ratio: its time over ours */
        int differs;                    /* its O is not ours */
    } peers[PEERS_MAX];
};

double figures_gflops(const struct figures *g);
double figures_gbytes_s(const struct figures *g);
double figures_intensity(const struct figures *g); /* FLOP per byte that has to be moved at least */

/* The most bytes that a device moves: those of copying, or of reading alone. */
double figures_peak_gbytes_s(const struct figures *g);

/* What a device of these peaks could reach at most at this intensity, GFLOP/s. */
double figures_roof(const struct figures *g);

void figures_print(const struct figures *g);
void figures_print_json(const struct figures *g);

#endif
