/* tune_report.c - what clattn-tune tells while it tunes, and of each class afterwards
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/tune_report.h"

#include "tools/system/clock.h"
#include "tools/system/json.h"
#include "tools/system/system.h"

#include <math.h>
#include <string.h>

enum { DRAW_MS = 150, LOG_MS = 60000 };

static const struct {
    const char *word, *count; /* of one; "3 ..." of several */
} endings[ENDINGS] = {
    [ENDING_TUNED] = { "tuned", "tuned" },
    [ENDING_LEFT] = { "left", "tuned before" },
    [ENDING_FAILED] = { "failed", "failed" },
    [ENDING_CUT] = { "cut", "not finished" },
    [ENDING_UNKEPT] = { "unkept", "not kept" },
    [ENDING_KEPT] = { "kept", "stopped and kept" },
};

/* Seconds in readable form: "12 s", "5 min", "1.5 h". */
static const char *duration(char text[32], double seconds)
{
    if (seconds < 100)
        snprintf(text, 32, "%.3g s", seconds);
    else if (seconds < 6000)
        snprintf(text, 32, "%.0f min", seconds / 60);
    else
        snprintf(text, 32, "%.1f h", seconds / 3600);
    return text;
}

void tell_begin(struct tune_report *r, const struct tune_options *o, int n, double limit)
{
    memset(r, 0, sizeof *r);
    r->json = o->json;
    r->quiet = o->quiet;
    r->terminal = system_is_terminal(2);
    r->n = n;
    r->limit = limit;
    r->total = o->total;
    r->begun = clock_ms();
}

/* ---- Progress ---- */

/* Seconds until all is done, or 0 when nothing is known; *most: it will be less. */
static double time_left(const struct tune_report *r, double limit, int *most)
{
    const double now = clock_ms(), here = (now - r->class_begun) * 1e-3;
    const int behind = r->n - r->i;
    double left = 0;
    *most = r->done == 0;
    if (r->done)
        left = fmax(r->spent / r->done - here, 0) + behind * r->spent / r->done;
    else if (limit > 0)
        left = fmax(limit - here, 0) + behind * limit;
    if (r->total > 0) {
        const double all = fmax(r->total - (now - r->begun) * 1e-3, 0);
        if (left <= 0 || all < left) {
            left = all;
            *most = 1;
        }
    }
    return left;
}

/* The line has changed, and is drawn at the next occasion. */
static void erase(struct tune_report *r)
{
    if (r->drawn)
        fputs("\r\033[K", stderr);
    r->drawn = 0;
    if (r->terminal)
        r->drawn_at = 0;
}

void tell_draw(struct tune_report *r)
{
    char line[1024], best[32] = "", left[64] = "", text[32];
    int most;
    const double now = clock_ms();
    if (r->quiet || !r->class_text || now - r->drawn_at < (r->terminal ? DRAW_MS : LOG_MS)) /* it disturbs timing */
        return;
    r->drawn_at = now;
    const double seconds = time_left(r, r->limit, &most);
    if (r->ratio > 0)
        snprintf(best, sizeof best, ", best %.3g", r->ratio);
    if (seconds > 0)
        snprintf(left, sizeof left, ", %s %s left", most ? "at most" : "about", duration(text, ceil(seconds)));
    snprintf(line, sizeof line, "[%d/%d] %d tried%s%s: %s", r->i, r->n, r->opened, best, left, r->class_text);
    if (r->terminal)
        fprintf(stderr, "%s%.*s", r->drawn ? "\r\033[K" : "", system_columns() - 1, line);
    else
        fprintf(stderr, "%s\n", line);
    fflush(stderr);
    r->drawn = r->terminal;
}

void tell_class(struct tune_report *r, const char *class_text, const char *why, double limit)
{
    char text[32], here[64] = "", all[64] = "";
    int most;
    r->i++;
    erase(r);
    r->class_text = class_text;
    r->class_begun = clock_ms();
    r->opened = 0;
    r->best[0] = '\0';
    r->ratio = 0;
    r->limit = limit;
    if (r->quiet)
        return;
    const double left = time_left(r, limit, &most);
    if (limit > 0)
        snprintf(here, sizeof here, ", at most %s", duration(text, limit));
    if (left > 0 && r->n > 1)
        snprintf(all, sizeof all, "; all %s %s", most ? "at most" : "about", duration(text, ceil(left)));
    fprintf(stderr, "class %d of %d: %s%s%s\n  %s\n", r->i, r->n, class_text, here, all, why);
    if (r->terminal)
        tell_draw(r);
    else
        r->drawn_at = clock_ms();
}

/* Tells of a configuration that is proven to be faster, or that the last one no longer is. */
static void tell_best(struct tune_report *r, const clattn_progress *p)
{
    if (strcmp(r->best, p->best) == 0)
        return;
    snprintf(r->best, sizeof r->best, "%s", p->best);
    if (r->quiet)
        return;
    erase(r);
    if (*r->best)
        fprintf(stderr, "best: %s, %.3g of the default's time\n", r->best, p->best_ratio);
    else
        fprintf(stderr, "best: the default again\n");
}

void tell_step(struct tune_report *r, const clattn_progress *p, const char *words)
{
    r->opened = p->opened;
    r->ratio = p->best_ratio;
    tell_best(r, p);
    if (p->step == CLATTN_STEP_REFUSED && !r->quiet) {
        erase(r);
        fprintf(stderr, "refused: %s: %s\n", p->config ? p->config : "?", words && *words ? words : "no reason given");
    }
    tell_draw(r);
}

/* ---- Results ---- */

static void key_text(const char *key, const char *x)
{
    printf("\"%s\": ", key);
    json_string(stdout, x && *x ? x : NULL);
    printf(", ");
}

static void key_number(const char *key, double x)
{
    char text[JSON_NUMBER];
    printf("\"%s\": %s, ", key, json_number(text, x > 0 ? x : NAN, 6));
}

static void print_json(const struct outcome *o)
{
    const struct record *r = o->record;
    char text[JSON_NUMBER];
    printf("{");
    key_text("class", o->class_text);
    key_text("result", endings[o->ending].word);
    key_text("config", r ? r->config : NULL);
    key_number("time_ms", r ? r->time_ns * 1e-6 : 0);
    key_number("ratio", r ? record_ratio(r) : 0);
    printf("\"tried\": %d, \"refused\": %d, ", o->opened, o->refused);
    printf("\"seconds\": %s, \"words\": ", json_number(text, o->seconds, 4));
    json_string(stdout, o->words && *o->words ? o->words : NULL);
    printf("}\n");
}

static void print_text(const struct outcome *o)
{
    const struct record *r = o->record;
    char text[32], time[RECORD_TIME];
    printf("%-6s  %s", endings[o->ending].word, o->class_text);
    if (r)
        printf(": %s, %s", r->config, record_time(time, r));
    if (r && record_ratio(r) > 0)
        printf(", %.3g of the default's time", record_ratio(r));
    if (r && r->tries && o->ending != ENDING_KEPT)
        printf(", too noisy to tell");
    if (o->opened)
        printf("; %d tried, %d refused, %s", o->opened, o->refused, duration(text, o->seconds));
    printf("%s%s\n", o->words && *o->words ? ": " : "", o->words ? o->words : "");
}

void tell_outcome(struct tune_report *r, const struct outcome *o)
{
    erase(r);
    r->class_text = NULL;
    r->count[o->ending]++;
    if (o->seconds > 0) {
        r->spent += o->seconds;
        r->done++;
    }
    if (r->json)
        print_json(o);
    else if (!r->quiet)
        print_text(o);
    fflush(stdout);
}

void tell_end(struct tune_report *r, const char *path)
{
    const char *comma = "";
    if (r->json) {
        printf("{");
        for (int i = 0; i < ENDINGS; i++)
            printf("\"%s\": %d, ", endings[i].word, r->count[i]);
        printf("\"path\": ");
        json_string(stdout, path);
        printf("}\n");
    } else if (!r->quiet) {
        for (int i = 0; i < ENDINGS; i++) {
            if (r->count[i])
                printf("%s%d %s", comma, r->count[i], endings[i].count);
            comma = r->count[i] ? ", " : comma;
        }
        printf("%srecords are in %s\n", *comma ? "; " : "", path);
    }
}
