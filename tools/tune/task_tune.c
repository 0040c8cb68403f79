/* task_tune.c - clattn-tune's main task: class after class
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/tasks.h"

#include "tools/tune/classes.h"
#include "tools/system/clock.h"
#include "tools/tune/isolated.h"
#include "tools/system/files.h"
#include "tools/tune/named.h"
#include "tools/tune/records.h"
#include "tools/tune/tune_report.h"

#include <string.h>

struct run {
    struct tuner *tuner;
    struct isolated isolated;
    struct tune_report report;
    struct records records;   /* as they were when the run began, then anew after each class */
    char driver[1024], platform[1024];
    double end;               /* clock_ms() when --total is up; 0: never */
    int opened, refused;      /* of the class under way */
    char trouble[1024];       /* why records could not be kept, or "" */
};

/* ---- What is to be done ---- */

static void ask_driver(struct run *r)
{
    const struct opencl *where = &r->tuner->where;
    cl_platform_id platform;
    if (clGetDeviceInfo(where->device, CL_DRIVER_VERSION, sizeof r->driver - 1, r->driver, NULL) != CL_SUCCESS)
        r->driver[0] = '\0';
    if (clGetDeviceInfo(where->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS
        || clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof r->platform - 1, r->platform, NULL) != CL_SUCCESS)
        r->platform[0] = '\0';
}

/* A record names its driver by several versions; these two tell most. Long ones are cut there. */
static int is_of_driver(const struct run *r, const struct record *record)
{
    enum { CUT = 127, ALL_CUT = 250 };
    const size_t n = strnlen(r->driver, CUT);
    return strncmp(record->driver, r->driver, n) == 0
        && (strlen(record->driver) >= ALL_CUT || strlen(r->platform) > CUT || strstr(record->driver, r->platform));
}

static const struct record *tuned_before(const struct run *r, const struct tuned *t)
{
    const struct record *record = records_find(&r->records, t->class_text);
    const struct tune_options *o = &r->tuner->options;
    return !o->force && record && record->effort >= o->effort && is_of_driver(r, record) ? record : NULL;
}

/* Seconds that a class may take; 0: no limit, negative: none are left. */
static double usual_limit(const struct tune_options *o)
{
    return o->time > 0 ? o->time : o->effort == CLATTN_TUNE_QUICK ? 2 : o->effort == CLATTN_TUNE_FULL ? 60 : 0;
}

static double limit_now(const struct run *r)
{
    const double usual = usual_limit(&r->tuner->options), left = (r->end - clock_ms()) * 1e-3;
    if (r->end > 0 && left <= 0)
        return -1;
    return r->end > 0 && (usual <= 0 || left < usual) ? left : usual;
}

/* ---- What the library and the children ask ---- */

static int stop(void *user)
{
    struct run *r = user;
    tell_draw(&r->report);
    return r->tuner->stopped() != 0;
}

static int progress(void *user, const clattn_progress *p)
{
    struct run *r = user;
    const char *own = isolated_words(&r->isolated, p->config);
    if (r->tuner->stopped()) /* a refusal now only means that the run was stopped */
        return 1;
    r->opened = p->opened;
    r->refused += p->step == CLATTN_STEP_REFUSED;
    tell_step(&r->report, p, own ? own : p->words);
    return 0;
}

/* ---- One class ---- */

static clattn_counters counters(const struct run *r)
{
    clattn_counters c = CLATTN_COUNTERS_INIT;
    (void)clattn_stats(r->tuner->handle, &c); /* all 0 then */
    return c;
}

/* How a class ended whose search succeeded although nothing was saved. */
static enum ending judge_unsaved(struct run *r, double limit, char *words, size_t room)
{
    const double seconds = (clock_ms() - r->report.class_begun) * 1e-3;
    const struct record *record = records_find(&r->records, r->report.class_text);
    if (record && record->effort > r->tuner->options.effort) {
        snprintf(words, room, "what is there was made with more effort");
        return ENDING_LEFT;
    }
    if (counters(r).store_faults) {
        if (!r->trouble[0]) /* the library logs such things only once */
            snprintf(r->trouble, sizeof r->trouble, "%s", r->tuner->log);
        snprintf(words, room, "%s", r->trouble);
        return ENDING_UNKEPT;
    }
    if (r->opened > 0 && r->refused >= r->opened) {
        snprintf(words, room, "all configurations were refused");
        return ENDING_FAILED;
    }
    /* A search stops opening configurations when half of its time is used. */
    snprintf(words, room, "%s", limit > 0 && seconds > limit / 2
                                    ? "its time was up before anything was measured"
                                    : "there was nothing to compare with the default configuration");
    return ENDING_CUT;
}

/* The call, and how it ended, with words of at most `room` bytes. */
static enum ending search(struct run *r, const struct tuned *t, double limit, char *words, size_t room)
{
    struct tuner *tuner = r->tuner;
    const clattn_measure measure = { sizeof measure, isolated_open, isolated_run, isolated_close, &r->isolated };
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    struct fault f = { 0, "" };
    struct named p;
    cl_int e = CLATTN_ERROR_SYNTAX;
    const uint64_t before = counters(r).record_saves;
    o.effort = tuner->options.effort;
    o.seconds = limit;
    o.keep = 1;
    o.progress = progress;
    o.progress_user = r;
    o.measure = tuner->options.in_process ? NULL : &measure;
    isolated_begin(&r->isolated, t->problem);
    tuner->log[0] = words[0] = '\0';
    if (named_open(&p, t->problem, &f) == 0)
        e = clattn_tune(tuner->handle, &p.c.problem, &o, NULL, 0);
    named_close(&p);
    isolated_end(&r->isolated);
    if (e == CL_SUCCESS && counters(r).record_saves > before)
        return ENDING_TUNED;
    if (e == CLATTN_ERROR_CANCELLED || tuner->stopped())
        return ENDING_CUT;
    if (e == CL_SUCCESS)
        return judge_unsaved(r, limit, words, room);
    (void)clattn_error_detail(tuner->handle, words, room, NULL);
    if (!words[0])
        snprintf(words, room, "%s", clattn_status_string(e));
    return ENDING_FAILED;
}

/* Reads the records again, for the one that a search has left. Without memory they stay as they are. */
static void read_again(struct run *r)
{
    struct records now;
    if (records_read(&now, r->tuner->handle) != CL_SUCCESS) {
        records_free(&now);
        return;
    }
    records_free(&r->records);
    r->records = now;
}

static void tune_class(struct run *r, const struct tuned *t)
{
    char words[4096];
    const double limit = limit_now(r), start = clock_ms();
    struct outcome o = { t->class_text, ENDING_CUT, NULL, 0, 0, 0, "" };
    if (r->tuner->stopped() || limit < 0) { /* classes that were not begun have no line of their own */
        r->report.count[ENDING_CUT]++;
        return;
    }
    r->opened = r->refused = 0;
    tell_class(&r->report, t->class_text, t->why, limit);
    o.ending = search(r, t, limit, words, sizeof words);
    if (o.ending == ENDING_TUNED)
        read_again(r);
    if (o.ending == ENDING_TUNED || o.ending == ENDING_LEFT)
        o.record = records_find(&r->records, t->class_text);
    if (o.ending == ENDING_TUNED && r->tuner->stopped() && o.record && o.record->tries) {
        o.ending = ENDING_KEPT;
        snprintf(words, sizeof words, "stopped; this is the best that was proven, and the search is not done");
    }
    o.opened = r->opened;
    o.refused = r->refused;
    o.seconds = (clock_ms() - start) * 1e-3;
    words[strcspn(words, "\r\n")] = '\0';
    o.words = words;
    tell_outcome(&r->report, &o);
}

/* ---- All of them ---- */

static void tune_each(struct run *r, const struct classes *all)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct tuned *t = &all->list[i];
        struct outcome o = { t->class_text, ENDING_LEFT, NULL, 0, 0, 0, "" };
        o.record = tuned_before(r, t);
        if (!o.record && !t->words) {
            tune_class(r, t);
            continue;
        }
        if (t->words) {
            o.ending = ENDING_FAILED;
            o.words = t->words;
        }
        tell_outcome(&r->report, &o);
    }
}

/* The exit status, from how the classes ended. */
static int judge(const struct run *r, struct fault *f)
{
    const int *n = r->report.count;
    const int stopped = r->tuner->stopped();
    if (stopped)
        return fault_set(f, 128 + stopped, "stopped by signal %d; what is done is kept", stopped);
    if (n[ENDING_UNKEPT])
        return fault_set(f, EXIT_NO_CACHE, "%s: records cannot be kept there%s%s", r->tuner->path,
                         r->trouble[0] ? ": " : "", r->trouble);
    if (n[ENDING_FAILED] && !n[ENDING_TUNED] && !n[ENDING_LEFT] && !n[ENDING_CUT])
        return fault_set(f, EXIT_NOTHING, "nothing could be verified");
    if (n[ENDING_FAILED] || n[ENDING_CUT])
        return fault_set(f, EXIT_PARTIAL, "%d of %d classes could not be tuned, %d were not finished", n[ENDING_FAILED],
                         n[ENDING_TUNED] + n[ENDING_LEFT] + n[ENDING_FAILED] + n[ENDING_CUT], n[ENDING_CUT]);
    return 0;
}

int task_tune(struct tuner *t, struct fault *f)
{
    struct run r;
    struct classes all;
    int n = 0;
    const char *const why = files_may_keep(t->path);
    if (why)
        return fault_set(f, EXIT_NO_CACHE, "%s: records cannot be kept there: %s", t->path, why);
    memset(&r, 0, sizeof r);
    r.tuner = t;
    r.isolated.program = t->program;
    r.isolated.device = t->options.device;
    r.isolated.kill = t->options.kill;
    r.isolated.stop = stop;
    r.isolated.user = &r;
    r.end = t->options.total > 0 ? clock_ms() + t->options.total * 1e3 : 0;
    ask_driver(&r);
    if (classes_gather(&all, t->handle, &t->options, f) == 0 && records_read(&r.records, t->handle) != CL_SUCCESS)
        fault_set(f, EXIT_USAGE, "there is no memory for the records");
    for (size_t i = 0; i < all.n && !f->status; i++)
        n += !all.list[i].words && !tuned_before(&r, &all.list[i]);
    tell_begin(&r.report, &t->options, n, usual_limit(&t->options));
    if (!f->status) {
        tune_each(&r, &all);
        tell_end(&r.report, t->path);
        (void)judge(&r, f);
    }
    records_free(&r.records);
    classes_free(&all);
    return f->status ? -1 : 0;
}
