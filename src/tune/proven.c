/* proven.c - the fastest configuration so far of which a search may say that it is faster than the control
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tune/proven.h"

#include <math.h>

bool proven_measured(struct finding *out, const struct entrant *c, const struct entrant *control)
{
    const int n = timing_rounds_samples(c);
    double off[SAMPLES];
    if (!n)
        return false;
    out->config = c->config;
    out->ratio = c->score;
    out->rounds = n;
    out->seconds = timing_rounds_median(c->seconds, n);
    out->control_seconds = timing_rounds_median(control->seconds, timing_rounds_samples(control));
    for (int i = 0; i < n; i++)
        off[i] = fabs(c->seconds[i] - out->seconds);
    out->mad = timing_rounds_median(off, n);
    return true;
}

static bool is_beating(const struct timing_rounds *r, const struct entrant *c)
{
    return c != r->control && c->state != ENTRANT_OUT && c->score > 0 && timing_rounds_beats(c, 1);
}

/* c: NULL or the control for none. */
static void set(struct timing_rounds *r, const struct entrant *c)
{
    const struct entrant *const before = r->proven;
    r->proven = c == r->control ? NULL : c;
    if (!r->proven)
        r->out->proven = (struct finding){ .rounds = 0 };
    else if (proven_measured(&r->out->proven, c, r->control))
        /* Rounds of the control go on when c is closed: only the ratio is of the same time. */
        r->out->proven.control_seconds = r->out->proven.seconds / c->score;
    if (r->proven != before && r->control)
        timing_rounds_tell(r, CLATTN_STEP_BEST, r->proven ? &c->config : &r->control->config, "");
}

void proven_update(struct timing_rounds *r)
{
    const struct entrant *best = r->proven && is_beating(r, r->proven) ? r->proven : NULL;
    const double enough = best ? 0.97 * best->score : INFINITY;
    const struct entrant *fastest = NULL;
    if (!r->control || r->untimed)
        best = NULL;
    else if (timing_rounds_is_decided(r->control, 1) && !timing_rounds_is_noisy(r->control))
        for (const struct entrant *c = r->at; c < r->at + r->count; c++)
            if (is_beating(r, c) && c->score <= enough && (!fastest || c->score < fastest->score))
                fastest = c;
    if (!r->out->cancelled)
        set(r, fastest ? fastest : best);
}

void proven_decide(struct timing_rounds *r, const struct entrant *best)
{
    set(r, best);
}
