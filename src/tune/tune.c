/* tune.c - searches on the device: once for a class, inside a plan's making or on demand
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tune/tune.h"
#include "base/text.h"
#include "base/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What the search calls ---- */

/* A search under way. */
enum { OPEN_MOST = 16 };
struct under_way {
    struct maker *maker;
    const struct class *class;
    const struct tune_request *request;
    struct candidate_inputs inputs;
    struct candidate candidates[OPEN_MOST];
    bool used[OPEN_MOST];
    struct won { /* what was checked on the timed shape, and whether it was right */
        bool is_checked;
        struct config config;
        cl_int status;
        struct why why;
    } won;
};

static void print_config(char *to, size_t room, const struct config *config)
{
    struct text t = { to, room, 0 };
    tile_config_print(config, &t);
}

/* The key under which a crash of this candidate is remembered. */
static void poison_key(char key[DIGEST_HEX], const struct under_way *u, const char *config)
{
    const struct record_device *by = &u->maker->lookup->by;
    unsigned char digest[DIGEST_BYTES];
    char text[1024];
    struct text t = { text, sizeof text, 0 };
    text_add(&t, "trial\n%s\n%s\n%s\n%s\n", by->device, by->driver, u->class->text, config);
    digest_of(digest, text, strlen(text));
    digest_hex(key, digest);
}

static struct candidate *find_candidate(struct under_way *u, const struct config *config)
{
    for (int i = 0; i < OPEN_MOST; i++)
        if (u->used[i] && tile_is_same(&u->candidates[i].config, config))
            return &u->candidates[i];
    return NULL;
}

static struct candidate *take_place(struct under_way *u, const struct config *config)
{
    int i = 0;
    while (i < OPEN_MOST && u->used[i])
        i++;
    if (i == OPEN_MOST)
        return NULL;
    u->used[i] = true;
    memset(&u->candidates[i], 0, sizeof u->candidates[i]);
    u->candidates[i].config = *config;
    return &u->candidates[i];
}

/* The candidate hung or crashed in another process: it is poisoned as if that process had left a mark. */
static void remember_crash(struct under_way *u, const char *key)
{
    char name[STORE_NAME_MAX];
    const int n = snprintf(name, sizeof name, "poisoned/%s", key);
    if (n > 0 && (size_t)n < sizeof name)
        (void)store_write(&u->maker->store, name, "1", 1, false);
}

static cl_int open_elsewhere(struct under_way *u, const char *text, const char *key, struct why *why)
{
    const clattn_measure *m = u->request->measure;
    const cl_int status = m->open(m->user, text);
    if (status == CLATTN_ERROR_CRASHED)
        remember_crash(u, key);
    return status ? why_set(why, status, "%s", clattn_status_string(status)) : CL_SUCCESS;
}

static cl_int open_here(struct under_way *u, struct candidate *c, const char *key, struct why *why)
{
    const struct config config = c->config;
    crash_guard_mark(&u->maker->store, key);
    const cl_int status = candidate_open(c, &u->inputs, &config, why);
    crash_guard_unmark(&u->maker->store, key);
    return status;
}

static cl_int on_open(void *user, const struct config *config, struct why *why)
{
    struct under_way *u = user;
    char key[DIGEST_HEX], text[CONFIG_MAX];
    print_config(text, sizeof text, config);
    poison_key(key, u, text);
    if (crash_guard_is_poisoned(&u->maker->store, key))
        return why_set(why, CLATTN_ERROR_CRASHED, "it crashed or hung here before");
    struct candidate *const c = take_place(u, config);
    if (!c)
        return why_set(why, CL_OUT_OF_RESOURCES, "too many configurations are open");
    return u->request->measure ? open_elsewhere(u, text, key, why) : open_here(u, c, key, why);
}

static cl_int on_run(void *user, const struct config *config, double *seconds)
{
    struct under_way *u = user;
    const clattn_measure *m = u->request->measure;
    struct candidate *const c = find_candidate(u, config);
    char key[DIGEST_HEX], text[CONFIG_MAX];
    struct why why;
    if (!c || !m)
        return c ? candidate_run(c, &u->inputs, seconds, &why) : CL_INVALID_VALUE;
    print_config(text, sizeof text, config);
    const cl_int status = m->run(m->user, text, seconds);
    if (status == CLATTN_ERROR_CRASHED) {
        poison_key(key, u, text);
        remember_crash(u, key);
    }
    return status;
}

/* A configuration that on_open() refused by itself was never opened and needs no close. */
static void on_close(void *user, const struct config *config)
{
    struct under_way *u = user;
    const clattn_measure *m = u->request->measure;
    struct candidate *const c = find_candidate(u, config);
    char text[CONFIG_MAX];
    if (!c)
        return;
    print_config(text, sizeof text, config);
    if (m && m->close)
        m->close(m->user, text);
    else if (!m)
        candidate_close(c);
    u->used[c - u->candidates] = false;
}

static double on_now(void *user)
{
    (void)user;
    return device_sample_now();
}

static bool on_told(void *user, const clattn_progress *progress)
{
    struct under_way *u = user;
    return !u->request->progress || !u->request->progress(u->request->progress_user, progress);
}

static void on_won(void *user, const struct config *config)
{
    struct under_way *u = user;
    struct candidate *const c = find_candidate(u, config);
    if (!c || u->request->measure)
        return;
    u->won = (struct won){ .is_checked = true, .config = *config };
    u->won.status = candidate_check(c, &u->inputs, &u->won.why);
}

/* ---- After it ---- */

static void save(struct under_way *u, const struct search_result *found, int tries)
{
    struct record r;
    memset(&r, 0, sizeof r);
    r.by = u->maker->lookup->by;
    memcpy(r.class_text, u->class->text, sizeof r.class_text);
    print_config(r.config, sizeof r.config, &found->best);
    r.time_ns = found->seconds * 1e9;
    r.mad_ns = found->mad * 1e9;
    r.control_ns = found->control_seconds * 1e9;
    r.rounds = found->rounds;
    r.trials = found->trials;
    r.effort = found->kept ? CLATTN_TUNE_QUICK : u->request->effort; /* it did not get as far as that */
    r.tries = found->noisy || !found->measured || found->kept ? tries + 1 : 0;
    r.date = (int64_t)time(NULL);
    struct text lib = { r.lib, sizeof r.lib, 0 };
    text_add(&lib, "%s", version_text);
    if (wisdom_put(&u->maker->store, &r))
        maker_count(&u->maker->counters.record_saves);
    if (!found->kept)
        wisdom_unnote(&u->maker->store, &u->maker->lookup->by, u->class->text);
}

/* Checks a configuration as a candidate is, on the timed shape too. It is too large for the stack of a small thread, as
 * kernels are below. */
static cl_int check_again(struct candidate_inputs *inputs, const struct config *config, struct why *why)
{
    struct candidate *const trial = malloc(sizeof *trial);
    if (!trial)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a configuration");
    cl_int status = candidate_open(trial, inputs, config, why);
    if (!status)
        status = candidate_check(trial, inputs, why);
    candidate_close(trial);
    free(trial);
    return status;
}

/* Builds its programs to be kept. */
static cl_int build_again(struct maker *maker, const clattn_problem *p, const struct config *config, struct why *why)
{
    struct launch *const launch = malloc(sizeof *launch);
    int binary;
    if (!launch)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for kernels");
    const cl_int status = build_launch(launch, maker, p, config, false, &binary, why);
    if (!status)
        launch_clear(launch);
    free(launch);
    return status;
}

/* Both, of a winner. A plan does the latter itself. */
static cl_int confirm(struct under_way *u, const clattn_problem *p, const struct config *best, struct why *why)
{
    cl_int status = CL_SUCCESS;
    if (u->won.is_checked && tile_is_same(&u->won.config, best)) {
        status = u->won.status;
        *why = u->won.why;
    } else if (!u->request->measure) {
        status = check_again(&u->inputs, best, why);
    }
    return status || u->request->once ? status : build_again(u->maker, p, best, why);
}

static struct search_ops operations(struct under_way *u)
{
    return (struct search_ops){ u, on_open, on_run, on_close, on_now, on_told, on_won };
}

/* Nothing that was tried is right: falls back to the engine of last resort, if that is. */
static cl_int fall_back(struct config *out, struct under_way *u, const clattn_problem *p, struct why *why)
{
    const struct engine *const last = engine_last_resort(&u->maker->caps, p);
    cl_int status = why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "all configurations are refused");
    struct tile_cursor at = { 0 };
    while (status && !u->request->measure && tile_config_next(out, &u->maker->caps, p, last, &at))
        status = confirm(u, p, out, why);
    return status;
}

static cl_int search(struct config *out, bool *measured, struct under_way *u, const clattn_problem *p,
                     const struct known *known, struct why *why)
{
    const struct search_ops ops = operations(u);
    struct search_options o = { .effort = u->request->effort,
                                .seconds = u->request->seconds,
                                .class_text = u->class->text,
                                .keep = u->request->keep };
    struct search_result found;
    const int tries = known->near ? 0 : known->tries;
    cl_int status = CL_SUCCESS;
    const double began = device_sample_now();
    if (!(o.seconds > 0))
        o.seconds = settings_limit(o.effort);
    o.n_first = known->origin == CLATTN_ORIGIN_CACHED; /* of this class, or of a similar one */
    o.first = &known->config;
    if (p->n_aux)
        REFUSE("a problem with captured buffers cannot be measured: the library has no data for them");
    if (!tile_config_at(&o.control, &u->maker->caps, p, NULL, 0))
        REFUSE("no engine can run this here");
    if (!u->request->measure &&
        (status = candidate_inputs_open(&u->inputs, u->maker, p, &u->class->like.problem, why))) {
        candidate_inputs_close(&u->inputs);
        return status;
    }
    o.spent = device_sample_now() - began; /* on making buffers */
    search_run(&found, &ops, &o, &u->maker->caps, p);
    *measured = found.measured || found.control_refused;
    *out = found.best;
    if (found.cancelled)
        status = why_set(why, CLATTN_ERROR_CANCELLED, "cancelled");
    else if (found.all_refused)
        *measured = !(status = fall_back(out, u, p, why));
    else if (*measured && !(status = confirm(u, p, out, why)) && found.measured)
        save(u, &found, tries);
    else if (!*measured && u->request->once) {
        *measured = true; /* there was no time: the default is recorded until the search is due again, or each start
                           * would search */
        save(u, &found, tries);
    }
    candidate_inputs_close(&u->inputs);
    return status;
}

cl_int tune_search(struct config *out, bool *measured, struct maker *maker, const clattn_problem *p,
                   const struct class *class, const struct known *known, const struct tune_request *request,
                   struct why *why)
{
    struct under_way *u = calloc(1, sizeof *u);
    *measured = false;
    if (!u)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a search");
    u->maker = maker;
    u->class = class;
    u->request = request;
    maker_count(&maker->counters.searches);
    maker_log(maker, "measuring configurations for %s", class->text);
    const cl_int status = search(out, measured, u, p, known, why);
    if (!status && *measured)
        (void)config_lookup_set(maker, class, out, CLATTN_ORIGIN_TUNED); /* without memory it is as if nothing had
                                                                          * been measured, which is no failure */
    free(u);
    return status;
}

cl_int tune_verify(struct maker *maker, const clattn_problem *p, const struct class *class,
                   const struct config *config, struct why *why)
{
    struct candidate_inputs *const inputs = malloc(sizeof *inputs);
    if (!inputs)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a search");
    cl_int status = candidate_inputs_open(inputs, maker, p, &class->like.problem, why);
    if (!status)
        status = check_again(inputs, config, why);
    candidate_inputs_close(inputs);
    free(inputs);
    return status;
}

/* ---- For a plan ---- */

/* False for problems that cannot be measured, and in modes that do not measure. */
static bool may_search(const struct maker *maker, const clattn_problem *p)
{
    const int tune = maker->settings.tune;
    return !p->n_aux && (tune == CLATTN_TUNE_AUTO || tune == CLATTN_TUNE_QUICK || tune == CLATTN_TUNE_FULL);
}

/* Whether what is known is enough. A record of another driver is, for now. */
static bool is_enough(const struct known *known, int tune)
{
    if (known->origin == CLATTN_ORIGIN_SET || known->origin == CLATTN_ORIGIN_TUNED)
        return true;
    return known->origin == CLATTN_ORIGIN_CACHED && tune == CLATTN_TUNE_AUTO && !known->near && !known->due;
}

static void search_now(struct known *known, struct maker *maker, const clattn_problem *p, const struct class *class)
{
    const int tune = maker->settings.tune;
    const struct tune_request request = { tune == CLATTN_TUNE_FULL ? CLATTN_TUNE_FULL : CLATTN_TUNE_QUICK,
                                          maker->settings.seconds, maker->progress, maker->progress_user, NULL, true,
                                          false };
    struct config config;
    struct why why;
    bool measured;
    pthread_mutex_lock(&maker->lookup->searching);
    /* In the meantime another thread may have searched, or the caller may have said which it is to be. */
    if (!config_lookup_recall(known, maker, class, CLATTN_ORIGIN_SET) &&
        !config_lookup_recall(known, maker, class, CLATTN_ORIGIN_TUNED)) {
        const cl_int status = tune_search(&config, &measured, maker, p, class, known, &request, &why);
        if (status)
            maker_log(maker, "no configuration could be measured for %s: %s", class->text, why.text);
        else if (measured)
            *known = (struct known){ .config = config, .origin = CLATTN_ORIGIN_TUNED };
    }
    pthread_mutex_unlock(&maker->lookup->searching);
}

int tune_choose(struct config *config, struct maker *maker, const clattn_problem *p)
{
    const int tune = maker->settings.tune;
    struct class class;
    struct known known;
    config_lookup_class(&class, p);
    if (tune == CLATTN_TUNE_RECORD)
        wisdom_note(&maker->store, &maker->lookup->by, class.text);
    config_lookup_find(&known, maker, p, &class);
    if (known.stale && tune == CLATTN_TUNE_AUTO)
        wisdom_note(&maker->store, &maker->lookup->by, class.text);
    if (!is_enough(&known, tune) && may_search(maker, p))
        search_now(&known, maker, p, &class);
    if (known.origin != CLATTN_ORIGIN_DEFAULT)
        *config = known.config;
    return known.origin;
}
