/* progress.c - how far a run is, on standard error
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/run/progress.h"

#include "tools/system/clock.h"
#include "tools/system/system.h"

#include <stdio.h>
#include <string.h>

#define OFTEN_MS 200  /* on a terminal */
#define SELDOM_MS 1e4 /* in a log */
enum { COLUMNS = 79 };

void progress_begin(struct progress *p, int n, int quiet)
{
    memset(p, 0, sizeof *p);
    p->n = n;
    p->quiet = quiet;
    p->terminal = system_is_terminal(2);
    p->told = clock_ms();
}

void progress_clear(struct progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r%*s\r", COLUMNS, "");
    p->shown = 0;
}

static void tell(struct progress *p, const char *step)
{
    char line[256];
    p->told = clock_ms();
    snprintf(line, sizeof line, "%d of %d: %s%s%s", p->i, p->n, step ? step : "", step ? ": " : "", p->problem);
    if (p->terminal)
        fprintf(stderr, "\r%-*.*s", COLUMNS, COLUMNS, line);
    else
        fprintf(stderr, "clattn-bench: %s\n", line);
    p->shown = p->terminal;
    fflush(stderr);
}

/* One problem alone is what the user has typed. */
void progress_problem(struct progress *p, const char *problem)
{
    p->problem = problem;
    if (!p->quiet && (p->terminal || p->n > 1))
        tell(p, NULL);
}

void progress_step(struct progress *p, const char *step)
{
    if (!p->quiet && clock_ms() - p->told >= (p->terminal ? OFTEN_MS : SELDOM_MS))
        tell(p, step);
}

void progress_round(struct progress *p, int round, int of)
{
    char step[64];
    snprintf(step, sizeof step, "round %d of %d", round, of);
    progress_step(p, step);
}
