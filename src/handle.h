/* handle.h - what the public objects are
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HANDLE_H
#define HANDLE_H

#include "plan.h"
#include "words.h"

#include <sys/types.h>

struct clattn_handle_s {
    int references;
    pid_t pid;
    struct maker maker;
    struct choices choices;
    struct words words;
};

struct clattn_plan_s {
    int references;
    clattn_handle handle;
    struct plan plan;
};

/* CL_SUCCESS when the object may be used: it is there, and not a parent's. */
cl_int handle_check(clattn_handle h);
cl_int handle_check_plan(clattn_plan plan);

/* Keeps the words of a failure for clattn_error_detail(); passes the status on. */
cl_int handle_done(clattn_handle h, cl_int status, const struct why *why);

/* The end of a call without a handle to keep words in: tells the log of a failure, and leaves the words where the options say,
 * "" without one. Passes the status on. */
cl_int handle_failed(const clattn_options *o, cl_int status, const struct why *why);

/* Text into a caller's room; needed (may be NULL): what it takes. */
void handle_copy_text(const char *from, char *to, size_t len, size_t *needed);

/* Fills a caller's struct of its own size from ours. */
cl_int handle_give(void *to, const void *from, size_t size, const char *name, struct why *why);

#endif
