/* search.c - the search for the fastest configuration: what is tried, for how long, and what wins. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/split.h"
#include "tune/proven.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIED_MAX = 64,   /* configurations opened in all, except by an exhaustive search */
    KNOWN_MAX = 128,  /* these, and rows that wait for the first row of their engine */
    ROWS_QUICK = 8,   /* rows of the table that a quick search tries */
    KEPT = 7,         /* configurations that stay open beside the control from batch to batch */
    FINALISTS = 3,    /* at most */
    CLIMB_BATCH = 4,  /* neighbours that are tried before the best is determined again */
    CLIMB_FROM = 12,  /* how many of the best may contribute neighbours */
    SCREEN_LEAST = 4, /* rounds of a batch; the first call of each is not counted */
    SCREEN_MOST = 8
};

struct search {
    struct timing_rounds timing;
    const struct caps *caps;
    const clattn_problem *p;
    int effort, room;
};

/* ---- What is tried ---- */

static bool is_known(const struct search *s, const struct config *config)
{
    const struct entrant *const end = s->timing.at + s->timing.count;
    for (const struct entrant *c = s->timing.at; c < end; c++)
        if (tile_is_same(&c->config, config))
            return true;
    return false;
}

static bool add(struct search *s, const struct config *config)
{
    if (s->timing.count == s->room || is_known(s, config))
        return false;
    s->timing.at[s->timing.count++].config = *config;
    return true;
}

/* As many parts of the keys as differ: a number of the call, so that nothing is compiled for it. */
static void add_waves(struct search *s, const struct config *of)
{
    struct config c;
    for (size_t i = 0; split_waves_at(&c, s->caps, s->p, of, i); i++)
        add(s, &c);
}

static void add_portfolio(struct search *s)
{
    const struct search_options *const o = s->timing.o;
    const int most = s->effort == CLATTN_TUNE_QUICK ? ROWS_QUICK : s->room;
    struct tile_cursor row = { 0 };
    struct config c;
    add(s, &o->control);
    add_waves(s, &o->control);
    for (size_t i = 0; i < o->n_first; i++)
        add(s, &o->first[i]);
    for (int rows = 0; rows < most && tile_config_next(&c, s->caps, s->p, NULL, &row);)
        if (tile_suits(&c, s->caps)) {
            add(s, &c);
            rows++;
        }
    if (s->effort != CLATTN_TUNE_EXHAUSTIVE)
        return;
    for (size_t at = 0; tile_space_next(&c, s->caps, s->p, o->control.engine, &at);)
        add(s, &c);
}

/* Of an engine other than the control's one row is tried first: if it is hopeless, so are the others. */
static bool is_due(const struct search *s, const struct entrant *c)
{
    const struct entrant *const end = s->timing.at + s->timing.count;
    bool tried = false;
    if (c->state != ENTRANT_WAITING)
        return false;
    if (s->effort == CLATTN_TUNE_EXHAUSTIVE || c->config.engine == s->timing.o->control.engine)
        return true;
    for (const struct entrant *x = s->timing.at; x < end; x++)
        if (x->config.engine == c->config.engine) {
            tried = tried || x->state == ENTRANT_OPEN || x->state == ENTRANT_CLOSED;
            if (x->score > 0 && x->score <= HOPELESS)
                return true;
        }
    return !tried;
}

/* Returns the next best one after `last`; `last` NULL: the best. */
static const struct entrant *next_best(const struct search *s, const struct entrant *last)
{
    const struct entrant *best = NULL, *const end = s->timing.at + s->timing.count;
    for (const struct entrant *c = s->timing.at; c < end; c++)
        if (c->score > 0 && (!last || c->score > last->score || (c->score == last->score && c > last)) &&
            (!best || c->score < best->score))
            best = c;
    return best;
}

/* The score to be expected of a neighbour of what was measured: between its best neighbour and the mean of all of
 * them. */
static double expected(const struct search *s, const struct config *config)
{
    const struct entrant *const end = s->timing.at + s->timing.count;
    double sum = 0, best = INFINITY;
    int n = 0;
    for (const struct entrant *c = s->timing.at; c < end; c++)
        if (c->score > 0 && tile_is_neighbour(&c->config, config)) {
            sum += c->score;
            best = fmin(best, c->score);
            n++;
        }
    return n ? (best + sum / n) / 2 : INFINITY;
}

struct pick {
    struct config config;
    double score; /* expected */
};

/* Inserts x among the CLIMB_BATCH best picks; returns how many there are. */
static int offer(struct pick *picks, int n, const struct pick *x)
{
    int at = n;
    for (int i = 0; i < n; i++)
        if (tile_is_same(&picks[i].config, &x->config))
            return n;
    while (at > 0 && x->score < picks[at - 1].score)
        at--;
    if (at == CLIMB_BATCH)
        return n;
    n += n < CLIMB_BATCH;
    memmove(picks + at + 1, picks + at, (size_t)(n - 1 - at) * sizeof *picks);
    picks[at] = *x;
    return n;
}

/* Adds the most promising untried neighbours of the best. The model only orders them; it excludes none. */
static void climb(struct search *s)
{
    const struct entrant *from = NULL;
    struct pick picks[CLIMB_BATCH], x;
    int n = 0;
    for (int expanded = 0; expanded < CLIMB_FROM && (from = next_best(s, from));) {
        bool left = false;
        for (size_t i = 0; tile_neighbour_at(&x.config, s->caps, s->p, &from->config, i); i++)
            if (!is_known(s, &x.config)) {
                x.score = expected(s, &x.config);
                n = offer(picks, n, &x);
                left = true;
            }
        expanded += left;
    }
    for (int i = 0; i < n; i++)
        add(s, &picks[i].config);
}

/* ---- In which order, and for how long ---- */

static int count_due(const struct search *s)
{
    int n = 0;
    for (int i = 0; i < s->timing.count; i++)
        n += is_due(s, &s->timing.at[i]);
    return n;
}

static bool may_build(const struct search *s)
{
    const double part = s->effort == CLATTN_TUNE_QUICK || !s->timing.control ? 0.5 : 0.8;
    return !s->timing.out->cancelled && !timing_rounds_used(&s->timing, part) &&
           (s->effort == CLATTN_TUNE_EXHAUSTIVE || s->timing.out->trials < TRIED_MAX);
}

/* Returns false when nothing is left to try, or no time. */
static bool open_batch(struct search *s)
{
    struct entrant *list[OPEN_MAX];
    const int before = s->timing.out->trials;
    const struct entrant *const best = timing_rounds_best(&s->timing);
    if (best && !count_due(s))
        add_waves(s, &best->config);
    if (s->effort == CLATTN_TUNE_FULL && !count_due(s))
        climb(s);
    for (struct entrant *c = s->timing.at; c < s->timing.at + s->timing.count && may_build(s); c++)
        if (is_due(s, c)) {
            if (timing_rounds_list(&s->timing, list) == OPEN_MAX)
                break;
            timing_rounds_open(&s->timing, c);
        }
    return s->timing.out->trials > before;
}

static double seconds_left(const struct search *s)
{
    const double limit = s->timing.o->seconds;
    return limit != 0 ? limit - timing_rounds_elapsed(&s->timing) : INFINITY;
}

/* Runs rounds for a batch that took `built` seconds to build: no longer than that, and leaving time for the final. */
static void screen(struct search *s, double built)
{
    timing_rounds_warm_up(&s->timing);
    const double began = timing_rounds_elapsed(&s->timing), most = seconds_left(s) / 2;
    for (int i = 0; i < SCREEN_MOST && !timing_rounds_is_over(&s->timing); i++) {
        const double took = timing_rounds_elapsed(&s->timing) - began;
        if ((i >= 2 && took >= most) || (i >= SCREEN_LEAST && took >= built))
            break;
        timing_rounds_round(&s->timing);
        proven_update(&s->timing);
    }
    timing_rounds_keep(&s->timing, KEPT);
}

/* ---- What wins ---- */

static void note(struct search_result *out, const struct finding *f)
{
    out->best = f->config;
    out->measured = true;
    out->rounds = f->rounds;
    out->seconds = f->seconds;
    out->control_seconds = f->control_seconds;
    out->mad = f->mad;
}

/* The same of an entrant, where something was measured. */
static void note_entrant(struct search_result *out, const struct entrant *c, const struct entrant *control)
{
    struct finding f;
    if (proven_measured(&f, c, control))
        note(out, &f);
}

static const struct entrant *winner(const struct search *s, int passes)
{
    const struct entrant *best = s->timing.control;
    struct entrant *list[OPEN_MAX];
    const int n = timing_rounds_list(&s->timing, list);
    for (int i = 0; i < n; i++)
        if (list[i] != s->timing.control && timing_rounds_beats(list[i], passes) &&
            (best == s->timing.control || list[i]->score < best->score))
            best = list[i];
    return best;
}

static bool fits(const struct search *s, int rounds)
{
    return rounds * timing_rounds_round_seconds(&s->timing) <= seconds_left(s);
}

/* How many calls of each finalist a round has: as many as there is time for, with `later` more to come. */
static int count_passes(const struct search *s, int most, int later)
{
    int passes = most;
    while (passes > 1 && !fits(s, (passes + later) * FINAL_ROUNDS))
        passes -= 2;
    return passes;
}

static void run_final(struct search *s, int passes)
{
    struct timing_rounds *const r = &s->timing;
    timing_rounds_warm_up(r);
    for (int i = 0; i < r->count; i++)
        r->at[i].n = 0;
    for (int i = 0; i < passes * FINAL_ROUNDS && !timing_rounds_is_over(r); i++)
        timing_rounds_round(r);
}

/* Repeats the final once where the control's times show that the machine was not quiet. The second one is shorter,
 * because the machine may have changed its speed for good, or may be about to change it again. */
static void final(struct search *s)
{
    struct timing_rounds *const r = &s->timing;
    struct entrant *list[OPEN_MAX];
    for (int n = FINALISTS; n > 0; n--) {
        timing_rounds_keep(r, n);
        if (fits(s, 2 * FINAL_ROUNDS))
            break;
    }
    const struct entrant *best = r->control;
    note_entrant(r->out, best, r->control);
    for (int again = 0; again < 2 && timing_rounds_list(r, list) > 1; again++) {
        const int passes = again ? count_passes(s, PASSES_AGAIN, 0) : count_passes(s, PASSES_MAX, PASSES_AGAIN);
        run_final(s, passes);
        if (r->out->cancelled || r->untimed || !r->control)
            return;
        r->out->noisy = !timing_rounds_is_decided(r->control, passes) || timing_rounds_is_noisy(r->control);
        best = r->out->noisy ? r->control : winner(s, passes);
        note_entrant(r->out, best, r->control);
        if (!r->out->noisy)
            break;
    }
    proven_decide(r, best);
}

/* ---- The whole ---- */

/* Where there was a choice. */
static void tell_winner(const struct search *s)
{
    const struct timing_rounds *const r = &s->timing;
    if (!r->ops->won || r->out->cancelled || (!r->out->measured && !r->out->control_refused))
        return;
    for (int i = 0; i < r->count; i++)
        if (r->at[i].state == ENTRANT_OPEN && tile_is_same(&r->at[i].config, &r->out->best))
            r->ops->won(r->ops->user, &r->at[i].config);
}

static void search(struct search *s)
{
    struct timing_rounds *const r = &s->timing;
    add_portfolio(s);
    timing_rounds_open(r, &r->at[0]);
    if (!timing_rounds_used(r, 0.5))
        for (double began = 0; open_batch(s); began = timing_rounds_elapsed(r))
            screen(s, timing_rounds_elapsed(r) - began);
    if (r->compared && r->control && !r->untimed && !r->out->cancelled)
        final(s);
    r->out->control_refused = r->control && r->control != r->at;
    tell_winner(s);
    for (int i = 0; i < r->count; i++)
        if (r->at[i].state == ENTRANT_OPEN)
            timing_rounds_close(r, &r->at[i]);
    r->out->all_refused = r->out->refused && !r->control && !r->ran;
}

/* How many configurations may have to be held. */
static int count_room(const struct search_options *o, const struct caps *caps, const clattn_problem *p)
{
    struct config c;
    int n = 0;
    for (size_t at = 0; o->effort == CLATTN_TUNE_EXHAUSTIVE && tile_space_next(&c, caps, p, o->control.engine, &at);)
        n++;
    return KNOWN_MAX + n;
}

void search_run(struct search_result *out, const struct search_ops *ops, const struct search_options *o,
                const struct caps *caps, const clattn_problem *p)
{
    struct search s = { .timing = { .ops = ops, .o = o, .out = out, .began = ops->now(ops->user) - o->spent },
                        .caps = caps, .p = p, .effort = o->effort, .room = count_room(o, caps, p) };
    memset(out, 0, sizeof *out);
    out->best = o->control;
    if (!(s.timing.at = calloc((size_t)s.room, sizeof *s.timing.at)))
        return;
    search(&s);
    timing_rounds_tell(&s.timing, CLATTN_STEP_DONE, &out->best, "");
    if (out->cancelled && o->keep && out->proven.rounds) {
        note(out, &out->proven);
        out->cancelled = false;
        out->kept = true;
    }
    free(s.timing.at);
}
