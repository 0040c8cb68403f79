/* nest.c - cache directories of a test's own, handles that use them, and plans made and judged there
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "nest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Directories ---- */

int nest_make(char path[NEST_PATH])
{
    const char *base = getenv("TMPDIR");
    if (!base || *base != '/')
        base = getenv("HOME");
    if (!base || *base != '/')
        base = "/tmp";
    snprintf(path, NEST_PATH, "%s/clattn-test.XXXXXX", base);
    return mkdtemp(path) ? 0 : -1;
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
        nest_remove(path);
    else
        unlink(path);
}

void nest_remove(const char *path)
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

int nest_each(const char *path, const char *under, void (*visit)(void *user, const char *file, size_t size), void *user)
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
    char *bytes = S_ISREG(st->st_mode) ? nest_read(path, &n) : NULL;
    *state = mix(*state, path, strlen(path));
    *state = mix(*state, &st->st_mode, sizeof st->st_mode);
    *state = mix(*state, &st->st_ino, sizeof st->st_ino);
    *state = mix(*state, &st->st_mtim, sizeof st->st_mtim);
    *state = mix(*state, bytes ? bytes : "", n);
    free(bytes);
    if (S_ISDIR(st->st_mode))
        each_entry(path, add_entry, state);
}

uint64_t nest_state(const char *path)
{
    uint64_t state = 0xcbf29ce484222325u;
    struct stat st;
    if (!lstat(path, &st))
        add_entry(&state, path, &st);
    return state;
}

char *nest_read(const char *file, size_t *n)
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

int nest_write(const char *file, const void *bytes, size_t n)
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
        nest_remove(process_path);
}

int nest_for_process(const char *name)
{
    if (nest_make(process_path))
        return -1;
    process_id = getpid();
    return atexit(remove_process_path) || setenv(name, process_path, 1) ? -1 : 0;
}

/* ---- Handles and plans ---- */

void nest_listen(void *user, const char *text)
{
    struct nest_log *l = user;
    if (strncmp(text, "cache:", 6))
        return;
    if (!l->lines++)
        snprintf(l->first, sizeof l->first, "%s", text);
}

clattn_options nest_options(int tune, const char *dir)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.tune = tune;
    o.cache_dir = dir;
    return o;
}

clattn_handle nest_handle(const struct device *d, int tune, const char *dir)
{
    const clattn_options o = nest_options(tune, dir);
    clattn_handle h;
    return clattn_create(&h, d->cl.context, d->cl.device, &o) ? NULL : h;
}

clattn_counters nest_counters(clattn_handle h)
{
    clattn_counters c = CLATTN_COUNTERS_INIT;
    if (clattn_stats(h, &c))
        memset(&c, 0xff, sizeof c);
    return c;
}

int nest_open(struct nest *n, const struct device *d, const clattn_options *options)
{
    cl_int e;
    memset(n, 0, sizeof *n);
    n->context = clCreateContext(NULL, 1, &d->cl.device, NULL, NULL, &e);
    if (e)
        return -1;
    n->queue = clCreateCommandQueue(n->context, d->cl.device, 0, &e);
    if (!e)
        e = clattn_create(&n->handle, n->context, d->cl.device, options);
    if (e)
        nest_close(n);
    return e ? -1 : 0;
}

void nest_close(struct nest *n)
{
    clattn_release(n->handle);
    if (n->queue)
        clReleaseCommandQueue(n->queue);
    if (n->context)
        clReleaseContext(n->context);
    memset(n, 0, sizeof *n);
}

struct nest nest_of(const struct device *d, clattn_handle h)
{
    const struct nest n = { h, d->cl.context, d->queue };
    return n;
}

static cl_int make(clattn_plan *plan, const struct nest *n, const clattn_problem *p, const char *config,
                   struct nest_plan *how)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
    o.config = config;
    cl_int e = clattn_plan_create(plan, n->handle, p, &o);
    if (e)
        return e;
    e = clattn_plan_get_info(*plan, &info);
    how->source = info.source;
    how->binary = info.binary;
    return e ? e : clattn_plan_config(*plan, how->config, sizeof how->config, NULL);
}

static int make_and_run(struct trial *t, const struct nest *n, const char *config, struct nest_plan *how, char *why,
                        size_t len)
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

int nest_run(const struct nest *n, const char *problem, const char *config, struct nest_plan *how, char *why, size_t len)
{
    clattn_case c = CLATTN_CASE_INIT;
    struct nest_plan own;
    struct trial t;
    int verdict = 0;
    how = how ? how : &own;
    memset(how, 0, sizeof *how);
    *why = 0;
    if (clattn_case_parse(problem, &c, why, len))
        return 0;
    const cl_int e = trial_make(&t, n->context, &c, PADDED);
    if (e)
        snprintf(why, len, "cannot set the inputs up: %s", t.why ? t.why : clattn_status_string(e));
    else
        verdict = make_and_run(&t, n, config, how, why, len);
    trial_free(&t);
    return verdict;
}
