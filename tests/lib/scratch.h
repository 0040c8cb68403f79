/* scratch.h - a directory of a test's own, what it does with files there, children
 * SPDX-License-Identifier: Apache-2.0
 *
 * State is static: only the file with main() includes this. One that includes "../src/cache/store.h" before gets stores
 * too */
#ifndef SCRATCH_H
#define SCRATCH_H

#include "tests/lib/process.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SCRATCH_PATH = 1024, NOBODY = 65534, HOUR = 60 * 60, DAY = 24 * HOUR };

static char scratch[SCRATCH_PATH], root[SCRATCH_PATH + 8]; /* root: of the store, in it */

TAP_UNUSED static int full(void)
{
    const char *const e = getenv("CLATTN_FULL");
    return e && *e && strcmp(e, "0");
}

/* Takes turns among eight texts. */
TAP_PRINTF(1, 2) static const char *in_scratch(const char *format, ...)
{
    static char paths[8][2 * SCRATCH_PATH];
    static int turn;
    char *const path = paths[turn = (turn + 1) % 8];
    const int n = snprintf(path, sizeof *paths, "%s/", scratch);
    va_list ap;
    va_start(ap, format);
    vsnprintf(path + n, sizeof *paths - (size_t)n, format, ap);
    va_end(ap);
    return path;
}

TAP_UNUSED static const char *in_root(const char *name)
{
    return in_scratch("root/%s", name);
}

TAP_UNUSED static int remove_entry(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
    (void)ftw;
    (void)st;
    remove(path);
    return what == FTW_NS; /* gone already */
}

TAP_UNUSED static int open_entry(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
    (void)ftw;
    if (what != FTW_SL && S_ISDIR(st->st_mode))
        chmod(path, 0700);
    return 0;
}

/* Whatever is there. */
TAP_UNUSED static void remove_tree(const char *path)
{
    nftw(path, open_entry, 16, FTW_PHYS);
    nftw(path, remove_entry, 16, FTW_PHYS | FTW_DEPTH);
}

static void scratch_begin(const char *name)
{
    const char *base = getenv("TMPDIR");
    if (!base || *base != '/')
        base = getenv("HOME");
    if (!base || *base != '/')
        base = "/tmp";
    if ((size_t)snprintf(scratch, sizeof scratch, "%s/clattn-%s.XXXXXX", base, name) > sizeof scratch - 128 ||
        !mkdtemp(scratch) || chmod(scratch, 0755))
        bail("no directory in %s", base);
    snprintf(root, sizeof root, "%s/root", scratch);
}

static int scratch_end(void)
{
    remove_tree(scratch);
    return done_testing();
}

/* ---- Files ---- */

TAP_UNUSED static void make_folder(const char *path)
{
    if (mkdir(path, 0700) && errno != EEXIST)
        bail("cannot make %s: %s", path, strerror(errno));
}

/* With the folders it lies in. */
TAP_UNUSED static void write_file(const char *path, const void *bytes, size_t n)
{
    char folder[2 * SCRATCH_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *at = folder + strlen(scratch) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        make_folder(folder);
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd))
        bail("cannot write %s: %s", path, strerror(errno));
}

TAP_UNUSED static void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

TAP_UNUSED static int exists(const char *path)
{
    struct stat st;
    return !lstat(path, &st);
}

TAP_UNUSED static mode_t mode_of(const char *path)
{
    struct stat st;
    return lstat(path, &st) ? 0 : st.st_mode & 07777;
}

TAP_UNUSED static int64_t age_of(const char *path)
{
    struct stat st;
    return lstat(path, &st) ? -1 : (int64_t)(time(NULL) - st.st_mtime);
}

TAP_UNUSED static void set_age(const char *path, int64_t seconds)
{
    const struct timespec then = { time(NULL) - (time_t)seconds, 0 }, times[2] = { then, then };
    if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW))
        bail("cannot set the time of %s", path);
}

/* As if a process had died of the key five hours ago: the next death poisons it. */
TAP_UNUSED static void make_suspect(const char *key)
{
    char path[SCRATCH_PATH];
    snprintf(path, sizeof path, "%s", in_scratch("root/suspected/%s", key));
    write_file(path, "\n", 1);
    set_age(path, 5 * 60 * 60);
}

/* What lies below a path, by kinds; static since nftw() passes nothing on. */
static struct {
    long files, temps, others, marks, poisoned;
    int64_t age; /* given to each temporary file, unless 0 */
} below;

TAP_UNUSED static int count_entry(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
    const char *const leaf = path + ftw->base;
    if (what == FTW_NS || what == FTW_SL || !S_ISREG(st->st_mode)) {
        below.others += what != FTW_NS && !S_ISDIR(st->st_mode);
    } else if (!strncmp(leaf, ".tmp-", 5)) {
        below.temps++;
        if (below.age)
            set_age(path, below.age);
    } else {
        below.files++;
        below.marks += strstr(path, "/inflight/") != NULL;
        below.poisoned += strstr(path, "/poisoned/") != NULL;
    }
    return 0;
}

TAP_UNUSED static void count_below(const char *path, int64_t age_temps)
{
    memset(&below, 0, sizeof below);
    below.age = age_temps;
    nftw(path, count_entry, 16, FTW_PHYS);
}

/* ---- Children ---- */

/* A child that waits must not outlive a test that was ended. */
TAP_UNUSED static void end_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* in_child(), by somebody whom permissions bind: nobody, when we are root. */
struct plain_body {
    int (*body)(void *user);
    void *user;
};
enum { CANNOT = 77 };

TAP_UNUSED static int become(uid_t id)
{
    return geteuid() == 0 && (setgroups(0, NULL) || setgid(id) || setuid(id)) ? -1 : 0;
}

TAP_UNUSED static int run_plain(void *user)
{
    const struct plain_body *const b = user;
    return become(NOBODY) || access(scratch, X_OK) ? CANNOT : b->body(b->user);
}

TAP_UNUSED static int in_plain_child(int (*body)(void *user), void *user)
{
    struct plain_body b = { body, user };
    return in_child(run_plain, &b);
}

/* Gives a path to whom in_plain_child() runs as. */
TAP_UNUSED static void hand_over(const char *path)
{
    if (geteuid() == 0 && lchown(path, NOBODY, NOBODY))
        bail("cannot give %s away", path);
}

/* ---- Stores ---- */

#ifdef STORE_H
static struct {
    int lines;
    char last[4096];
} told;

TAP_UNUSED static void tell(void *user, const char *text)
{
    (void)user;
    __atomic_fetch_add(&told.lines, 1, __ATOMIC_RELAXED);
    snprintf(told.last, sizeof told.last, "%s", text);
}

/* With the log that it has, none if it is zero; in any thread. */
TAP_UNUSED static void open_in(struct store *s, const char *root)
{
    struct why why;
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.cache_dir = root;
    store_init(s, &o, &why);
    if (store_is_none(s))
        bail("no store in %s: %s", root, why.text);
}

TAP_UNUSED static void open_store(struct store *s, const char *root)
{
    memset(s, 0, sizeof *s);
    memset(&told, 0, sizeof told);
    s->log = tell;
    open_in(s, root);
}

/* An empty one. */
TAP_UNUSED static void open_fresh(struct store *s)
{
    remove_tree(root);
    open_store(s, root);
}

/* Whether the blob is there and holds exactly these bytes. */
TAP_UNUSED static int holds(struct store *s, const char *name, const void *bytes, size_t n)
{
    unsigned char *got = NULL;
    size_t size = 0;
    if (!store_read(s, name, 1 << 24, &got, &size))
        return 0;
    const int same = size == n && !memcmp(got, bytes, n);
    free(got);
    return same;
}
#endif

#endif
