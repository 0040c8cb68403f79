/* io_between.c - files, folders and marks change between one call of the system and the next; nobody knows who is
 * alive; clocks are wrong
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/cache/binary_cache.h"
#include "tests/lib/wrap_io.h"
#include "tests/lib/scratch.h"
#include "tests/lib/forget_crashes.h"

static char noise[9000];

/* ---- Binaries, each from its key ---- */

static const char key[] = "a key", second[] = "another key", third[] = "a third key";
enum { BINARY = 2000 };

static void binary_of(const char *text, char *to)
{
    for (size_t i = 0; i < BINARY; i++)
        to[i] = (char)(text[i % strlen(text)] + (int)i);
}

static bool save(struct store *s, const char *text)
{
    char bytes[BINARY];
    binary_of(text, bytes);
    return binary_cache_save(s, text, bytes, BINARY);
}

enum { MISS, HIT, REJECT, WRONG };

static int load(struct store *s, const char *text)
{
    char want[BINARY];
    unsigned char *got;
    size_t n;
    bool rejected;
    if (!binary_cache_load(s, text, &got, &n, &rejected))
        return rejected ? REJECT : MISS;
    binary_of(text, want);
    const int right = n == BINARY && !memcmp(got, want, n);
    free(got);
    return right && !rejected ? HIT : WRONG;
}

/* ---- Between one call and the next ---- */

static const char *before_call;
static long when;
static int change;

static void change_file(const char *name)
{
    const char *const path = in_scratch("root/bin/ab/x"), *const folder = in_scratch("root/bin/ab");
    if (strcmp(name, before_call) || --when)
        return;
    switch (change) {
    case 0:
        if (truncate(path, 100))
            bail("cannot cut");
        break;
    case 1:
        if (truncate(path, 5000))
            bail("cannot grow");
        break;
    case 2: unlink(path); break;
    case 3:
        write_file(in_scratch("new"), "other", 5);
        if (rename(in_scratch("new"), path))
            bail("cannot replace");
        break;
    case 4: remove_tree(root); break;
    case 6: make_folder(root); break;
    case 7: make_folder(in_scratch("root/bin")); break;
    case 8: make_folder(folder); break;
    case 9: rmdir(folder); break;
    case 5:
        if (truncate(path, 0))
            bail("cannot empty");
        break;
    }
}

static void check_between(void)
{
    static const char *const what[] = { "shrinks",   "grows", "is removed", "is replaced", "goes with all there is",
                                        "is emptied" };
    static const int whole[] = { 0, 0, 1, 1, 1, 0 }; /* after that, the old bytes are still what is read */
    for (change = 0; change < 6; change++)
        for (when = 1; when <= 2; when++) {
            struct store s;
            unsigned char *got = NULL;
            size_t n = 0;
            const long time = when;
            open_fresh(&s);
            store_write(&s, "bin/ab/x", noise, 3000, false);
            before_call = "read";
            iowrap.hook = change_file;
            iowrap.only = NULL;
            iowrap_arm(0, 0, 0);
            const int read = store_read(&s, "bin/ab/x", 1 << 20, &got, &n);
            iowrap_disarm();
            iowrap.hook = NULL;
            const int right = n == 3000 && !memcmp(got ? got : (unsigned char *)"", noise, got ? n : 0);
            /* before the second call, which looks for the end, everything has been read; only more is noticed */
            const int want = whole[change] || (time == 2 && change != 1);
            ok(read == want && (!read || right) && s.faults == !want, "a file %s %s it is read: %s", what[change],
               time == 1 ? "before" : "after", want ? "the old bytes" : "a miss");
            free(got);
            when = time;
            store_clear(&s);
        }
}

/* Others make and remove folders between our looking and our making. */
static void check_folders(void)
{
    static const char *const calls[] = { "mkdirat", "mkdirat", "mkdirat", "openat" };
    for (int i = 0; i < 4; i++)
        for (int at = 1; at <= 12; at++) {
            struct store s;
            open_fresh(&s);
            before_call = calls[i];
            change = 6 + i;
            when = i < 3 ? i + 1 : at;
            iowrap.hook = change_file;
            iowrap.only = NULL;
            iowrap_arm(0, 0, 0);
            const int written = store_write(&s, "bin/ab/x", noise, 3000, false);
            iowrap_disarm();
            iowrap.hook = NULL;
            if (i == 3 || at == 1)
                ok(written && !s.faults && holds(&s, "bin/ab/x", noise, 3000), "a folder is %s before %s %ld",
                   i < 3 ? "made" : "removed", calls[i], i < 3 ? (long)i + 1 : (long)at);
            store_clear(&s);
        }
}

/* ---- Marks, while the system does not say who is alive ---- */

static const char marked[] = "0000000000000000000000000000000000000000000000000000000000000000";

static char mark_path[512]; /* of the mark seen last */

static int find_mark(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
    (void)st;
    if (what == FTW_F && strstr(path, "/inflight/"))
        snprintf(mark_path, sizeof mark_path, "root/inflight/%s", path + ftw->base);
    return 0;
}

static bool is_poisoned(struct store *s, const char *only, long at, int sticky)
{
    iowrap.only = only;
    iowrap_arm(at, sticky, EMFILE);
    const bool poisoned = crash_guard_is_poisoned(s, marked);
    iowrap_disarm();
    return poisoned;
}

static int mark_and_wait(void *user)
{
    const int *const ready = user;
    struct store s;
    end_with_parent();
    open_store(&s, root);
    crash_guard_mark(&s, marked);
    if (write(ready[1], "", 1) == 1)
        for (;;)
            pause();
    return 1;
}

static pid_t start(void)
{
    int ready[2];
    char byte;
    if (pipe(ready))
        bail("no pipe");
    fflush(stdout);
    const pid_t pid = fork();
    if (!pid)
        _exit(mark_and_wait(ready));
    close(ready[1]);
    if (pid < 0 || read(ready[0], &byte, 1) != 1)
        bail("no child");
    close(ready[0]);
    return pid;
}

static void check_unknown(void)
{
    static const char *const calls[] = { "open", "read", "stat" };
    int bad = 0;
    for (int i = 0; i < 3; i++)
        for (long at = 1; at <= 3; at++)
            for (int sticky = 0; sticky < 2; sticky++) {
                struct store s;
                open_fresh(&s);
                crash_guard_mark(&s, marked);
                bad += is_poisoned(&s, calls[i], at, sticky);
                iowrap.only = calls[i];
                iowrap_arm(at, sticky, EMFILE);
                crash_guard_unmark(&s, marked);
                crash_guard_mark(&s, marked);
                crash_guard_unmark(&s, marked);
                iowrap_disarm();
                count_below(root, 0);
                bad += below.marks || below.poisoned;
                store_clear(&s);
            }
    ok(!bad, "own marks, made and taken away, while the system does not say who we are");
}

static void check_others_unknown(void)
{
    struct store s;
    remove_tree(root);
    const pid_t pid = start();
    open_store(&s, root);
    for (long at = 1; at <= 4; at++)
        for (int sticky = 0; sticky < 2; sticky++)
            ok(!is_poisoned(&s, "open", at, sticky), "a child is not taken for dead when open %ld fails", at);
    nftw(root, find_mark, 16, FTW_PHYS);
    set_age(in_scratch("%s", mark_path), 2 * HOUR);
    ok(!is_poisoned(&s, "open", 2, 0) && !is_poisoned(&s, "stat", 1, 0), "nor when nobody knows where it runs");
    iowrap.self = "/proc/1/stat"; /* as where /proc is another container's */
    iowrap.only = NULL;
    iowrap_arm(0, 0, 0);
    crash_guard_mark(&s, marked);
    iowrap_disarm();
    count_below(root, 0);
    ok(below.marks == 2 && !is_poisoned(&s, NULL, 0, 0), "a mark without a time");
    iowrap.self = NULL;
    ok(!is_poisoned(&s, NULL, 0, 0), "which is nobody else's either");
    crash_guard_unmark(&s, marked);
    count_below(root, 0);
    is_int(below.marks, 1, "and can be taken away");
    char *const at = strchr(mark_path, '.') + 1, *const began = strchr(at, '.') + 1, later[512];
    snprintf(later, sizeof later, "%.*s1%s", (int)(began - mark_path), mark_path, began);
    if (rename(in_scratch("%s", mark_path), in_scratch("%s", later)))
        bail("cannot rename a mark");
    make_suspect(marked);
    iowrap.self = "/proc/1/stat";
    ok(!is_poisoned(&s, NULL, 0, 0), "times mean nothing where /proc is another container's");
    iowrap.self = NULL;
    ok(is_poisoned(&s, NULL, 0, 0), "but here");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    store_clear(&s);
}

/* ---- Marks that come and go ---- */

static struct store *between;
static const char *before; /* what call of the system */

/* Another thread takes the marks that this one was about to take, and others come. */
static void take_before(const char *name)
{
    if (strcmp(name, before) || !when || --when)
        return;
    crash_guard_unmark(between, marked);
    crash_guard_unmark(between, marked);
    crash_guard_mark(between, marked);
}

/* Another process finds the same mark of the dead. */
static void move_before(const char *name)
{
    if (strcmp(name, "renameat") || !when || --when)
        return;
    if (!crash_guard_is_poisoned(between, marked))
        bail("not found by the other");
}

/* The process takes its mark away and ends. */
static void end_before(const char *name)
{
    if (strcmp(name, "renameat") || !when || --when)
        return;
    remove_tree(in_scratch("root/inflight"));
}

static int mark_and_die(void *user)
{
    crash_guard_mark(user, marked);
    return 0;
}

static void check_marks_between(void)
{
    struct store s, other;
    open_fresh(&s);
    open_store(&other, root);
    between = &other;
    iowrap.only = NULL;
    for (int i = 0; i < 2; i++) {
        crash_guard_mark(&s, marked);
        crash_guard_mark(&s, marked);
        when = 1;
        before = i ? "fstatat" : "unlinkat";
        iowrap.hook = take_before;
        iowrap_arm(0, 0, 0);
        crash_guard_unmark(&s, marked);
        iowrap_disarm();
        iowrap.hook = NULL;
        count_below(root, 0);
        is_int(below.marks, 0, "a mark is found though others take theirs before %s", before);
    }
    for (int i = 0; i < 2; i++) {
        make_suspect(marked);
        in_child(mark_and_die, &s);
        when = 1;
        iowrap.hook = i ? end_before : move_before;
        iowrap_arm(0, 0, 0);
        const bool poisoned = crash_guard_is_poisoned(&s, marked);
        iowrap_disarm();
        iowrap.hook = NULL;
        ok(poisoned == !i, i ? "a mark that is gone when its process is says nothing"
                             : "a mark of the dead that another one found counts");
        forget_crashes(&s);
    }
    store_clear(&s);
    store_clear(&other);
}

/* ---- Clocks ---- */

static void check_trim_unstamped(void)
{
    struct store s;
    open_fresh(&s);
    save(&s, key);
    s.max_bytes = 1;
    set_age(in_scratch("root/trimmed"), 2 * HOUR);
    iowrap.only = "utimensat";
    iowrap_arm(1, 1, EIO);
    store_trim(&s, false);
    const int kept = load(&s, key) == HIT;
    store_trim(&s, true);
    iowrap_disarm();
    ok(kept && load(&s, key) == MISS, "a trim that cannot be noted is made only when asked for");
    store_clear(&s);
}

static void check_clocks(void)
{
    static const int64_t shifts[] = { 365 * DAY, -365 * DAY, INT32_MAX, -2 * HOUR, 2 * HOUR };
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        struct store s;
        const int64_t shift = shifts[i];
        open_fresh(&s);
        save(&s, key);
        save(&s, second);
        crash_guard_mark(&s, "0000000000000000000000000000000000000000000000000000000000000000");
        iowrap.only = NULL;
        iowrap.shift = shift;
        iowrap_arm(0, 0, 0);
        const int first = load(&s, key) == HIT, saved = save(&s, third);
        store_trim(&s, false);
        store_trim(&s, true);
        const int left = load(&s, key) == HIT && load(&s, second) == HIT && load(&s, third) == HIT;
        const int alive =
            !crash_guard_is_poisoned(&s, "0000000000000000000000000000000000000000000000000000000000000000");
        s.max_bytes = 1;
        set_age(in_scratch("root/trimmed"), -shift + 2 * HOUR);
        store_trim(&s, false);
        const int trimmed = load(&s, key) == MISS && load(&s, third) == MISS;
        iowrap_disarm();
        iowrap.shift = 0;
        ok(first && saved && left && alive && !s.faults, "a clock that is wrong by %lld hours loses nothing",
           (long long)(shift / HOUR));
        ok(trimmed, "and limits hold");
        s.max_bytes = 1 << 20;
        ok(save(&s, key) && load(&s, key) == HIT, "set right again, it all goes on");
        store_trim(&s, false);
        ok(load(&s, key) == HIT && age_of(in_scratch("root/trimmed")) < HOUR,
           "with the time of the last trim put right");
        store_clear(&s);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(i * 7 + i / 256);
    scratch_begin("iobetween");
    check_between();
    check_folders();
    check_unknown();
    check_others_unknown();
    check_marks_between();
    check_trim_unstamped();
    check_clocks();
    return scratch_end();
}
