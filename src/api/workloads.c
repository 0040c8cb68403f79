/* workloads.c - public calls about workloads: problem strings and the work in them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/handle.h"

#include "base/caller_struct.h"
#include "base/text.h"
#include "problem/workload.h"

static cl_int read_workload(clattn_workload *out, const clattn_workload *in, struct why *why)
{
    const cl_int status = caller_struct_read(out, sizeof *out, in, "clattn_workload", why);
    /* The problem inside may be of a newer kind too: what was cut off it has been seen to be zero. */
    if (!status && out->problem.struct_size > sizeof out->problem)
        out->problem.struct_size = sizeof out->problem;
    return status;
}

cl_int clattn_workload_parse(const char *text, clattn_workload *out, char *why_text, size_t len)
{
    struct why why = { "" };
    cl_int status = CLATTN_ERROR_INVALID_ARGUMENT;
    if (!text || !out)
        why_set(&why, status, "%s is NULL", text ? "out" : "text");
    else
        status = workload_parse(out, text, &why);
    handle_copy_text(why.text, why_text, len, NULL);
    return status;
}

cl_int clattn_workload_print(const clattn_workload *c, char *text, size_t len, size_t *needed)
{
    struct text to = { text, text ? len : 0, 0 };
    struct why why;
    clattn_workload own;
    if (text && len)
        *text = '\0';
    cl_int status = read_workload(&own, c, &why);
    if (!status)
        status = workload_print(&own, &to, &why);
    if (!status && needed)
        *needed = to.length + 1;
    return status;
}

cl_int clattn_workload_cost(const clattn_workload *c, double *flops, double *bytes)
{
    struct why why;
    clattn_workload own;
    double f, b;
    cl_int status = read_workload(&own, c, &why);
    if (status || (status = workload_cost(&own, &f, &b, &why)))
        return status;
    if (flops)
        *flops = f;
    if (bytes)
        *bytes = b;
    return CL_SUCCESS;
}
