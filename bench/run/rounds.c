/* rounds.c - timing what runs for one problem, in rounds
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/run/rounds.h"

#include "tools/system/system.h"

#include <math.h>
#include <stdio.h>

static int run_peak(struct comparison *r, int round, struct fault *f)
{
    r->peak[round] = NAN;
    const cl_int status = r->probe ? probe_run(r->probe, &r->peak[round]) : CL_SUCCESS;
    return status ? bench_fault(f, NULL, status, r->problem) : 0;
}

/* Forwards and backwards in turn, because whatever runs second finds its data in the caches: up to 10 % of a time of
 * 2 ms. */
static int run_round(struct bench *b, struct comparison *r, int round, struct fault *f)
{
    const int last = b->o.n_peers + 1; /* the number of the probe */
    for (int i = 0; i <= last; i++) {
        const int n = round % 2 ? last - i : i;
        if (n > 0 && n < last && !comparison_has(r, n - 1))
            continue;
        if (n == last ? run_peak(r, round, f) : comparison_run(b, r, n, &r->ms[n * b->o.rounds + round], f))
            return -1;
    }
    return 0;
}

int rounds_run(struct bench *b, struct comparison *r, struct fault *f)
{
    for (r->rounds = 0; r->rounds < b->o.rounds; r->rounds++) {
        if (r->rounds > 0 && system_interrupted())
            break;
        progress_round(&b->progress, r->rounds + 1, b->o.rounds);
        if (run_round(b, r, r->rounds, f))
            return -1;
    }
    return 0;
}

int rounds_on_stdin(struct bench *b, struct comparison *r, struct fault *f)
{
    int c;
    progress_clear(&b->progress);
    printf("ready\n");
    fflush(stdout);
    while ((c = getchar()) != EOF) {
        double ms;
        if (c != '\n')
            continue;
        if (comparison_run(b, r, 0, &ms, f))
            return -1;
        printf("%.6f\n", ms);
        fflush(stdout);
    }
    return 0;
}
