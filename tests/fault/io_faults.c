/* io_faults.c - every call of the system for files fails, once and from then on
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/cache/binary_cache.h"
#include "tests/lib/wrap_io.h"
#include "tests/lib/scratch.h"
#include "tests/lib/forget_crashes.h"

static const char key[] = "a key", second[] = "another key";
static const char leftover[] = "root/bin/00/.tmp-0123456789abcdef0123456789abcdef";
static char dead_mark[512]; /* of a process that died while it tried the second */
static char noise[9000];

static const struct {
    int number;
    const char *name;
} errors[] = { { EIO, "EIO" },       { ENOSPC, "ENOSPC" }, { EROFS, "EROFS" },   { EACCES, "EACCES" },
               { ESTALE, "ESTALE" }, { EBUSY, "EBUSY" },   { ENOENT, "ENOENT" }, { EMFILE, "EMFILE" },
               { ENOMEM, "ENOMEM" }, { EDQUOT, "EDQUOT" }, { EINVAL, "EINVAL" } };
enum { ERRORS = sizeof errors / sizeof *errors };

/* ---- What is done ---- */

/* Its own copy of what a key is kept with. */
static size_t binary_of(const char *text, char *to)
{
    const size_t n = 100 + strlen(text) * 500;
    for (size_t i = 0; i < n; i++)
        to[i] = (char)(text[i % strlen(text)] + (int)i);
    return n;
}

static bool save(struct store *s, const char *text)
{
    static char bytes[sizeof noise];
    return binary_cache_save(s, text, bytes, binary_of(text, bytes));
}

enum { MISS, HIT, REJECT, WRONG };

static int load(struct store *s, const char *text)
{
    static char want[sizeof noise];
    unsigned char *got;
    size_t n;
    bool rejected;
    if (!binary_cache_load(s, text, &got, &n, &rejected))
        return rejected ? REJECT : MISS;
    const int right = n == binary_of(text, want) && !memcmp(got, want, n);
    free(got);
    return right && !rejected ? HIT : WRONG;
}

static bool visit(void *user, const char *name, uint64_t bytes)
{
    *(long *)user += bytes && *name;
    return true;
}

/* All that a store can do; how many answers were wrong or blamed a file for the system's failure. */
static int work(struct store *s)
{
    long seen = 0;
    binary_cache_enter(s, key);
    const int first = load(s, key);
    binary_cache_leave(s, key);
    if (first == MISS)
        save(s, key);
    const int after = load(s, key), poisoned = load(s, second);
    store_write(s, "tune/0123/4567", noise, 300, true);
    store_walk(s, "tune", visit, &seen);
    store_trim(s, true);
    binary_cache_remove(s, key);
    save(s, key);
    forget_crashes(s);
    return first == WRONG || first == REJECT || after == WRONG || after == REJECT || poisoned == WRONG ||
           poisoned == REJECT;
}

/* ---- What it is done to ---- */

static int die(void *user)
{
    binary_cache_enter(user, second);
    return 1;
}

static int find_mark(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
    (void)st;
    if (what == FTW_F && strstr(path, "/inflight/"))
        snprintf(dead_mark, sizeof dead_mark, "root/inflight/%s", path + ftw->base);
    return 0;
}

static void make_dead_mark(void)
{
    struct store s;
    open_fresh(&s);
    in_child(die, &s);
    store_clear(&s);
    nftw(root, find_mark, 16, FTW_PHYS);
}

/* state 1: with blobs, leftovers, something poisoned, more than there may be. */
static void prepare(struct store *s, int state)
{
    open_fresh(s);
    if (!state)
        return;
    save(s, key);
    save(s, second);
    for (int i = 0; i < 2; i++) {
        char name[80];
        snprintf(name, sizeof name, "bin/%02x/%062x", i, i);
        store_write(s, name, noise, 2000, false);
        set_age(in_scratch("root/%s", name), 3 * DAY + i);
    }
    char of[65];
    snprintf(of, sizeof of, "%.64s", strrchr(dead_mark, '/') + 1);
    make_suspect(of);
    write_file(in_scratch("%s", dead_mark), "", 0);
    write_file(in_scratch("%s", leftover), "x", 1);
    set_age(in_scratch("%s", leftover), 2 * HOUR);
    s->max_bytes = 20000;
}

static int descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 512; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* What must hold whatever failed; the text says what does not. */
static const char *judge(struct store *s, int bad, int were_open)
{
    struct store later;
    const char *wrong = NULL;
    int got;
    if (bad)
        return "wrong bytes";
    if (iowrap.memory)
        return "memory is leaked";
    if (descriptors() != were_open)
        return "descriptors are leaked";
    if (told.lines > 4)
        return "too much was said";
    unlink(in_scratch("%s", leftover));
    count_below(root, 0);
    if (below.temps && !iowrap.failed_unlink)
        return "something is left behind";
    open_store(&later, root);
    got = load(&later, key);
    if (got == REJECT || got == WRONG)
        wrong = "a damaged entry is left";
    else if (!got && (!save(&later, key) || load(&later, key) != HIT))
        wrong = "no way to go on";
    else if (crash_guard_is_poisoned(&later, "0000000000000000000000000000000000000000000000000000000000000000"))
        wrong = "poison from nowhere";
    store_clear(&later);
    (void)s;
    return wrong;
}

static long faults, runs;

/* One run; whether the fault was reached. */
static int run(int state, long n, int sticky, int error, const char *only, char *report, size_t room)
{
    struct store s;
    prepare(&s, state);
    const int were_open = descriptors();
    iowrap.only = only;
    iowrap_arm(n, sticky, errors[error].number);
    const mode_t mask =
        umask(only && !strncmp(only, "fchmod", 6) ? 0777 : 077); /* modes are set only where they must be */
    const int bad = work(&s);
    umask(mask);
    iowrap_disarm();
    const int reached = iowrap.failed > 0;
    const char *const wrong = judge(&s, bad, were_open);
    if (wrong && !*report)
        snprintf(report, room, "%s: call %ld (%s) %s%s, %s", wrong, n, iowrap.last, errors[error].name,
                 sticky ? " from then on" : "", state ? "a used store" : "an empty store");
    faults += reached;
    runs++;
    store_clear(&s);
    return reached;
}

/* Every call, until none is left to fail, with every error; or only some, errors taking turns. */
static void check_every_call(void)
{
    for (int state = 0; state < 2; state++)
        for (int sticky = 0; sticky < 2; sticky++) {
            const int step = full() ? 1 : sticky ? 11 : 3;
            char report[512] = "";
            long n = 1;
            int reached = 1;
            faults = runs = 0;
            for (; reached && n < 5000; n += step) {
                const int first = full() ? 0 : (int)(n / step % ERRORS), last = full() ? ERRORS - 1 : first;
                reached = 0;
                for (int error = first; error <= last; error++)
                    reached |= run(state, n, sticky, error, NULL, report, sizeof report);
            }
            ok(!*report && faults > 20 && n < 5000, "%ld of %ld calls fail%s, %s", faults, n - step,
               sticky ? " and all after it" : "", state ? "with a store that was used" : "with an empty store");
            if (*report)
                diag("%s", report);
        }
}

/* Each kind of call with each error. */
static void check_every_kind(void)
{
    static const char *const kinds[] = { "openat", "fstat", "fstatat", "mkdirat", "read", "pwrite", "fsync", "close",
                                         "renameat", "unlinkat", "utimensat", "getrandom", "fdopendir", "readdir",
                                         "clock_gettime", "malloc", "realloc", "open", "stat", "fchmod",
                                         "fchmodat" };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char report[512] = "";
        faults = runs = 0;
        for (int error = full() ? 0 : (int)k % 5; error < ERRORS; error += full() ? 1 : 5) {
            run(0, 1, 1, error, kinds[k], report, sizeof report);
            run(1, 1, 1, error, kinds[k], report, sizeof report);
            for (long n = 1; n <= (full() ? 20 : 2); n++)
                run(1, n, 0, error, kinds[k], report, sizeof report);
        }
        if (!faults)
            skip("%s is not called, or by another name", kinds[k]);
        else
            ok(!*report, "%s fails (%ld times)", kinds[k], faults);
        if (*report)
            diag("%s", report);
    }
}

/* ---- What failing comes to ---- */

static int write_failing(const char *call, long n, int error, struct store *s)
{
    open_fresh(s);
    store_write(s, "bin/ab/x", "old", 3, false);
    iowrap.only = call;
    iowrap_arm(n, 0, error);
    const int written = store_write(s, "bin/ab/x", "new", 3, true);
    iowrap_disarm();
    return written;
}

static void check_consequences(void)
{
    static const char *const calls[] = { "openat", "pwrite", "fsync", "close", "renameat", "getrandom" };
    struct store s;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const int at = !strcmp(calls[i], "close") ? 4 : 1; /* folders are the first three */
        const int written = write_failing(calls[i], at, EIO, &s);
        count_below(root, 0);
        ok(!written && s.given_up && s.faults == 1 && told.lines == 1 && strstr(told.last, root) && !below.temps &&
               holds(&s, "bin/ab/x", "old", 3),
           "%s fails: nothing new, no leftover, the old is there, one line", calls[i]);
        iowrap.only = NULL;
        iowrap_arm(0, 0, 0);
        ok(!store_write(&s, "bin/ab/x", "new", 3, false) && !iowrap.calls, "and writing is given up");
        iowrap_disarm();
        store_clear(&s);
    }
    ok(!write_failing("fsync", 2, EIO, &s) && holds(&s, "bin/ab/x", "new", 3),
       "what did not reach the disk by its name is not kept for sure");
    store_clear(&s);
    ok(write_failing("fsync", 2, EINVAL, &s) && !s.given_up, "folders that cannot be synchronised need not be");
    store_clear(&s);
    for (int i = 0; i < 2; i++) {
        ok(write_failing("renameat", 1, i ? ESTALE : ENOENT, &s) && !s.given_up && !s.faults &&
               holds(&s, "bin/ab/x", "new", 3),
           "a folder that is gone is made again (%s)", i ? "ESTALE" : "ENOENT");
        store_clear(&s);
    }
    open_fresh(&s);
    iowrap.only = "fsync";
    iowrap_arm(0, 0, 0);
    store_write(&s, "bin/ab/x", "x", 1, false);
    save(&s, key);
    const long quick = iowrap.calls;
    store_write(&s, "tune/ab/x", "x", 1, true);
    iowrap_disarm();
    ok(quick == 0 && iowrap.calls == 2, "what is to last is synchronised, file and folder; the rest is not");
    store_clear(&s);
}

static void check_pieces(void)
{
    int good = 1;
    iowrap.only = NULL;
    for (int i = 0; i < 20; i++) {
        struct store s;
        remove_tree(root);
        open_store(&s, root);
        iowrap.piecemeal = 1;
        iowrap_arm(0, 0, 0);
        good &= store_write(&s, "bin/ab/x", noise, 100, true) && holds(&s, "bin/ab/x", noise, 100) && save(&s, key) &&
                load(&s, key) == HIT;
        iowrap_disarm();
        iowrap.piecemeal = 0;
        good &= !s.faults;
        store_clear(&s);
    }
    ok(good, "interrupted calls and small pieces make no difference");
}

/* Somebody knows the name of the temporary file before it is made. */
static void check_predicted(void)
{
    static const char temp[] = "root/bin/ab/.tmp-00000000000000000000000000000000";
    for (int kind = 0; kind < 3; kind++) {
        struct store s;
        char text[16] = "";
        remove_tree(root);
        open_store(&s, root);
        store_write(&s, "bin/ab/x", "old", 3, false);
        write_file(in_scratch("target"), "target", 6);
        if (kind == 0 ? symlink(in_scratch("target"), in_scratch("%s", temp))
                      : kind == 1 ? link(in_scratch("target"), in_scratch("%s", temp))
                                  : symlink(in_scratch("made"), in_scratch("%s", temp)))
            bail("no links");
        iowrap.predictable = 1;
        iowrap.only = NULL;
        iowrap_arm(0, 0, 0);
        const int written = store_write(&s, "bin/ab/x", "new", 3, false);
        iowrap_disarm();
        iowrap.predictable = 0;
        const int fd = open(in_scratch("target"), O_RDONLY);
        ok(!written && read(fd, text, 15) == 6 && !strcmp(text, "target") && !exists(in_scratch("made")) &&
               holds(&s, "bin/ab/x", "old", 3),
           "a temporary file that is there already, %s, is not written to", kind == 1 ? "a link" : "a symbolic link");
        close(fd);
        store_clear(&s);
    }
}

/* Modes that cannot be set right leave nothing that is in the way. */
static void check_modes(void)
{
    static const char *const calls[] = { "fchmodat", "fchmod" };
    for (int i = 0; i < 2; i++) {
        struct store s;
        remove_tree(root);
        open_store(&s, root);
        const mode_t mask = umask(0777);
        iowrap.only = calls[i];
        iowrap_arm(1, 0, EPERM);
        const int written = store_write(&s, "bin/ab/x", "x", 1, false);
        iowrap_disarm();
        umask(mask);
        count_below(root, 0);
        ok(!written && iowrap.failed && !below.files && !below.temps && (i || !exists(root)),
           "%s fails: nothing is left", calls[i]);
        store_clear(&s);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(i * 7 + i / 256);
    scratch_begin("iofaults");
    const int were_open = descriptors();
    check_consequences();
    check_pieces();
    check_predicted();
    check_modes();
    make_dead_mark();
    check_every_kind();
    check_every_call();
    is_int(descriptors(), were_open, "no descriptor is left open");
    return scratch_end();
}
