/* tasks.h - what clattn-tune does, each a function
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_H
#define TASKS_H

#include "tools/system/opencl.h"
#include "tools/tune/tune_options.h"

#include <clattn.h>

/* What is open. */
struct tuner {
    struct tune_options options;
    const char *program;      /* argv[0] */
    struct opencl where;
    clattn_handle handle;
    char path[1024];          /* of the cache */
    char log[1024];           /* the last that the library had to say */
    int (*stopped)(void);     /* the number of the signal that asked for it, else 0 */
};

/* What is kept, and where. Returns as a task does. */
int task_stat(clattn_cache_info *info, struct fault *f);

/* Each returns 0, or -1 with `f` set. The first two return as well when `stopped` says so. */
int task_tune(struct tuner *t, struct fault *f);
int task_verify(struct tuner *t, struct fault *f);
int task_classes(struct tuner *t, struct fault *f);
int task_list(struct tuner *t, struct fault *f);
int task_forget(struct tuner *t, struct fault *f);
int task_export(struct tuner *t, struct fault *f);
int task_import(struct tuner *t, struct fault *f);
int task_cache_stat(struct tuner *t, struct fault *f);
int task_cache_clear(struct tuner *t, struct fault *f);

#endif
