/* report_file.c - a report as it grows
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/report_file.h"

#include "tools/report/findings.h"
#include "tools/system/json.h"
#include "tools/system/machine.h"
#include "tools/system/system.h"

#include <clattn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOLD = 12 };   /* of the findings, in the text */
#define BUSY 1.25     /* a device that is idle varies less */

/* Where to send a report: what ./configure was told, or whoever packages clattn puts there. */
static const char *where_to(void)
{
    static const char url[] = PACKAGE_URL, address[] = PACKAGE_BUGREPORT;
    return *address ? address : *url ? url : "whoever gave you this program, or the people who make clattn";
}

/* ---- The head ---- */

static void write_date(char *text, size_t len)
{
    const time_t now = time(NULL);
    const struct tm *const utc = gmtime(&now);
    if (!utc || !strftime(text, len, "%Y-%m-%d", utc))
        snprintf(text, len, "unknown");
}

/* Variables that change what drivers do, by their names alone: values may be paths. */
static void write_settings(char *text, size_t len)
{
    static const char *const names[] = {
        "OCL_ICD_VENDORS",        "OCL_ICD_FILENAMES",   "OPENCL_LAYERS",         "POCL_EXTRA_BUILD_FLAGS",
        "POCL_DEVICES",           "POCL_CPU_MAX_CU_COUNT", "POCL_MAX_PTHREAD_COUNT", "RUSTICL_ENABLE",
        "RUSTICL_FEATURES",       "CUDA_VISIBLE_DEVICES", "CUDA_CACHE_DISABLE",   "GPU_MAX_ALLOC_PERCENT",
        "ROCR_VISIBLE_DEVICES",   "HSA_OVERRIDE_GFX_VERSION", "NEOReadDebugKeys", "IGC_EnableDPEmulation",
        "CL_CONFIG_CPU_TARGET_ARCH", "CLATTN_EVIL",      "CLATTN_NVIDIA",
    };
    size_t n = 0;
    *text = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names && n < len; i++)
        if (getenv(names[i]))
            n += (size_t)snprintf(text + n, len - n, "%s%s", n ? " " : "", names[i]);
}

static void add_system(struct report_file *f, const char *loader)
{
    struct fact_line l;
    char text[256];
    fact_begin(&l, "system");
    fact_add(&l, clattn_version());
    write_date(text, sizeof text);
    fact_add(&l, text);
    machine_os(text, sizeof text);
    fact_add(&l, text);
    machine_cpu(text, sizeof text);
    fact_add(&l, text);
    fact_add_number(&l, machine_processors() ? machine_processors() : NAN, 9);
    fact_add_number(&l, system_memory() ? (double)system_memory() : NAN, 17);
    fact_add(&l, *loader ? loader : "unknown");
    write_settings(text, sizeof text);
    fact_add(&l, text);
    report_file_add_line(f, &l);
}

void report_file_begin(struct report_file *f, FILE *to, const char *loader)
{
    memset(f, 0, sizeof *f);
    f->to = to;
    scrub_begin(&f->scrub);
    fprintf(to, "How clattn runs here: a report by clattn-report %s\n\n"
                "Its end says what to look at first, and where to send it. Names of machines, users and files, serial\n"
                "numbers and addresses are left out of what drivers say: (name), (path), (id).\n\n", clattn_version());
    add_system(f, loader);
}

/* ---- As it grows ---- */

static void end_line(struct report_file *f)
{
    if (f->in_line)
        putc('\n', f->to);
    f->in_line = 0;
}

void report_file_device(struct report_file *f, const char *place, const char *name)
{
    end_line(f);
    f->names[f->devices++] = name;
    f->heading = NULL;
    fprintf(f->to, "\n\n==== device %s: %s ====\n", place, name);
    fflush(f->to);
}

void report_file_part(struct report_file *f, const char *name, const char *what)
{
    end_line(f);
    f->heading = NULL;
    fprintf(f->to, "\n%s: %s\n", name, what);
    fflush(f->to);
}

/* Words in front of what is no row of a table. */
static const char *label_of(const struct fact *r)
{
    static const struct { const char *kind, *label; } labels[] = {
        { "log", "the library says: " }, { "trouble", "TROUBLE: " }, { "left_out", "left out: " },
    };
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (fact_is(r, labels[i].kind))
            return labels[i].label;
    return NULL;
}

/* Extensions share a line; of other lists each has one of its own, below a head. */
static void print(struct report_file *f, const struct fact *r)
{
    const char *const label = label_of(r);
    if (fact_is(r, "extension")) {
        fprintf(f->to, "%s%s", f->in_line ? " " : "    extensions             ", fact_value(r, "name"));
        f->in_line = 1;
    } else {
        end_line(f);
        if (!label && f->heading != r->kind)
            fact_print_head(f->to, r->kind);
        f->heading = label ? f->heading : r->kind;
        fact_print(f->to, r, label ? label : "");
    }
    fflush(f->to);
}

/* What the library says again and again is told once for a device. */
static int is_told(const struct report_file *f, const struct fact *r)
{
    for (size_t i = 0; i < f->n && fact_is(r, "log"); i++)
        if (f->all[i].device == f->devices - 1 && fact_is(&f->all[i], "log") &&
            !strcmp(fact_value(&f->all[i], "words"), fact_value(r, "words")))
            return 1;
    return 0;
}

void report_file_add(struct report_file *f, struct fact *r)
{
    if (is_told(f, r)) {
        fact_free(r);
        return;
    }
    struct fact *const all = realloc(f->all, (f->n + 1) * sizeof *all);
    r->device = f->devices - 1;
    print(f, r);
    if (!all) {
        f->failed = 1;
        fact_free(r);
        return;
    }
    f->all = all;
    all[f->n++] = *r;
}

void report_file_add_line(struct report_file *f, const struct fact_line *l)
{
    struct fact r;
    if (fact_read(&r, l->text, &f->scrub) == 0) {
        report_file_add(f, &r);
        return;
    }
    f->failed = 1;
    fact_free(&r);
}

/* ---- The end ---- */

/* What was looked at, so that "nothing" is known from "nothing wrong". */
static void print_counts(struct report_file *f)
{
    int within = 0, beyond = 0, timed = 0;
    double vary = 1; /* the median of a problem's times over the shortest */
    for (size_t i = 0; i < f->n; i++) {
        const char *const verdict = fact_value(&f->all[i], "verdict");
        within += !strcmp(verdict, "within");
        beyond += !strcmp(verdict, "BEYOND") || !strcmp(verdict, "WRONG");
        if (!fact_is(&f->all[i], "bench"))
            continue;
        const double ms = fact_number(&f->all[i], "ms"), best = fact_number(&f->all[i], "best_ms");
        timed += ms > 0;
        vary = best > 0 && ms / best > vary ? ms / best : vary;
    }
    fprintf(f->to, "    %d results are within the bound, %d are not; %d problems were timed.\n", within, beyond,
            timed);
    if (vary > BUSY)
        fprintf(f->to, "    Times vary up to %.1f times: the machine was busy, and figures of speed are worth "
                "little.\n", vary);
    putc('\n', f->to);
}

static void print_findings(struct report_file *f, const struct findings *x)
{
    fprintf(f->to, "\n\n==== what to look at first ====\n\n");
    print_counts(f);
    if (!x->n)
        fprintf(f->to, "    Nothing stands out.\n");
    for (size_t i = 0; i < x->n && i < TOLD; i++)
        fprintf(f->to, "%3d. %s%s%s\n", (int)i + 1, x->all[i].words, f->devices > 1 ? "   on " : "",
                f->devices > 1 ? f->names[x->all[i].device] : "");
    if (x->n > TOLD)
        fprintf(f->to, "    The JSON part has %d more.\n", (int)x->n - TOLD);
}

/* All records of a kind that a device has. device -1: the machine's. */
static void print_member(struct report_file *f, const struct fact_kind *k, int device)
{
    int n = 0;
    fprintf(f->to, ",\n  \"%s\": %s", k->json, k->once ? "" : "[");
    for (size_t i = 0; i < f->n; i++) {
        if (f->all[i].kind != k || f->all[i].device != device || (n && k->once))
            continue;
        fputs(!n++ ? "" : ",", f->to);
        fputs(k->once || k->fields[1].name == NULL ? "" : "\n    ", f->to);
        fact_print_json(f->to, &f->all[i]);
    }
    fputs(!k->once ? "]" : n ? "" : "null", f->to);
}

static void print_device(struct report_file *f, int device)
{
    fprintf(f->to, "%s\n {\"number\": %d", device ? "," : "", device);
    for (const struct fact_kind *k = fact_kinds; k->name; k++)
        if (k->json && strcmp(k->name, "system") != 0)
            print_member(f, k, device);
    fputc('}', f->to);
}

static void print_json(struct report_file *f, const struct findings *x, int whole)
{
    fprintf(f->to, "{\"schema\": %d,\n  \"whole\": %s", REPORT_SCHEMA, whole ? "true" : "false");
    print_member(f, fact_kind("system"), -1);
    fputs(",\n  \"devices\": [", f->to);
    for (int i = 0; i < f->devices; i++)
        print_device(f, i);
    fputs("],\n  \"findings\": [", f->to);
    for (size_t i = 0; i < x->n; i++) {
        fprintf(f->to, "%s\n    {\"kind\": \"%s\", \"device\": %d, \"words\": ", i ? "," : "", x->all[i].kind,
                x->all[i].device);
        json_string(f->to, x->all[i].words);
        fputc('}', f->to);
    }
    fputs("]}\n", f->to);
}

int report_file_end(struct report_file *f, int whole)
{
    struct findings x;
    end_line(f);
    if (findings_make(&x, f->all, f->n) != 0)
        f->failed = 1;
    print_findings(f, &x);
    fprintf(f->to, "\n\n==== where to send it ====\n\n    This whole file, to %s.%s\n\n\n==== JSON ====\n", where_to(),
            whole ? "" : "\n    A signal ended it early; it has what was known by then.");
    print_json(f, &x, whole);
    fprintf(f->to, "==== end ====\n");
    if (fflush(f->to) != 0 || ferror(f->to))
        f->failed = 1;
    findings_free(&x);
    for (size_t i = 0; i < f->n; i++)
        fact_free(&f->all[i]);
    free(f->all);
    f->all = NULL;
    f->n = 0;
    return f->failed ? -1 : 0;
}
