/* records.c - the records of a device, as clattn_wisdom_export() writes them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/records.h"

#include <clattn_tune.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int effort;
    const char *name;
} efforts[] = {
    { CLATTN_TUNE_QUICK, "quick" }, { CLATTN_TUNE_FULL, "full" }, { CLATTN_TUNE_EXHAUSTIVE, "exhaustive" }
};
enum { EFFORTS = sizeof efforts / sizeof *efforts };

const char *record_effort(int effort)
{
    for (int i = 0; i < EFFORTS; i++)
        if (efforts[i].effort == effort)
            return efforts[i].name;
    return "?";
}

int record_effort_of(const char *name)
{
    for (int i = 0; i < EFFORTS; i++)
        if (strcmp(efforts[i].name, name) == 0)
            return efforts[i].effort;
    return 0;
}

double record_ratio(const struct record *r)
{
    return r->control_ns > 0 && r->time_ns > 0 ? r->time_ns / r->control_ns : 0;
}

const char *record_time(char text[RECORD_TIME], const struct record *r)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    double x = r->time_ns;
    int unit = 0;
    for (; x >= 999.5 && unit < 3; unit++)
        x *= 1e-3;
    if (!(x > 0))
        snprintf(text, RECORD_TIME, "-");
    else
        snprintf(text, RECORD_TIME, x < 99.95 ? "%.3g %s" : "%.0f %s", x, units[unit]);
    return text;
}

static cl_int append(void *user, const char *text, size_t n)
{
    struct records *r = user;
    if (n > SIZE_MAX / 4 - r->length)
        return CL_OUT_OF_HOST_MEMORY;
    if (r->length + n + 1 > r->room) {
        const size_t room = 2 * (r->length + n + 1);
        char *to = realloc(r->text, room);
        if (!to)
            return CL_OUT_OF_HOST_MEMORY;
        r->text = to;
        r->room = room;
    }
    memcpy(r->text + r->length, text, n);
    r->length += n;
    r->text[r->length] = '\0';
    return CL_SUCCESS;
}

/* One line without its newline; its first word tells what the rest is. */
static void read_line(struct record *r, const char *line, size_t n)
{
    const struct {
        const char *key;
        char *to;
        size_t room;
    } texts[] = {
        { "class ", r->class_text, sizeof r->class_text }, { "config ", r->config, sizeof r->config },
        { "driver ", r->driver, sizeof r->driver },        { "date ", r->date, sizeof r->date },
        { "lib ", r->lib, sizeof r->lib },
    };
    char text[1024], effort[16];
    snprintf(text, sizeof text, "%.*s", (int)n, line);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strncmp(text, texts[i].key, strlen(texts[i].key)) == 0)
            snprintf(texts[i].to, texts[i].room, "%s", text + strlen(texts[i].key));
    (void)sscanf(text, "time_ns %lf mad %*f control %lf", &r->time_ns, &r->control_ns);
    (void)sscanf(text, "tries %9d", &r->tries);
    if (sscanf(text, "effort %15s", effort) == 1)
        r->effort = record_effort_of(effort);
}

/* Reads the record at text[at]. Returns where the next one begins. */
static size_t read_record(const struct records *all, size_t at, struct record *r)
{
    int last = 0;
    memset(r, 0, sizeof *r);
    r->at = at;
    while (at < all->length && !last) {
        const char *line = all->text + at;
        const size_t n = strcspn(line, "\n");
        last = strncmp(line, "sum ", 4) == 0;
        read_line(r, line, n < 1000 ? n : 1000);
        at += n + (line[n] == '\n');
    }
    r->n = at - r->at;
    return at;
}

static int by_class(const void *x, const void *y)
{
    const struct record *a = x, *b = y;
    return strcmp(a->class_text, b->class_text);
}

static cl_int split(struct records *r)
{
    struct record one;
    size_t n = 0;
    for (size_t at = 0; at < r->length; n++)
        at = read_record(r, at, &one);
    if (!n)
        return CL_SUCCESS;
    r->list = calloc(n, sizeof *r->list);
    if (!r->list)
        return CL_OUT_OF_HOST_MEMORY;
    for (size_t at = 0; r->n < n; r->n++)
        at = read_record(r, at, &r->list[r->n]);
    qsort(r->list, r->n, sizeof *r->list, by_class);
    return CL_SUCCESS;
}

cl_int records_read(struct records *r, clattn_handle handle)
{
    memset(r, 0, sizeof *r);
    const cl_int e = clattn_wisdom_export(handle, append, r);
    return e == CL_SUCCESS ? split(r) : e;
}

void records_free(struct records *r)
{
    free(r->text);
    free(r->list);
    memset(r, 0, sizeof *r);
}

const struct record *records_find(const struct records *r, const char *class_text)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->list[i].class_text, class_text) == 0)
            return &r->list[i];
    return NULL;
}
