/* timing_rounds.c - the half of the search that measures: times configurations in rounds beside a control. Knows no
 * device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tune/timing_rounds.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Time and words ---- */

double timing_rounds_elapsed(const struct timing_rounds *r)
{
    return r->ops->now(r->ops->user) - r->began;
}

bool timing_rounds_used(const struct timing_rounds *r, double part)
{
    const double limit = r->o->seconds;
    return limit != 0 && !(timing_rounds_elapsed(r) < part * limit);
}

bool timing_rounds_is_over(const struct timing_rounds *r)
{
    return r->out->cancelled || r->untimed || !r->control || timing_rounds_used(r, 1);
}

const struct entrant *timing_rounds_best(const struct timing_rounds *r)
{
    const struct entrant *best = r->control;
    for (const struct entrant *c = r->at; c < r->at + r->count; c++)
        if (c->score > 0 && best && c->score < best->score)
            best = c;
    return best;
}

void timing_rounds_tell(struct timing_rounds *r, int step, const struct config *config, const char *words)
{
    const struct entrant *const best = timing_rounds_best(r);
    const struct finding *const proven = &r->out->proven;
    char text[256], proven_text[256] = "";
    struct text to = { text, sizeof text, 0 }, to_proven = { proven_text, sizeof proven_text, 0 };
    if (!r->ops->report || r->out->cancelled)
        return;
    tile_config_print(config, &to);
    if (proven->rounds)
        tile_config_print(&proven->config, &to_proven);
    const clattn_progress now = {
        .struct_size = sizeof now,
        .class_text = r->o->class_text,
        .config = text,
        .words = words,
        .step = step,
        .opened = r->out->trials,
        .round = r->rounds,
        .seconds = timing_rounds_elapsed(r),
        .limit = r->o->seconds,
        .ratio = best ? best->score : 0,
        .best = proven_text,
        .best_ratio = proven->ratio,
    };
    r->out->cancelled = !r->ops->report(r->ops->user, &now);
}

/* ---- What is open ---- */

int timing_rounds_list(const struct timing_rounds *r, struct entrant *list[OPEN_MAX])
{
    int n = 0;
    for (int i = 0; i < r->count && n < OPEN_MAX; i++)
        if (r->at[i].state == ENTRANT_OPEN)
            list[n++] = &r->at[i];
    return n;
}

void timing_rounds_close(struct timing_rounds *r, struct entrant *c)
{
    c->state = ENTRANT_CLOSED;
    r->ops->close(r->ops->user, &c->config);
}

static void refuse(struct timing_rounds *r, struct entrant *c, const char *words)
{
    timing_rounds_close(r, c);
    c->state = ENTRANT_OUT;
    c->score = 0;
    if (c == r->proven || c == r->control) {
        r->proven = NULL;
        r->out->proven.rounds = 0;
        r->out->proven.ratio = 0;
    }
    r->out->refused++;
    timing_rounds_tell(r, CLATTN_STEP_REFUSED, &c->config, words);
}

static void take_control(struct timing_rounds *r, struct entrant *c)
{
    r->control = c;
    r->out->best = c->config;
}

void timing_rounds_open(struct timing_rounds *r, struct entrant *c)
{
    struct why why = { "" };
    timing_rounds_tell(r, CLATTN_STEP_BUILD, &c->config, "");
    if (r->out->cancelled)
        return;
    r->out->trials++;
    const cl_int status = r->ops->open(r->ops->user, &c->config, &why);
    if (status == CLATTN_ERROR_CANCELLED) {
        timing_rounds_close(r, c);
        r->out->cancelled = true;
        return;
    }
    if (status) {
        refuse(r, c, why.text);
        return;
    }
    c->state = ENTRANT_OPEN;
    if (!r->control)
        take_control(r, c);
    timing_rounds_tell(r, CLATTN_STEP_READY, &c->config, "");
}

/* The control cannot run any more: the first configuration that is open replaces it, and all comparisons with it are
 * discarded. */
static void replace_control(struct timing_rounds *r)
{
    struct entrant *list[OPEN_MAX];
    r->control = NULL;
    r->out->best = r->o->control;
    if (timing_rounds_list(r, list))
        take_control(r, list[0]);
    for (struct entrant *c = r->at; c < r->at + r->count; c++) {
        c->n = 0;
        c->score = 0;
    }
}

void timing_rounds_keep(struct timing_rounds *r, int n)
{
    struct entrant *list[OPEN_MAX];
    const int open = timing_rounds_list(r, list);
    for (int i = 0; i < open; i++) {
        int better = 0;
        for (int j = 0; j < open; j++)
            better += list[j] != r->control && list[j]->score > 0 &&
                      (list[j]->score < list[i]->score || (j < i && list[j]->score <= list[i]->score));
        if (list[i] != r->control && (better >= n || !(list[i]->score > 0)))
            timing_rounds_close(r, list[i]);
    }
}

/* ---- Rounds ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Takes the lower one of two middle values: of two samples the one that was disturbed less. */
double timing_rounds_median(const double *x, int n)
{
    double sorted[SAMPLES];
    memcpy(sorted, x, (size_t)n * sizeof *x);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    return sorted[(n - 1) / 2];
}

int timing_rounds_samples(const struct entrant *c)
{
    return c->n < SAMPLES ? c->n : SAMPLES;
}

static bool run_one(struct timing_rounds *r, struct entrant *c, double *seconds)
{
    struct why why;
    *seconds = 0;
    const cl_int status = r->ops->run(r->ops->user, &c->config, seconds);
    if (!status && *seconds > 0 && isfinite(*seconds)) {
        r->ran = true;
        return true;
    }
    if (status == CLATTN_ERROR_CANCELLED) { /* which says nothing about c */
        r->out->cancelled = true;
        return false;
    }
    if (status)
        why_set(&why, status, "a call failed: %s", clattn_status_string(status));
    else
        why_set(&why, status, "the time of a call is given as %g s", *seconds);
    refuse(r, c, why.text);
    if (c == r->control && status)
        replace_control(r);
    else if (c == r->control)
        r->untimed = true; /* it runs, so it stays the choice */
    return false;
}

void timing_rounds_warm_up(struct timing_rounds *r)
{
    enum { AGREE = 3, CALLS_MOST = 32 };
    double last[AGREE] = { 0 }, sum = 0;
    for (int i = 0; i < CALLS_MOST && sum < 0.150 && !timing_rounds_is_over(r); i++) {
        if (!run_one(r, r->control, &last[i % AGREE]))
            return;
        sum += last[i % AGREE];
        double low = last[0], high = last[0];
        for (int k = 1; k < AGREE; k++) {
            low = fmin(low, last[k]);
            high = fmax(high, last[k]);
        }
        if (high <= 1.03 * low) /* never with fewer than three calls: low is 0 then */
            return;
    }
}

/* The first call of a configuration is not counted: caches may be cold, or the driver may compile late. */
static void count(struct entrant *c, double seconds, double ratio)
{
    if (c->ran) {
        c->seconds[c->n % SAMPLES] = seconds;
        c->ratio[c->n++ % SAMPLES] = ratio;
        c->score = timing_rounds_median(c->ratio, timing_rounds_samples(c));
    } else {
        c->first = ratio;
    }
    c->ran = true;
}

static bool is_hopeless(const struct entrant *c)
{
    return c->first > HOPELESS && c->score > HOPELESS;
}

void timing_rounds_round(struct timing_rounds *r)
{
    struct entrant *list[OPEN_MAX], *const control = r->control;
    double seconds[OPEN_MAX], base = 0;
    const int n = timing_rounds_list(r, list);
    for (int i = 0; i < n; i++) {
        const int at = (i + r->rounds) % n;
        if (timing_rounds_is_over(r))
            return;
        if (!run_one(r, list[at], &seconds[at]) && list[at] == control)
            return;
        if (list[at] == control)
            base = seconds[at];
    }
    if (r->out->cancelled)
        return;
    r->rounds++;
    for (int i = 0; i < n; i++) {
        if (list[i]->state != ENTRANT_OPEN)
            continue;
        count(list[i], seconds[i], seconds[i] / base);
        r->compared = r->compared || (list[i] != control && list[i]->n);
        if (is_hopeless(list[i]))
            timing_rounds_close(r, list[i]);
    }
    timing_rounds_tell(r, CLATTN_STEP_ROUND, &timing_rounds_best(r)->config, "");
}

double timing_rounds_round_seconds(const struct timing_rounds *r)
{
    struct entrant *list[OPEN_MAX];
    double sum = 0;
    for (int i = timing_rounds_list(r, list); i--;)
        if (list[i]->n)
            sum += timing_rounds_median(list[i]->seconds, timing_rounds_samples(list[i]));
    return sum;
}

/* ---- What a final says ---- */

/* The mean without the smallest and the largest value. */
static double mean(const double *x, int n)
{
    double sum = 0, low = INFINITY, high = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i];
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    return n > 2 ? (sum - low - high) / (n - 2) : sum / n;
}

bool timing_rounds_is_noisy(const struct entrant *control)
{
    const int n = timing_rounds_samples(control), half = n / 2;
    const double *const x = control->seconds, middle = timing_rounds_median(x, n);
    double off[SAMPLES];
    for (int i = 0; i < n; i++)
        off[i] = fabs(x[i] - middle);
    return timing_rounds_median(off, n) > 0.05 * middle ||
           fabs(mean(x + n - half, half) - mean(x, half)) > 0.10 * middle;
}

bool timing_rounds_is_decided(const struct entrant *control, int passes)
{
    return timing_rounds_samples(control) / passes >= LEAST_ROUNDS;
}

/* A challenger must be 3 % faster in the median and win eight of nine rounds; with fewer rounds, all of them. A round
 * is decided by the median of its passes. One lost round of nine is allowed because, with a single pass, one call that
 * another program interrupts would hide any gain. By chance alone eight of nine rounds are won one time in fifty, and
 * then the median has to be 3 % lower as well. */
bool timing_rounds_beats(const struct entrant *c, int passes)
{
    const int rounds = timing_rounds_samples(c) / passes;
    int won = 0;
    for (int i = 0; i < rounds; i++)
        won += timing_rounds_median(c->ratio + i * passes, passes) < 1;
    return rounds >= LEAST_ROUNDS && c->score <= 0.97 && won >= rounds - rounds / 9;
}
