/* parts.c - what a child finds out about its device, in parts that are made of steps
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#define CL_USE_DEPRECATED_OPENCL_1_1_APIS /* clGetExtensionFunctionAddress(), which alone asks the loader itself */
#include "tools/report/parts.h"

#include "tools/system/child.h"
#include "tools/system/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct part parts_table[] = {
    { "device", "what the driver says of it", 1, 0, part_device },
    { "checks", "results of the usual problems against float64", 0.4, 0, part_checks },
    { "bench", "speed: prefill, decode, gradients; the share of the roofline", 0.5, 0, part_bench },
    { "engines", "each engine: whether it is offered, and computes right", 0.4, 0, part_engines },
    { "kernels", "what the compiler made: seconds, bytes, registers, spills", 0.5, 0, part_kernels },
    { "tuning", "searches: the standard tile and the fastest one", 0.7, 1, part_tuning },
    { "more-checks", "results of each engine, and of more problems", 1, 1, part_more_checks },
    { .name = NULL },
};

void parts_send(struct visit *v, const struct fact_line *l)
{
    if (!v->gone && child_answer(v->fd, CL_SUCCESS, 0, l->text) != 0)
        v->gone = 1;
}

/* The first plan in f16 runs the self-tests of engines that have one, and engine naive compiles fast. */
void parts_settle(struct visit *v)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    o.config = "naive";
    if (v->settled++ || v->type & CL_DEVICE_TYPE_CPU ||
        clattn_workload_parse("f16 b1 h1 q4 k4 d64", &c, NULL, 0) != CL_SUCCESS)
        return;
    if (clattn_plan_create(&plan, v->handle, &c.problem, &o) == CL_SUCCESS)
        (void)clattn_plan_release(plan);
}

void parts_failure(const struct visit *v, cl_int status, char *text, size_t len)
{
    char detail[FACT_WORDS] = "";
    if (v->handle)
        (void)clattn_error_detail(v->handle, detail, sizeof detail, NULL);
    snprintf(text, len, "%s%s%s", clattn_status_string(status), *detail ? ": " : "", detail);
}

static void leave_out(struct visit *v, const char *why)
{
    struct fact_line l;
    fact_begin(&l, "left_out");
    fact_add(&l, v->part);
    fact_add(&l, why);
    parts_send(v, &l);
}

void parts_doing(struct visit *v, const char *doing)
{
    struct fact_line l;
    fact_begin(&l, "step");
    fact_add_number(&l, (double)(v->next - 1), 9);
    fact_add(&l, v->part);
    fact_add(&l, doing);
    parts_send(v, &l);
}

int parts_step(struct visit *v, const char *doing)
{
    const long number = v->next++;
    if (v->gone || number < v->o->first)
        return 0;
    if (!(clock_ms() < v->end)) {
        if (!v->told++)
            leave_out(v, "time");
        return 0;
    }
    parts_doing(v, doing);
    return !v->gone;
}

/* The line that is worth telling: of compilers, which say much, one that complains. NULL: none. Searches are told
 * anyway. */
static const char *line_of(const char *text)
{
    const char *at = strstr(text, "error");
    at = at ? at : strstr(text, "warning");
    if (!strncmp(text, "measuring ", strlen("measuring ")) || (!at && strchr(text, '\n')))
        return NULL;
    for (at = at ? at : text; at > text && at[-1] != '\n'; at--)
        ;
    return at;
}

static void hear(void *user, const char *text)
{
    const char *const line = line_of(text);
    char words[FACT_WORDS];
    struct fact_line l;
    if (!line)
        return;
    snprintf(words, sizeof words, "%.*s", (int)strcspn(line, "\r\n"), line);
    fact_begin(&l, "log");
    fact_add(&l, words);
    parts_send(user, &l);
}

/* Without records and cache, so that everything is compiled and has its standard tile. */
static int open_device(struct visit *v, char *why, size_t len)
{
    clattn_options options = CLATTN_OPTIONS_INIT;
    options.tune = CLATTN_TUNE_OFF;
    options.cache_dir = "";
    options.log = hear;
    options.log_user = v;
    options.why = why;
    options.why_len = len;
    cl_int e = opencl_open(v->o->device, &v->where);
    if (e == CL_SUCCESS)
        e = clGetDeviceInfo(v->where.device, CL_DEVICE_TYPE, sizeof v->type, &v->type, NULL);
    if (e == CL_SUCCESS)
        e = clattn_create(&v->handle, v->where.context, v->where.device, &options);
    if (e != CL_SUCCESS && !*why)
        snprintf(why, len, "%s", clattn_status_string(e));
    return e == CL_SUCCESS ? 0 : -1;
}

int parts_asked(const struct report_options *o, int i)
{
    return (o->parts & 1u << i) && !(o->quick && parts_table[i].is_long);
}

/* The last part has all that is left. */
static double share_of(const struct visit *v, int i)
{
    int next = i + 1;
    while (parts_table[next].name && !parts_asked(v->o, next))
        next++;
    return parts_table[next].name ? parts_table[i].share : 1;
}

/* What nobody asks for is told by the first child. */
static void run_parts(struct visit *v)
{
    for (int i = 0; parts_table[i].name && v->o->first == 0; i++) {
        v->part = parts_table[i].name;
        if (!parts_asked(v->o, i))
            leave_out(v, "not asked for");
    }
    for (int i = 0; parts_table[i].name && !v->gone; i++) {
        v->part = parts_table[i].name;
        v->told = 0;
        v->end = clock_ms() + share_of(v, i) * (v->all - clock_ms());
        if (parts_asked(v->o, i))
            parts_table[i].run(v);
    }
}

/* The loader's own words, which ocl-icd and Khronos' have. */
static void tell_loader(struct visit *v)
{
    enum { LOADER_VERSION = 2, LOADER_NAME = 3 }; /* OCL_ICDL_VERSION, OCL_ICDL_NAME */
    typedef cl_int(CL_API_CALL * asked)(cl_uint what, size_t n, void *to, size_t *got);
    const asked ask = (asked)clGetExtensionFunctionAddress("clGetICDLoaderInfoOCLICD");
    char name[128] = "", version[128] = "", text[300];
    struct fact_line l;
    if (!ask || ask(LOADER_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS ||
        ask(LOADER_VERSION, sizeof version - 1, version, NULL) != CL_SUCCESS)
        return;
    snprintf(text, sizeof text, "%s %s", name, version);
    fact_begin(&l, "loader");
    fact_add(&l, text);
    parts_send(v, &l);
}

/* All devices, or the first one that --device names. Returns 0, or -1 with `f` set. */
static int list(struct visit *v, struct fault *f)
{
    struct opencl_listed at;
    struct fact_line l;
    char place[32];
    int n = 0;
    tell_loader(v);
    for (unsigned i = 0; opencl_at(i, &at) == CL_SUCCESS && !v->gone; i++) {
        if (v->o->device && (n || !opencl_is_named(&at, v->o->device)))
            continue;
        snprintf(place, sizeof place, "%u:%u", at.p, at.d);
        fact_begin(&l, "listed");
        fact_add(&l, place);
        fact_add(&l, at.kind);
        fact_add(&l, at.name);
        parts_send(v, &l);
        n++;
    }
    return n ? 0 : opencl_missing(v->o->device, f);
}

int parts_main(const struct report_options *o)
{
    static struct visit v;
    static struct fault f;
    char why[FACT_WORDS] = "";
    int bad = 0;
    v.o = o;
    v.fd = child_begin();
    v.all = clock_ms() + o->seconds * 1e3;
    v.part = "open";
    if (v.fd < 0)
        return EXIT_USAGE;
    if (o->first < 0)
        bad = list(&v, &f);
    else if (!(bad = open_device(&v, why, sizeof why)))
        run_parts(&v);
    if (!v.gone)
        (void)child_answer(v.fd, bad ? CLATTN_ERROR_NOT_SUPPORTED : CL_DEVICE_NOT_FOUND, 0,
                           f.status ? f.text : why); /* the end */
    for (int i = 0; i < 2; i++)
        probe_close(&v.bench.probes[i]);
    (void)clattn_release(v.handle);
    opencl_close(&v.where);
    return EXIT_OK;
}
