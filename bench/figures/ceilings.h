/* ceilings.h - what a device does at best, by all that was seen of it; needs no device
 * SPDX-License-Identifier: Apache-2.0
 *
 * A busy machine makes a probe slow and never fast, so a ceiling is the best that was seen and only rises. What a
 * kernel reached is possible too: it counts where it is above the probes. Then no share of a roofline is above 1. */
#ifndef CEILINGS_H
#define CEILINGS_H

#include <stdint.h>

/* Working sets whose bandwidth is probed: 256 KiB to 256 MiB, each four times the one before. A problem belongs to the
 * largest one that is not larger than its bytes, or to the first. */
enum { CEILINGS_SIZES = 6, CEILINGS_TYPES = 4 };
extern const uint64_t ceilings_bytes[CEILINGS_SIZES];
int ceilings_class(double bytes);

enum ceilings_by { BY_NOTHING, BY_PROBE, BY_KERNEL };

/* 0: nothing was seen. */
struct ceiling {
    double probed, reached;
};

struct ceilings {
    struct ceiling peak[CEILINGS_TYPES];  /* GFLOP/s of problems of each type, numbered by the caller */
    struct ceiling moved[CEILINGS_SIZES]; /* GB/s */
};

/* amount / ms as 10^9 a second; NaN unless both are finite and above 0, and ms is long enough for a clock to tell. */
double ceilings_rate(double amount, double ms);

/* Raises *best to rate where that is a finite number above it. */
void ceilings_raise(double *best, double rate);

/* What is known of a ceiling: the larger number, and whose it is. Without a probe nothing is known. */
double ceilings_of(const struct ceiling *c, enum ceilings_by *by);

/* GB/s of a class. What moves more bytes as fast moves these as well: a class has at least the rate of all larger ones.
 * One that was not probed has the rate of the next smaller one that was. NaN: nothing is known. */
double ceilings_moved(const struct ceilings *c, int size, enum ceilings_by *by);

/* The largest class that was probed, whose bytes lie in memory; the last one where none was. */
int ceilings_memory(const struct ceilings *c);

/* Whether a class is well above that one: its bytes lie in a cache. */
int ceilings_is_cached(const struct ceilings *c, int size);

/* Notes that a kernel took `ms` for this work. */
void ceilings_reach(struct ceilings *c, int type, double flops, double bytes, double ms);

/* The roof over a problem. gflops NaN: not known. */
struct roof {
    double gflops;                          /* the smaller one of the two */
    double peak, moved;                     /* GFLOP/s, GB/s */
    enum ceilings_by peak_by, moved_by;
    int by_memory;                          /* bandwidth is the smaller one */
    int size, cached;                       /* the class of its bytes, and where they lie */
};
struct roof ceilings_roof(const struct ceilings *c, int type, double flops, double bytes);

/* The share that was reached of it, at most 1; NaN: not known. */
double ceilings_share(const struct roof *r, double flops, double ms);

#endif
