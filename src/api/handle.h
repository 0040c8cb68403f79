/* handle.h - what the public objects are
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HANDLE_H
#define HANDLE_H

#include "api/plan_table.h"
#include "base/last_error.h"

#include <sys/types.h>

struct clattn_handle_s {
    int references;
    pid_t pid;
    struct maker maker;
    struct config_lookup lookup;
    struct plan_table plans;
    struct last_error last_error;
};

struct clattn_plan_s {
    int references;
    clattn_handle handle;
    struct plan plan;
};

/* CL_SUCCESS when the object may be used: it is there, and not a parent's. */
cl_int handle_check(clattn_handle h);
cl_int handle_check_plan(clattn_plan plan);

/* Why handle_check() refuses a handle: there is none that could keep the words. */
const char *handle_unusable(cl_int status);

/* References are counted atomically. handle_count_down(): whether that was the last one. */
void handle_count_up(int *references);
bool handle_count_down(int *references);

bool handle_is_forked(clattn_handle h); /* made by a parent process */

/* Keeps the words of a failure for clattn_error_detail(); passes the status on. */
cl_int handle_done(clattn_handle h, cl_int status, const struct why *why);

/* The end of a call without a handle to keep words in: tells the log of a failure, and leaves the words where the
 * options say, "" without one. Passes the status on. */
cl_int handle_failed(const clattn_options *o, cl_int status, const struct why *why);

/* Text into a caller's room; needed (may be NULL): what it takes. */
void handle_copy_text(const char *from, char *to, size_t len, size_t *needed);

/* Fills a caller's struct of its own size from ours. */
cl_int handle_give(void *to, const void *from, size_t size, const char *name, struct why *why);

#endif
