/* clattn-tune.c - measures which configurations are the fastest on a device, and keeps them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/tasks.h"

#include "tools/tune/classes.h"
#include "tools/tune/isolated.h"
#include "tools/system/devices.h"
#include "tools/system/json.h"
#include "tools/tune/named.h"
#include "tools/system/system.h"

#include <clattn_tune.h>
#include <string.h>

/* ---- The device ---- */

/* Keeps the library's last message: why something could not be kept. */
static void remember(void *user, const char *text)
{
    struct tuner *t = user;
    snprintf(t->log, sizeof t->log, "%.*s", (int)strcspn(text, "\r\n"), text);
}

static int open_device(struct tuner *t, struct fault *f)
{
    const char *text = t->options.device;
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.log = remember;
    o.log_user = t;
    o.tune = CLATTN_TUNE_AUTO; /* whatever the environment says: this program is for records */
    cl_int e = opencl_open(text, &t->where);
    if (e == CL_DEVICE_NOT_FOUND)
        return opencl_missing(text, f);
    if (e == CL_SUCCESS)
        e = clattn_create(&t->handle, t->where.context, t->where.device, &o);
    if (e != CL_SUCCESS)
        return fault_set(f, EXIT_NO_DEVICE, "the device cannot be used: %s%s%s", clattn_status_string(e),
                         t->log[0] ? ": " : "", t->log);
    return 0;
}

static int open_cache(struct tuner *t, struct fault *f)
{
    clattn_cache_info info;
    if (task_stat(&info, f) != 0)
        return -1;
    if (!info.path[0])
        return fault_set(f, EXIT_NO_CACHE, "there is no directory to keep records in: see CLATTN_CACHE_DIR");
    snprintf(t->path, sizeof t->path, "%s", info.path);
    return 0;
}

/* ---- --classes ---- */

int task_classes(struct tuner *t, struct fault *f)
{
    struct classes all;
    if (classes_gather(&all, t->handle, &t->options, f) == 0)
        for (size_t i = 0; i < all.n; i++) {
            if (t->options.json) {
                printf("{\"class\": ");
                json_string(stdout, all.list[i].class_text);
                printf("}\n");
            } else {
                printf("%s\n", all.list[i].class_text);
            }
        }
    classes_free(&all);
    return f->status ? -1 : 0;
}

/* ---- main ---- */

/* Wrong problem strings are reported before anything is opened. */
static int check_problems(const struct tune_options *o, struct fault *f)
{
    struct named p;
    for (int i = 0; i < o->n && !f->status; i++) {
        (void)named_open(&p, o->problems[i], f);
        named_close(&p);
    }
    return f->status ? -1 : 0;
}

static int run(struct tuner *t, struct fault *f)
{
    static int (*const tasks[])(struct tuner *, struct fault *) = {
        [TASK_TUNE] = task_tune,         [TASK_CLASSES] = task_classes,       [TASK_LIST] = task_list,
        [TASK_VERIFY] = task_verify,    [TASK_FORGET] = task_forget,         [TASK_EXPORT] = task_export,
        [TASK_IMPORT] = task_import,    [TASK_CACHE_STAT] = task_cache_stat, [TASK_CACHE_CLEAR] = task_cache_clear,
    };
    const enum task task = t->options.task;
    if (check_problems(&t->options, f) != 0)
        return -1;
    const int device = task != TASK_CACHE_STAT && task != TASK_CACHE_CLEAR;
    if (task != TASK_CLASSES && open_cache(t, f) != 0)
        return -1;
    if (device && open_device(t, f) != 0)
        return -1;
    return tasks[task](t, f);
}

int main(int argc, char **argv)
{
    static struct tuner t;
    static struct fault f;
    t.program = argc > 0 ? argv[0] : "clattn-tune";
    t.stopped = system_interrupted;
    if (tune_options_parse(argc, argv, &t.options, &f) == 0) {
        if (t.options.task == TASK_CHILD)
            return candidate_main(&t.options);
        system_catch_interrupts(); /* the first asks, the second kills */
        child_expect();
        if (t.options.help)
            tune_options_help(stdout);
        else if (t.options.version)
            printf("clattn-tune %s\n", clattn_version());
        else if (t.options.list_devices)
            (void)devices_list(stdout, &f);
        else
            (void)run(&t, &f);
        if (fflush(stdout) != 0 || ferror(stdout))
            fault_set(&f, EXIT_USAGE, "standard output cannot be written");
    }
    (void)clattn_release(t.handle);
    opencl_close(&t.where);
    if (f.status != EXIT_OK)
        fault_print(&f, "clattn-tune");
    return f.status;
}
