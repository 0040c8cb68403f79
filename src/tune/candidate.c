/* candidate.c - configurations checked and timed on buffers of the library's own
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tune/candidate.h"

#include "judge/judge.h"

#include <math.h>
#include <string.h>

/* A call should take long enough to stand out from its overhead, and not so long that a display freezes. */
static const double call_most = 0.1, call_limit = 0.2;
/* Multiplications and additions of a timed call, for each compute unit. */
static const double work_most = 2.5e8;
enum { HOPELESS = 8 }; /* times what the first configuration takes: with call_limit, not worth waiting for */
enum { BYTES_MOST = 256 << 20, BYTES_COLD = 64 << 20 };

/* ---- Sizes ---- */

static double work_of(const clattn_problem *p)
{
    const clattn_sizes *z = &p->sizes;
    return 2.0 * (double)z->b * (double)z->h * (double)z->nq * (double)z->nk * (p->d + p->dv);
}

static double bytes_of(const clattn_problem *p)
{
    const clattn_sizes *z = &p->sizes;
    const double q = (double)z->h * (double)z->nq *
                     (p->d * (double)problem_type_size(p->type) + p->dv * (double)problem_type_size(p->o_type));
    const double k = (double)z->hk * (double)z->nk * (problem_k_row_bytes(p) + problem_v_row_bytes(p));
    return q + k + (double)z->nq * (double)z->nk * (p->bias_type ? 4 : 1);
}

/* Halves the sizes one after the other, heads, then queries, then keys, as long as every compute unit keeps something
 * to do. */
static bool halve(clattn_problem *p, const struct caps *caps)
{
    clattn_sizes *z = &p->sizes;
    enum { ROWS = 64, KEYS = 512 }; /* about as many rows as a tile has */
    if (z->hk > 1 && (double)z->h * (double)z->nq >= 4.0 * ROWS * caps->compute_units) {
        z->h = z->h / z->hk * ((z->hk + 1) / 2);
        z->hk = (z->hk + 1) / 2;
    } else if (z->nq >= 4 * ROWS) {
        z->nq /= 2;
    } else if (z->nk >= 2 * KEYS) {
        z->nk /= 2;
    } else if (z->hk > 1) {
        z->h = z->h / z->hk * ((z->hk + 1) / 2);
        z->hk = (z->hk + 1) / 2;
    } else {
        return false;
    }
    sample_set_totals(p);
    return true;
}

/* Where few queries read all keys, the keys come from memory, not from a cache: several copies of them. */
static int64_t copies_of(const clattn_problem *p, const struct caps *caps)
{
    enum { FEW = 16 };
    const double need = caps->cache_bytes ? fmin(2.0 * (double)caps->cache_bytes, BYTES_COLD) : BYTES_COLD;
    const double k = (double)p->sizes.hk * (double)p->sizes.nk * (problem_k_row_bytes(p) + problem_v_row_bytes(p));
    return p->sizes.nq > FEW || k >= need ? 1 : (int64_t)(need / k) + 1;
}

static cl_int open_timed(struct candidate_inputs *g, const clattn_problem *like, struct why *why)
{
    const struct caps *caps = &g->maker->caps;
    struct sample sample = { .p = g->problem, .seed = 1 };
    sample.p.sizes = like->sizes;
    sample_set_totals(&sample.p);
    while ((work_of(&sample.p) > work_most * caps->compute_units || bytes_of(&sample.p) > BYTES_MOST) &&
           halve(&sample.p, caps))
        ;
    g->whole = work_of(like) / work_of(&sample.p);
    return device_sample_open(&g->timed, g->maker->context, g->maker->device, &sample, false,
                              copies_of(&sample.p, caps), why);
}

/* Ragged shapes: more than a tile, single rows, and more queries than keys, so that some rows see nothing. */
static cl_int open_checks(struct candidate_inputs *g, const clattn_problem *like, struct why *why)
{
    enum { WIDE = 256 };
    const int64_t ratio = like->sizes.h / like->sizes.hk, h = ratio > 1 ? ratio : 2;
    const int64_t q = g->problem.d > WIDE ? 67 : 131;
    const clattn_sizes sizes[CHECKS] = { { 1, h > 4 ? 4 : h, 0, q, 133, 0, 0, 0 },
                                         { 2, 1, 1, 1, 1, 0, 0, 0 },
                                         { 2, 2, 2, 19, 7, 0, 0, 0 } };
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < CHECKS && !status; i++) {
        struct sample sample = { .p = g->problem, .seed = (uint32_t)(i + 2), .ragged = true };
        sample.p.sizes = sizes[i];
        if (!sizes[i].hk)
            sample.p.sizes.hk = ratio > 1 ? 1 : sizes[i].h;
        sample_set_totals(&sample.p);
        status = device_sample_open(&g->checks[i], g->maker->context, g->maker->device, &sample, true, 1, why);
    }
    return status;
}

cl_int candidate_inputs_open(struct candidate_inputs *g, struct maker *maker, const clattn_problem *p,
                             const clattn_problem *like, struct why *why)
{
    memset(g, 0, sizeof *g);
    g->maker = maker;
    g->problem = *p;
    if (p->n_aux)
        REFUSE("a problem with captured buffers cannot be measured: the library has no data for them");
    const cl_int status = open_checks(g, like, why);
    return status ? status : open_timed(g, like, why);
}

void candidate_inputs_close(struct candidate_inputs *g)
{
    for (int i = 0; i < CHECKS; i++)
        device_sample_close(&g->checks[i]);
    device_sample_close(&g->timed);
}

/* ---- Checking ---- */

cl_int candidate_check(struct candidate *t, struct candidate_inputs *g, struct why *why)
{
    return judge_sample(&g->timed, &t->launch, device_sample_step(&g->timed.sample), false, why);
}

/* ---- Timing ---- */

/* Whether the times of events agree with the host's clock over a few calls, and vary. Events are the better clock where
 * they can be believed, because they do not include the start of a call. */
static cl_int judge_events(struct candidate *t, struct candidate_inputs *g, struct why *why)
{
    enum { CALLS = 4 };
    double host = 0, device = 0, seconds, event, first = 0;
    bool differ = false, some = true;
    for (int i = 0; i < CALLS; i++) {
        const cl_int status = device_sample_run(&g->timed, &t->launch, 0, &seconds, &event, why);
        if (status)
            return status;
        host += seconds;
        device += event;
        some = some && event > 0;
        first = i ? first : event;
        differ = differ || (event < first || event > first);
    }
    g->trusts_events = some && differ && device <= host * 1.02 && device >= host / 2;
    return CL_SUCCESS;
}

/* A device may be slower than its compute units suggest, so calls are made smaller until they take a reasonable time.
 * The first call of every configuration has a few rows only, so that nobody waits for a hopeless one. */
static cl_int estimate(struct candidate *t, struct candidate_inputs *g, double *seconds, struct why *why)
{
    const int64_t nq = g->timed.sample.p.sizes.nq, part = nq / 16 > 1 ? nq / 16 : 1;
    double device, again;
    cl_int status = device_sample_run(&g->timed, &t->launch, part, seconds, &device, why);
    if (!status && !(status = device_sample_run(&g->timed, &t->launch, part, &again, &device, why)))
        *seconds = fmin(*seconds, again) * (double)nq / (double)part;
    return status;
}

static cl_int resize(struct candidate_inputs *g, double seconds, struct why *why)
{
    struct sample sample = g->timed.sample;
    const double before = work_of(&sample.p);
    while (seconds > call_most && halve(&sample.p, &g->maker->caps))
        seconds /= 2;
    const double after = work_of(&sample.p);
    if (after >= before)
        return CL_SUCCESS;
    g->whole *= before / after;
    device_sample_close(&g->timed);
    return device_sample_open(&g->timed, g->maker->context, g->maker->device, &sample, false,
                    copies_of(&sample.p, &g->maker->caps), why);
}

static cl_int first_runs(struct candidate *t, struct candidate_inputs *g, struct why *why)
{
    double seconds;
    cl_int status = estimate(t, g, &seconds, why);
    if (status)
        return status;
    if (!g->sized) {
        if ((status = resize(g, seconds, why)) || (status = judge_events(t, g, why)))
            return status;
        g->sized = true;
        g->first = seconds;
    } else if (seconds > call_limit && seconds > HOPELESS * g->first) {
        REFUSE("it is too slow: a call takes %.1f s", seconds);
    }
    return CL_SUCCESS;
}

cl_int candidate_run(struct candidate *t, struct candidate_inputs *g, double *seconds, struct why *why)
{
    double host, device;
    const cl_int status = device_sample_run(&g->timed, &t->launch, 0, &host, &device, why);
    *seconds = (g->trusts_events ? device : host) * g->whole;
    return status;
}

/* ---- Opening ---- */

cl_int candidate_open(struct candidate *t, struct candidate_inputs *g, const struct config *config, struct why *why)
{
    int binary;
    cl_int status;
    memset(t, 0, sizeof *t);
    t->config = *config;
    maker_count(&g->maker->counters.trials);
    if (!(status = build_launch(&t->launch, g->maker, &g->problem, config, true, &binary, why))) {
        t->made = true;
        for (int i = 0; i < CHECKS && !status; i++)
            status = judge_sample(&g->checks[i], &t->launch, 1, true, why);
        if (!status)
            status = first_runs(t, g, why);
    }
    if (status)
        maker_count(&g->maker->counters.trials_refused);
    return status;
}

void candidate_close(struct candidate *t)
{
    if (t->made)
        launch_clear(&t->launch);
    t->made = false;
}
