/* task_records.c - what clattn-tune does with records: list, check, forget, write, read
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/tasks.h"

#include "tools/system/json.h"
#include "tools/tune/isolated.h"
#include "tools/tune/named.h"
#include "tools/tune/records.h"
#include "tools/system/textfile.h"

#include <clattn_tune.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words of the library for a failure, or the status. */
static int failed(struct tuner *t, const char *what, cl_int e, struct fault *f)
{
    char words[4096] = "";
    (void)clattn_error_detail(t->handle, words, sizeof words, NULL);
    return fault_set(f, EXIT_USAGE, "%s: %s", what, words[0] ? words : clattn_status_string(e));
}

static int open_records(struct tuner *t, struct records *all, struct fault *f)
{
    const cl_int e = records_read(all, t->handle);
    return e == CL_SUCCESS ? 0 : failed(t, "the records", e, f);
}

/* ---- --list ---- */

static void list_json(const struct record *r)
{
    char text[JSON_NUMBER];
    const double ratio = record_ratio(r);
    printf("{\"class\": ");
    json_string(stdout, r->class_text);
    printf(", \"config\": ");
    json_string(stdout, r->config);
    printf(", \"time_ms\": %s", json_number(text, r->time_ns > 0 ? r->time_ns * 1e-6 : NAN, 6));
    printf(", \"ratio\": %s", json_number(text, ratio > 0 ? ratio : NAN, 6));
    printf(", \"effort\": \"%s\", \"settled\": %s, \"date\": ", record_effort(r->effort), r->tries ? "false" : "true");
    json_string(stdout, r->date);
    printf(", \"driver\": ");
    json_string(stdout, r->driver);
    printf(", \"version\": ");
    json_string(stdout, r->lib);
    printf("}\n");
}

/* What stands below a class, the configuration last: it may be long, and a line is to fit into 80 columns. */
static const char columns[] = "  %8s  %6s  %-*s  %-10.10s  %s\n";

/* The effort, in *width columns at least. */
static void effort_words(char text[32], const struct record *r, int *width)
{
    const int n = snprintf(text, 32, "%s%s", record_effort(r->effort), r->tries ? " (not settled)" : "");
    *width = n > *width ? n : *width;
}

static void list_text(const struct record *r, int width)
{
    char ratio[32] = "-", effort[32], time[RECORD_TIME];
    if (record_ratio(r) > 0)
        snprintf(ratio, sizeof ratio, "%.3g", record_ratio(r));
    effort_words(effort, r, &width);
    printf("%s\n", r->class_text);
    printf(columns, record_time(time, r), ratio, width, effort, r->date, r->config);
}

/* A record is a line with its class and one with all else, under headings. */
static void list_all(const struct records *all)
{
    char effort[32];
    int width = (int)strlen("effort");
    for (size_t i = 0; i < all->n; i++)
        effort_words(effort, &all->list[i], &width);
    if (all->n) {
        printf("class\n");
        printf(columns, "time", "ratio", width, "effort", "date", "configuration");
    }
    for (size_t i = 0; i < all->n; i++)
        list_text(&all->list[i], width);
}

int task_list(struct tuner *t, struct fault *f)
{
    struct records all;
    if (open_records(t, &all, f) == 0 && !t->options.json)
        list_all(&all);
    for (size_t i = 0; i < all.n && !f->status && t->options.json; i++)
        list_json(&all.list[i]);
    records_free(&all);
    return f->status ? -1 : 0;
}

/* ---- --verify ---- */

static int stop(void *user)
{
    return ((struct tuner *)user)->stopped() != 0;
}

/* In this process. */
static cl_int try_here(struct tuner *t, const struct named *p, const char *config, char *words, size_t room)
{
    clattn_trial trial = NULL;
    const cl_int e = clattn_trial_create(&trial, t->handle, &p->c.problem, config);
    if (e != CL_SUCCESS)
        (void)clattn_error_detail(t->handle, words, room, NULL);
    (void)clattn_trial_release(trial);
    return e;
}

/* In a child. */
static cl_int try_isolated(struct tuner *t, const struct record *r, char *words, size_t room)
{
    struct isolated m;
    memset(&m, 0, sizeof m);
    m.program = t->program;
    m.device = t->options.device;
    m.kill = t->options.kill;
    m.stop = stop;
    m.user = t;
    isolated_begin(&m, r->class_text);
    const cl_int e = isolated_open(&m, r->config);
    snprintf(words, room, "%s", isolated_words(&m, r->config) ? isolated_words(&m, r->config) : "");
    isolated_close(&m, r->config);
    isolated_end(&m);
    return e;
}

static void tell_verified(const struct tuner *t, const struct record *r, const char *result, const char *words)
{
    if (t->options.json) {
        printf("{\"class\": ");
        json_string(stdout, r->class_text);
        printf(", \"config\": ");
        json_string(stdout, r->config);
        printf(", \"result\": \"%s\", \"words\": ", result);
        json_string(stdout, *words ? words : NULL);
        printf("}\n");
    } else if (!t->options.quiet) {
        printf("%-9s  %s: %s%s%s\n", result, r->class_text, r->config, *words ? ": " : "", words);
    }
    (void)fflush(stdout);
}

/* Of one record: 1 when it was fine, 0 when not, -1 when that is not known. */
static int verify_one(struct tuner *t, const struct record *r)
{
    struct fault own = { 0, "" };
    struct named p;
    char words[CHILD_WORDS] = "";
    int result = -1;
    cl_int e;
    if (named_open(&p, r->class_text, &own) != 0) {
        tell_verified(t, r, "unknown", own.text);
    } else {
        e = t->options.in_process ? try_here(t, &p, r->config, words, sizeof words)
                                  : try_isolated(t, r, words, sizeof words);
        result = e == CL_SUCCESS;
        if (e == CLATTN_ERROR_CANCELLED)
            result = -1;
        else if (!result)
            (void)clattn_wisdom_forget(t->handle, &p.c.problem);
        if (!result && !words[0])
            snprintf(words, sizeof words, "%s", clattn_status_string(e));
        if (result >= 0)
            tell_verified(t, r, result ? "verified" : "forgotten", words);
    }
    named_close(&p);
    return result;
}

int task_verify(struct tuner *t, struct fault *f)
{
    struct records all;
    size_t good = 0, bad = 0;
    if (open_records(t, &all, f) == 0)
        for (size_t i = 0; i < all.n && !t->stopped(); i++) {
            const int result = verify_one(t, &all.list[i]);
            good += result > 0;
            bad += result == 0;
        }
    if (t->stopped())
        fault_set(f, 128 + t->stopped(), "stopped by signal %d", t->stopped());
    else if (bad)
        fault_set(f, good ? EXIT_PARTIAL : EXIT_NOTHING, "%zu of %zu records failed and were forgotten", bad, all.n);
    records_free(&all);
    return f->status ? -1 : 0;
}

/* ---- --forget ---- */

static int count_records(struct tuner *t, size_t *n, struct fault *f)
{
    struct records all;
    const int result = open_records(t, &all, f);
    *n = all.n;
    records_free(&all);
    return result;
}

int task_forget(struct tuner *t, struct fault *f)
{
    struct named p;
    size_t before = 0, after = 0;
    const int one = strcmp(t->options.forget, "all") != 0;
    struct fault own = { 0, "" };
    cl_int e = CL_SUCCESS;
    if (one && named_open(&p, t->options.forget, &own) != 0)
        fault_set(f, own.status, "--forget: %s", own.text);
    else if (count_records(t, &before, f) == 0)
        e = clattn_wisdom_forget(t->handle, one ? &p.c.problem : NULL);
    if (one)
        named_close(&p);
    if (e != CL_SUCCESS)
        return failed(t, "--forget", e, f);
    if (f->status || count_records(t, &after, f) != 0)
        return -1;
    if (one && after == before)
        fprintf(stderr, "clattn-tune: there was no record of '%s'\n", t->options.forget);
    if (t->options.json)
        printf("{\"forgotten\": %zu, \"left\": %zu}\n", before - after, after);
    else if (!t->options.quiet)
        printf("%zu forgotten, %zu left\n", before - after, after);
    return 0;
}

/* ---- --export, --import ---- */

/* In the order of classes: the same records are the same file. */
static char *in_order(const struct records *all)
{
    char *text = malloc(all->length + 1), *to = text;
    for (size_t i = 0; i < all->n && text; i++) {
        memcpy(to, all->text + all->list[i].at, all->list[i].n);
        to += all->list[i].n;
    }
    return text;
}

int task_export(struct tuner *t, struct fault *f)
{
    const char *path = t->options.export_to;
    struct records all;
    char *text = NULL;
    if (open_records(t, &all, f) == 0 && !(text = in_order(&all)))
        fault_set(f, EXIT_USAGE, "there is no memory for the records");
    if (text && textfile_write(path, text, all.length, "--export", f) == 0 && !textfile_is_stdout(path)) {
        if (t->options.json)
            printf("{\"records\": %zu}\n", all.n);
        else if (!t->options.quiet)
            printf("%zu records are in %s\n", all.n, path);
    }
    free(text);
    records_free(&all);
    return f->status ? -1 : 0;
}

static uint64_t store_faults(struct tuner *t)
{
    clattn_counters c = CLATTN_COUNTERS_INIT;
    return clattn_stats(t->handle, &c) == CL_SUCCESS ? c.store_faults : 0;
}

int task_import(struct tuner *t, struct fault *f)
{
    enum { MOST = 32 << 20 };
    clattn_import_count n = { sizeof n, 0, 0, 0, 0 };
    const char *path = t->options.import_from;
    const uint64_t faults = store_faults(t);
    char *text = NULL;
    size_t length = 0;
    if (textfile_read(path, MOST, &text, &length, "--import", f) != 0)
        return -1;
    const cl_int e = clattn_wisdom_import(t->handle, text, length, &n);
    free(text);
    if (e != CL_SUCCESS)
        return failed(t, "--import", e, f);
    if (store_faults(t) > faults)
        return fault_set(f, EXIT_NO_CACHE, "%s: records cannot be kept there%s%s", t->path, t->log[0] ? ": " : "",
                         t->log);
    if (t->options.json)
        printf("{\"taken\": %d, \"worse\": %d, \"foreign\": %d, \"refused\": %d}\n", (int)n.taken, (int)n.worse,
               (int)n.foreign, (int)n.refused);
    else if (!t->options.quiet)
        printf("%d taken, %d not better than what is there, %d of other devices, %d refused\n", (int)n.taken,
               (int)n.worse, (int)n.foreign, (int)n.refused);
    return 0;
}
