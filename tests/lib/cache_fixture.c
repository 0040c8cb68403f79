/* cache_fixture.c - cache directories of a test's own, handles that use them, and plans made and judged there
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/cache_fixture.h"
#include "tests/lib/each.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Directories ---- */

void cache_fixture_make(char path[NEST_PATH])
{
    const char *base = getenv("TMPDIR");
    if (!base || *base != '/')
        base = getenv("HOME");
    if (!base || *base != '/')
        base = "/tmp";
    snprintf(path, NEST_PATH, "%s/clattn-test.XXXXXX", base);
    if (!mkdtemp(path))
        bail("no directory in %s", base);
}

static int is_entry(const struct dirent *e)
{
    return strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
}

/* Calls visit for each entry of a directory, in the order of their names. */
static void each_entry(const char *path, void (*visit)(void *user, const char *path, const struct stat *st), void *user)
{
    struct dirent **list;
    const int n = scandir(path, &list, is_entry, alphasort);
    for (int i = 0; i < n; i++) {
        char name[NEST_PATH + 256];
        struct stat st;
        snprintf(name, sizeof name, "%s/%s", path, list[i]->d_name);
        if (!lstat(name, &st))
            visit(user, name, &st);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

static void remove_entry(void *user, const char *path, const struct stat *st)
{
    (void)user;
    if (S_ISDIR(st->st_mode))
        cache_fixture_remove(path);
    else
        unlink(path);
}

void cache_fixture_remove(const char *path)
{
    chmod(path, 0700);
    each_entry(path, remove_entry, NULL);
    rmdir(path);
}

struct walk {
    void (*visit)(void *user, const char *file, size_t size);
    void *user;
    int count;
};

static void walk_entry(void *user, const char *path, const struct stat *st)
{
    struct walk *w = user;
    if (S_ISDIR(st->st_mode)) {
        each_entry(path, walk_entry, w);
    } else if (S_ISREG(st->st_mode)) {
        w->count++;
        if (w->visit)
            w->visit(w->user, path, (size_t)st->st_size);
    }
}

int cache_fixture_each(const char *path, const char *under, void (*visit)(void *user, const char *file, size_t size),
                       void *user)
{
    struct walk w = { visit, user, 0 };
    char whole[2 * NEST_PATH];
    snprintf(whole, sizeof whole, "%s/%s", path, under);
    each_entry(whole, walk_entry, &w);
    return w.count;
}

static uint64_t mix(uint64_t state, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        state = (state ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return state;
}

static void add_entry(void *user, const char *path, const struct stat *st)
{
    uint64_t *state = user;
    size_t n = 0;
    char *bytes = S_ISREG(st->st_mode) ? cache_fixture_read(path, &n) : NULL;
    *state = mix(*state, path, strlen(path));
    *state = mix(*state, &st->st_mode, sizeof st->st_mode);
    *state = mix(*state, &st->st_ino, sizeof st->st_ino);
    *state = mix(*state, &st->st_mtim, sizeof st->st_mtim);
    *state = mix(*state, bytes ? bytes : "", n);
    free(bytes);
    if (S_ISDIR(st->st_mode))
        each_entry(path, add_entry, state);
}

uint64_t cache_fixture_state(const char *path)
{
    uint64_t state = 0xcbf29ce484222325u;
    struct stat st;
    if (!lstat(path, &st))
        add_entry(&state, path, &st);
    return state;
}

char *cache_fixture_read(const char *file, size_t *n)
{
    FILE *f = fopen(file, "rb");
    struct stat st;
    char *bytes = NULL;
    *n = 0;
    if (f && !fstat(fileno(f), &st) && S_ISREG(st.st_mode) && (bytes = calloc(1, (size_t)st.st_size + 1)))
        *n = fread(bytes, 1, (size_t)st.st_size, f);
    if (f)
        fclose(f);
    return bytes;
}

int cache_fixture_write(const char *file, const void *bytes, size_t n)
{
    FILE *f = fopen(file, "wb");
    const int good = f && fwrite(bytes, 1, n, f) == n;
    return f && !fclose(f) && good ? 0 : -1;
}

static char process_path[NEST_PATH];
static pid_t process_id;

static void remove_process_path(void)
{
    if (getpid() == process_id)
        cache_fixture_remove(process_path);
}

void cache_fixture_for_process(const char *name)
{
    cache_fixture_make(process_path);
    process_id = getpid();
    if (atexit(remove_process_path) || setenv(name, process_path, 1))
        bail("no directory for %s", name);
}

/* ---- Handles and plans ---- */

void cache_fixture_listen(void *user, const char *text)
{
    struct cache_fixture_log *l = user;
    if (strncmp(text, "cache:", 6))
        return;
    if (!l->lines++)
        snprintf(l->first, sizeof l->first, "%s", text);
}

clattn_options cache_fixture_options(int tune, const char *dir)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.tune = tune;
    o.cache_dir = dir;
    return o;
}

clattn_handle cache_fixture_handle(const struct device *d, int tune, const char *dir)
{
    const clattn_options o = cache_fixture_options(tune, dir);
    return each_handle(d, &o);
}

clattn_counters cache_fixture_counters(clattn_handle h)
{
    clattn_counters c = CLATTN_COUNTERS_INIT;
    if (clattn_stats(h, &c))
        memset(&c, 0xff, sizeof c);
    return c;
}

struct device cache_fixture_open(const struct device *d, const clattn_options *options)
{
    struct device n = *d;
    cl_int e;
    n.cl.context = each_context(d);
    n.queue = clCreateCommandQueue(n.cl.context, n.cl.device, 0, &e);
    if (e)
        bail("%s: no queue: %s", d->name, clattn_status_string(e));
    n.handle = each_handle(&n, options);
    return n;
}

void cache_fixture_close(struct device *n)
{
    clattn_release(n->handle);
    clReleaseCommandQueue(n->queue);
    clReleaseContext(n->cl.context);
}

struct device cache_fixture_of(const struct device *d, clattn_handle h)
{
    struct device n = *d;
    n.handle = h;
    return n;
}

static cl_int make(clattn_plan *plan, const struct device *n, const clattn_problem *p, const char *config,
                   struct cache_fixture_plan *how)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
    o.config = config;
    cl_int e = clattn_plan_create(plan, n->handle, p, &o);
    if (e)
        return e;
    e = clattn_plan_get_info(*plan, &info);
    how->source = info.origin;
    how->binary = info.binary;
    return e ? e : clattn_plan_config(*plan, how->config, sizeof how->config, NULL);
}

static int make_and_run(struct trial *t, const struct device *n, const char *config,
                        struct cache_fixture_plan *how, char *why, size_t len)
{
    clattn_plan plan = NULL;
    cl_int e = make(&plan, n, &t->c.problem, config, how);
    e = e ? e : trial_reset(t, n->queue);
    e = e ? e : trial_run(t, plan, n->queue);
    if (e)
        harness_words(n->handle, e, why, len);
    clattn_plan_release(plan);
    return e == CLATTN_ERROR_NOT_SUPPORTED ? -1 : !e && trial_verify(t, n->queue, why, len);
}

int cache_fixture_run(const struct device *n, const char *problem, const char *config,
                      struct cache_fixture_plan *how, char *why, size_t len)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct cache_fixture_plan own;
    struct trial t;
    int verdict = 0;
    how = how ? how : &own;
    memset(how, 0, sizeof *how);
    *why = 0;
    if (clattn_workload_parse(problem, &c, why, len))
        return 0;
    const cl_int e = trial_make(&t, n->cl.context, &c, PADDED);
    if (e)
        snprintf(why, len, "cannot set the inputs up: %s", t.why ? t.why : clattn_status_string(e));
    else
        verdict = make_and_run(&t, n, config, how, why, len);
    trial_free(&t);
    return verdict;
}
