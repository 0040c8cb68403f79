/* devices.c - the devices that there are, for --list-devices
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/devices.h"

#include "tools/system/opencl.h"

#include <clattn.h>

#include <string.h>

/* The engine for long rows in f32, or why there is none. Compiles nothing. */
static void write_engine(const struct opencl_listed *at, char *text, size_t len)
{
    clattn_problem problem = CLATTN_PROBLEM_INIT;
    clattn_options options = CLATTN_OPTIONS_INIT;
    clattn_handle handle = NULL;
    char place[32], why[256] = "";
    struct opencl cl;
    options.why = why;
    options.why_len = sizeof why;
    problem.d = 128;
    snprintf(place, sizeof place, "%u:%u", at->p, at->d);
    snprintf(text, len, "engine ");
    cl_int status = opencl_open(place, &cl);
    if (status == CL_SUCCESS && (status = clattn_create(&handle, cl.context, cl.device, &options)) == CL_SUCCESS)
        status = clattn_config_at(handle, &problem, 0, text + strlen(text), len - strlen(text));
    if (status == CL_SUCCESS)
        text[strlen("engine ") + strcspn(text + strlen("engine "), " ")] = '\0';
    else if (handle)
        (void)clattn_error_detail(handle, why, sizeof why, NULL);
    if (status != CL_SUCCESS)
        snprintf(text, len, "not usable: %s", *why ? why : clattn_status_string(status));
    (void)clattn_release(handle);
    opencl_close(&cl);
}

int devices_list(FILE *to, struct fault *f)
{
    struct opencl_listed at;
    cl_device_id first = NULL;
    cl_int status;
    unsigned n = 0;
    if (clattn_default_device(NULL, &first) != CL_SUCCESS)
        first = NULL; /* there are others at most, which are taken by name only */
    for (; (status = opencl_at(n, &at)) == CL_SUCCESS; n++) {
        char engine[512];
        write_engine(&at, engine, sizeof engine);
        fprintf(to, "%u:%u  %-11s  %s, driver %s, %s%s\n", at.p, at.d, at.kind, at.name, at.driver, engine,
                at.device == first ? " (default)" : "");
    }
    if (status != CL_DEVICE_NOT_FOUND)
        return fault_set(f, EXIT_NO_DEVICE, "--list-devices: %s", clattn_status_string(status));
    return n ? 0 : opencl_missing(NULL, f);
}
