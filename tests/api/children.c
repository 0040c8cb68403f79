/* children.c - what processes that were forked make: a handle where nobody used OpenCL before, and else none
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/process.h"
#include "tests/lib/wrap.h"

#include <unistd.h>

static const char text[] = "f32 b1 h2/1 q5 k7 d8 causal lse seed3";
static char *program; /* this one */

/* ---- Those that use OpenCL first ---- */

/* Computes, with a device, a context and a handle of its own. 0: right, or there is no device. */
static int compute(void *ignored)
{
    const struct device *devices;
    const char *why;
    char words[512];
    (void)ignored;
    if (!harness_open(&devices, &why))
        return 0;
    const int verdict = harness_check_text(devices, text, NULL, PADDED, words, sizeof words);
    harness_close();
    return verdict > 0 ? 0 : 1;
}

/* ---- Those that must not ---- */

/* Makes no handle and finds no device, is told why, and leaves the driver alone. 0, or the number of what is wrong. */
static int make_nothing(void *user)
{
    const struct opencl *const cl = user;
    char words[1024] = "";
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_handle h = (clattn_handle)1;
    cl_platform_id platform = (cl_platform_id)1;
    cl_device_id device = cl->device;
    o.why = words;
    o.why_len = sizeof words;
    wrap_arm(0, 0);
    if (clattn_create(&h, cl->context, cl->device, &o) != CLATTN_ERROR_FORKED || h)
        return 1;
    if (!strstr(words, "forked") || !strstr(words, "exec") || !strstr(words, "spawn"))
        return 2;
    if (clattn_default_device(&platform, &device) != CLATTN_ERROR_FORKED || platform || device)
        return 3;
    return wrap.calls || wrap.memory ? 4 : 0;
}

static int make_nothing_in_child(void *user)
{
    return in_child(make_nothing, user);
}

/* A use as far as it goes: PoCL starts its threads when it is asked for devices. */
static int only_find(void *ignored)
{
    struct opencl cl = { .context = (cl_context)1 }; /* which a child would ask for its devices */
    (void)ignored;
    return clattn_default_device(NULL, &cl.device) ? 0 : in_child(make_nothing, &cl);
}

/* Arguments are looked at first, and a call that they end is no use. */
static int misuse(void *ignored)
{
    clattn_handle h;
    cl_platform_id platform;
    (void)ignored;
    if (clattn_create(&h, NULL, NULL, NULL) != CL_INVALID_CONTEXT ||
        clattn_default_device(&platform, NULL) != CLATTN_ERROR_INVALID_ARGUMENT)
        return 10;
    return in_child(compute, NULL);
}

static int execute(void *ignored)
{
    char word[] = "compute", *const argv[] = { program, word, NULL };
    (void)ignored;
    execv(program, argv);
    return 99;
}

static void test_device(const struct device *d)
{
    clattn_handle h = NULL;
    struct opencl cl = d->cl;
    char words[512] = "";
    is_int(in_child(make_nothing, &cl), 0, "a child makes no handle, is told why, and calls nothing of OpenCL");
    is_int(in_child(make_nothing_in_child, &cl), 0, "nor does a child of a child");
    is_int(in_child(execute, NULL), 0, "what a child executes computes");
    ok(!clattn_create(&h, d->cl.context, d->cl.device, NULL), "the parent makes another handle");
    clattn_release(h);
    ok(harness_check_text(d, text, NULL, PADDED, words, sizeof words) > 0, "and computes %s", words);
}

/* What ended how before this process itself used OpenCL. */
static int first, second, found, misused;

static void test_before(const struct device *d)
{
    is_int(first, 0, "a child computes whose parent has not used OpenCL");
    is_int(second, 0, "and so does another");
    is_int(found, 0, "to find a device is to use OpenCL: a child makes no handle");
    is_int(misused, 0, "a call with wrong arguments is no use: a child computes");
    test_device(d);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 1)
        return compute(NULL);
    first = in_child(compute, NULL);
    second = in_child(compute, NULL);
    found = in_child(only_find, NULL);
    misused = in_child(misuse, NULL);
    return each_device(test_before);
}
