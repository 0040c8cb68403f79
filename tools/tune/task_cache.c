/* task_cache.c - clattn-tune's tasks that need no device: what is kept, and clearing it
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/tasks.h"

#include "tools/system/json.h"

#include <clattn_tune.h>
#include <inttypes.h>

int task_stat(clattn_cache_info *info, struct fault *f)
{
    const clattn_cache_info none = { sizeof none, 0, 0, 0, 0, 0, 0, "" };
    *info = none;
    const cl_int e = clattn_cache_stat(NULL, info);
    return e == CL_SUCCESS ? 0 : fault_set(f, EXIT_NO_CACHE, "the cache: %s", clattn_status_string(e));
}

int task_cache_stat(struct tuner *t, struct fault *f)
{
    clattn_cache_info i;
    if (task_stat(&i, f) != 0)
        return -1;
    if (t->options.json) {
        printf("{\"path\": ");
        json_string(stdout, i.path);
        printf(", \"binaries\": %" PRIu64 ", \"binary_bytes\": %" PRIu64 ", \"binary_max\": %" PRIu64, i.binaries,
               i.binary_bytes, i.binary_max);
        printf(", \"records\": %" PRIu64 ", \"record_bytes\": %" PRIu64 ", \"skipped\": %" PRIu64 "}\n", i.records,
               i.record_bytes, i.skipped);
        return 0;
    }
    printf("path      %s\n", i.path);
    printf("binaries  %" PRIu64 ", %" PRIu64 " bytes of at most %" PRIu64 "\n", i.binaries, i.binary_bytes,
           i.binary_max);
    printf("records   %" PRIu64 ", %" PRIu64 " bytes\n", i.records, i.record_bytes);
    printf("skipped   %" PRIu64 " known to crash here\n", i.skipped);
    return 0;
}

int task_cache_clear(struct tuner *t, struct fault *f)
{
    clattn_cache_info before, after;
    if (task_stat(&before, f) != 0)
        return -1;
    const cl_int e = clattn_cache_clear(NULL);
    if (e != CL_SUCCESS)
        return fault_set(f, EXIT_NO_CACHE, "%s: %s", t->path, clattn_status_string(e));
    if (task_stat(&after, f) != 0)
        return -1;
    if (after.binaries || after.records)
        return fault_set(f, EXIT_NO_CACHE, "%s: %" PRIu64 " files cannot be removed", t->path,
                         after.binaries + after.records);
    if (t->options.json)
        printf("{\"binaries\": %" PRIu64 ", \"records\": %" PRIu64 "}\n", before.binaries, before.records);
    else if (!t->options.quiet)
        printf("%" PRIu64 " binaries and %" PRIu64 " records removed from %s\n", before.binaries, before.records,
               after.path);
    return 0;
}
