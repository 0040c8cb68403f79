/* candidate.c - one candidate being measured: what runs in a child
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/isolated.h"

#include "tools/tune/named.h"
#include "tools/system/opencl.h"

#include <clattn_tune.h>
#include <stdio.h>
#include <string.h>

/* Everything that is open in it. */
struct candidate {
    struct named problem;
    struct opencl where;
    clattn_handle handle;
    clattn_trial trial;
};

/* Without records and cache, where binaries of refused candidates would pile up. */
static cl_int prepare(struct candidate *c, const struct tune_options *o, struct fault *f)
{
    clattn_options options = CLATTN_OPTIONS_INIT;
    options.tune = CLATTN_TUNE_OFF;
    options.cache_dir = "";
    if (named_open(&c->problem, o->problems[0], f) != 0)
        return CLATTN_ERROR_SYNTAX;
    cl_int e = opencl_open(o->device, &c->where);
    if (e == CL_DEVICE_NOT_FOUND)
        opencl_missing(o->device, f);
    if (e == CL_SUCCESS)
        e = clattn_create(&c->handle, c->where.context, c->where.device, &options);
    if (e == CL_SUCCESS)
        e = clattn_trial_create(&c->trial, c->handle, &c->problem.c.problem, o->child);
    return e;
}

/* Writes "STATUS: detail", in one line. */
static void put_in_words(struct candidate *c, cl_int e, char words[CHILD_WORDS])
{
    char detail[CHILD_WORDS] = "";
    if (c->handle)
        (void)clattn_error_detail(c->handle, detail, sizeof detail, NULL);
    const size_t n = strcspn(detail, "\r\n");
    snprintf(words, CHILD_WORDS, "%s%s%.*s", clattn_status_string(e), n ? ": " : "", (int)n, detail);
}

static void serve(struct candidate *c, const struct tune_options *o, int fd)
{
    struct fault f = { 0, "" };
    char words[CHILD_WORDS] = "";
    double seconds = 0;
    cl_int e = prepare(c, o, &f);
    for (;;) {
        if (e != CL_SUCCESS && !f.status)
            put_in_words(c, e, words);
        if (child_answer(fd, e, seconds, f.status ? f.text : words) != 0 || e != CL_SUCCESS || child_asked(fd) != 0)
            return;
        e = clattn_trial_run(c->trial, &seconds);
    }
}

int candidate_main(const struct tune_options *o)
{
    static struct candidate c;
    const int fd = child_begin();
    if (fd < 0)
        return EXIT_USAGE;
    serve(&c, o, fd);
    (void)clattn_trial_release(c.trial);
    (void)clattn_release(c.handle);
    opencl_close(&c.where);
    named_close(&c.problem);
    return EXIT_OK;
}
