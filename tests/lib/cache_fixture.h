/* cache_fixture.h - cache directories of a test's own, handles that use them, and plans made and judged there
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_FIXTURE_H
#define CACHE_FIXTURE_H

#include "tests/lib/harness.h"

#include <clattn_tune.h>

enum { NEST_PATH = 512 };

/* ---- Directories ---- */

/* A fresh one of this user alone, under TMPDIR, HOME or /tmp. Here and below a test ends where there is none. */
void cache_fixture_make(char path[NEST_PATH]);
/* Removes it with all that is in it. */
void cache_fixture_remove(const char *path);
/* Calls visit (NULL: none) for each file below path/under, in the order of their names; returns their number. */
int cache_fixture_each(const char *path, const char *under, void (*visit)(void *user, const char *file, size_t size),
                       void *user);
/* One number of names, modes, sizes, times of change and bytes of all that is in it. */
uint64_t cache_fixture_state(const char *path);
/* The bytes of a file with a NUL behind them, to be freed; NULL when there are none. */
char *cache_fixture_read(const char *file, size_t *n);
/* Over what is there. 0, or -1. */
int cache_fixture_write(const char *file, const void *bytes, size_t n);
/* cache_fixture_make(), and its path in variable `name` of the environment until the process ends; then it is
 * removed. */
void cache_fixture_for_process(const char *name);

/* ---- Handles and plans ---- */

/* What is compiled soonest, for tests that are not about kernels. */
#define CACHE_FIXTURE_SOONEST "naive wg1,bk8"

/* What a handle has to say, a line at a time. */
struct cache_fixture_log {
    int lines;      /* that begin with "cache:" */
    char first[256];
};
void cache_fixture_listen(void *user, const char *text); /* for clattn_options.log; user: a struct cache_fixture_log */

/* `options` changed so: tune, and dir as its cache. */
clattn_options cache_fixture_options(int tune, const char *dir);
/* A handle for the device in a context of d's. */
clattn_handle cache_fixture_handle(const struct device *d, int tune, const char *dir);
clattn_counters cache_fixture_counters(clattn_handle h);

/* The device with a handle, a context and a queue of the test's own. */
struct device cache_fixture_open(const struct device *d, const clattn_options *options);
void cache_fixture_close(struct device *n);
/* The device with a handle of someone else's. */
struct device cache_fixture_of(const struct device *d, clattn_handle h);

/* How a plan came to be. */
struct cache_fixture_plan {
    int source, binary;
    char config[128];
};
/* Makes a plan for a problem string and runs it, with outputs poisoned before. 1 right, 0 wrong, -1 not supported here;
 * `why` says how. config, how: may be NULL. */
int cache_fixture_run(const struct device *n, const char *problem, const char *config,
                      struct cache_fixture_plan *how, char *why, size_t len);

#endif
