/* visits.c - what a report has of each device, by children that may hang or crash
 * SPDX-License-Identifier: Apache-2.0
 *
 * A child does all steps of a device, one after the other (parts.c). Where it dies, the report says in which step, and
 * another child begins behind it. */
#include "config.h"

#include "tools/report/visits.h"

#include "tools/report/parts.h"
#include "tools/system/child.h"
#include "tools/system/clock.h"
#include "tools/system/system.h"

#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>

/* How long a step may say nothing; what a child has more than its time, to end by itself; children for a device. */
#define STEP_SECONDS 60.0
#define PARTING_SECONDS 2.0
enum { CHILDREN = 16 };

/* One device, or the list of them. */
struct visit_state {
    struct visits *v;
    struct child child;
    long step;           /* the one under way; -1: none yet */
    char part[32], doing[FACT_WORDS];
    double end;
};

static int stopped(void *user)
{
    (void)user;
    return system_interrupted();
}

static int start(struct visit_state *s, long first, const char *device)
{
    const struct report_options *const o = s->v->o;
    const double left = (s->end - clock_ms()) * 1e-3;
    char step[32], seconds[32], *argv[12];
    int n = 0;
    snprintf(step, sizeof step, "%ld", first);
    snprintf(seconds, sizeof seconds, "%d", left > 1 ? (int)left : 1);
    argv[n++] = (char *)s->v->program; /* they are not written to */
    argv[n++] = (char *)"--child";
    argv[n++] = step;
    argv[n++] = (char *)"--seconds";
    argv[n++] = seconds;
    if (device) {
        argv[n++] = (char *)"--device";
        argv[n++] = (char *)device;
    }
    if (o->parts_text) {
        argv[n++] = (char *)"--parts";
        argv[n++] = (char *)o->parts_text;
    }
    if (o->quick)
        argv[n++] = (char *)"--quick";
    argv[n] = NULL;
    return child_start(&s->child, argv);
}

/* Waits for the next line. Returns 1, 0 at the end, or -1 where the child is gone; then `words` says why. */
static int next_line(struct visit_state *s, struct answer *a, char words[CHILD_WORDS])
{
    const double left = (s->end - clock_ms()) * 1e-3 + PARTING_SECONDS;
    const struct patience p = { left > STEP_SECONDS ? STEP_SECONDS : left > 0 ? left : 0, stopped, NULL };
    memset(a, 0, sizeof *a);
    if (child_wait(&s->child, &p, a, words) != 0)
        return -1;
    return a->status == CL_SUCCESS;
}

/* ---- The list of devices ---- */

static int rank_of(const char *kind)
{
    return !strcmp(kind, "GPU") ? 0 : !strcmp(kind, "CPU") ? 2 : 1;
}

static void list(struct visits *v, const char *at, const char *kind, const char *name)
{
    int i = v->n;
    if (v->n == VISITS_DEVICES)
        return;
    while (i > 0 && rank_of(v->places[i - 1].kind) > rank_of(kind)) {
        v->places[i] = v->places[i - 1];
        i--;
    }
    v->n++;
    snprintf(v->places[i].at, sizeof v->places[i].at, "%s", at);
    snprintf(v->places[i].kind, sizeof v->places[i].kind, "%s", kind);
    snprintf(v->places[i].name, sizeof v->places[i].name, "%s", name);
}

int visits_find(struct visits *v, struct fault *f)
{
    struct visit_state s = { .v = v, .step = -1, .end = v->end };
    struct scrub scrub;
    struct answer a;
    struct fact r;
    char words[CHILD_WORDS] = "";
    int got = -1;
    scrub_begin(&scrub);
    if (start(&s, -1, v->o->device) != 0)
        return fault_set(f, EXIT_USAGE, "there is no process for the devices");
    while ((got = next_line(&s, &a, words)) > 0) {
        const int read = fact_read(&r, a.words, &scrub) == 0;
        if (read && fact_is(&r, "listed"))
            list(v, fact_value(&r, "place"), fact_value(&r, "kind"), fact_value(&r, "name"));
        if (read && fact_is(&r, "loader"))
            snprintf(v->loader, sizeof v->loader, "%s", fact_value(&r, "words"));
        fact_free(&r);
    }
    child_close(&s.child);
    if (got < 0 && system_interrupted())
        return fault_set(f, EXIT_CUT, "interrupted while the devices were listed: there is no report");
    if (got < 0)
        snprintf(v->trouble, sizeof v->trouble, "%s", words);
    return got == 0 && a.status != CL_DEVICE_NOT_FOUND ? fault_set(f, EXIT_NO_DEVICE, "%s", a.words) : 0;
}

/* ---- A device ---- */

static const char *what_of(const char *part)
{
    for (const struct part *p = parts_table; p->name; p++)
        if (!strcmp(p->name, part))
            return p->what;
    return "";
}

static void tell_step(const struct visit_state *s)
{
    if (!s->v->o->quiet)
        fprintf(stderr, "clattn-report: %s: %s\n", s->part, s->doing);
}

static void take(struct visit_state *s, const char *line)
{
    struct report_file *const file = s->v->file;
    struct fact r;
    if (fact_read(&r, line, &file->scrub) != 0) {
        fact_free(&r);
        return;
    }
    if (!fact_is(&r, "step")) {
        report_file_add(file, &r);
        return;
    }
    if (strcmp(s->part, fact_value(&r, "part")) != 0) {
        snprintf(s->part, sizeof s->part, "%s", fact_value(&r, "part"));
        report_file_part(file, s->part, what_of(s->part));
    }
    const long number = (long)fact_number(&r, "number");
    snprintf(s->doing, sizeof s->doing, "%s", fact_value(&r, "doing"));
    if (number != s->step)
        tell_step(s);
    s->step = number;
    fact_free(&r);
}

static void add_trouble(struct visit_state *s, const char *words)
{
    struct fact_line l;
    fact_begin(&l, "trouble");
    fact_add(&l, *s->part ? s->part : "open");
    fact_add(&l, *s->doing ? s->doing : "the device is opened");
    fact_add(&l, words);
    report_file_add_line(s->v->file, &l);
}

/* The part under way, of which nothing more is to come, and all behind it. */
static void add_left_out(struct visit_state *s, const char *why)
{
    int begun = !*s->part;
    for (int i = 0; parts_table[i].name; i++) {
        struct fact_line l;
        begun = begun || !strcmp(parts_table[i].name, s->part);
        if (!begun || !parts_asked(s->v->o, i))
            continue;
        fact_begin(&l, "left_out");
        fact_add(&l, parts_table[i].name);
        fact_add(&l, why);
        report_file_add_line(s->v->file, &l);
    }
}

/* One child, from step `first` on. Returns the step for another one to begin with, or -1 for none. */
static long go(struct visit_state *s, long first, const char *device)
{
    struct answer a;
    char words[CHILD_WORDS] = "";
    int got = -1;
    s->step = -1;
    s->doing[0] = '\0';
    if (start(s, first, device) != 0) {
        add_trouble(s, "there is no process for it");
        return -1;
    }
    while ((got = next_line(s, &a, words)) > 0)
        take(s, a.words);
    child_close(&s->child);
    if (system_interrupted()) {
        add_left_out(s, "interrupted");
        return -1;
    }
    if (got == 0 && a.status == CL_DEVICE_NOT_FOUND) /* the end */
        return -1;
    if (got == 0) {
        add_trouble(s, a.words);
        return -1;
    }
    if (!(clock_ms() < s->end)) {
        add_left_out(s, "time");
        return -1;
    }
    if (!strncmp(words, "killed after ", strlen("killed after ")))
        snprintf(words, sizeof words, "it gave no answer for %g s, and was killed", STEP_SECONDS);
    add_trouble(s, words);
    return s->step < 0 ? -1 : s->step + 1;
}

void visits_run(struct visits *v)
{
    for (int i = 0; i < v->n && !system_interrupted(); i++) {
        struct visit_state s = { .v = v };
        const double now = clock_ms();
        long first = 0;
        s.end = now + (v->end - now) / (v->n - i);
        report_file_device(v->file, v->places[i].at, v->places[i].name);
        for (int n = 0; n < CHILDREN && first >= 0; n++)
            first = go(&s, first, v->places[i].at);
    }
}
