/* nest.h - cache directories of a test's own, handles that use them, and plans made and judged there
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NEST_H
#define NEST_H

#include "harness.h"

enum { NEST_PATH = 512 };

/* ---- Directories ---- */

/* A fresh one of this user alone, under TMPDIR, HOME or /tmp. 0, or -1. */
int nest_make(char path[NEST_PATH]);
/* Removes it with all that is in it. */
void nest_remove(const char *path);
/* Calls visit (NULL: none) for each file below path/under, in the order of their names; returns their number. */
int nest_each(const char *path, const char *under, void (*visit)(void *user, const char *file, size_t size), void *user);
/* One number of names, modes, sizes, times of change and bytes of all that is in it. */
uint64_t nest_state(const char *path);
/* The bytes of a file with a NUL behind them, to be freed; NULL when there are none. */
char *nest_read(const char *file, size_t *n);
/* Over what is there. 0, or -1. */
int nest_write(const char *file, const void *bytes, size_t n);
/* nest_make(), and its path in variable `name` of the environment until the process ends; then it is removed. */
int nest_for_process(const char *name);

/* ---- Handles and plans ---- */

/* What a handle has to say, a line at a time. */
struct nest_log {
    int lines;      /* that begin with "cache:" */
    char first[256];
};
void nest_listen(void *user, const char *text); /* for clattn_options.log; user: a struct nest_log */

/* `options` changed so: tune, and dir as its cache. */
clattn_options nest_options(int tune, const char *dir);
/* A handle for the device in a context of d's (`own`: in a new one, which ends with it); NULL when it cannot be made. */
clattn_handle nest_handle(const struct device *d, int tune, const char *dir);
clattn_counters nest_counters(clattn_handle h);

/* What plans are made with. */
struct nest {
    clattn_handle handle;
    cl_context context;
    cl_command_queue queue;
};
/* A handle in a context and with a queue of its own. 0, or -1. */
int nest_open(struct nest *n, const struct device *d, const clattn_options *options);
void nest_close(struct nest *n);
/* A handle of someone else's in place of n's own. */
struct nest nest_of(const struct device *d, clattn_handle h);

/* How a plan came to be. */
struct nest_plan {
    int source, binary;
    char config[128];
};
/* Makes a plan for a problem string and runs it, with outputs poisoned before. 1 right, 0 wrong, -1 not supported here; `why`
 * says how. config, how: may be NULL. */
int nest_run(const struct nest *n, const char *problem, const char *config, struct nest_plan *how, char *why, size_t len);

#endif
