/* crash_guard.c - what crashes a process is known from then on, and nothing else is
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/cache/store.h"
#include "tests/lib/scratch.h"

#include <dirent.h>
#include <pthread.h>

static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                  other[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde0";
static struct store store;

static long count(const char *folder)
{
    count_below(in_scratch("root/%s", folder), 0);
    return below.files;
}

static void empty(void)
{
    store_clear(&store);
    open_fresh(&store);
}

/* Where one process has died of the key before. */
static void fresh(void)
{
    empty();
    make_suspect(key);
}

/* The name of the only mark there is. */
static const char *only_mark(void)
{
    static char name[256];
    DIR *const d = opendir(in_root("inflight"));
    *name = '\0';
    for (const struct dirent *e; d && (e = readdir(d));)
        if (*e->d_name != '.')
            snprintf(name, sizeof name, "%s", e->d_name);
    if (d)
        closedir(d);
    return name;
}

/* A mark of the given parts, as another process might have left it; place NULL: of this one. */
static const char *forge(const char *of, long long pid, unsigned long long began, const char *place)
{
    static char name[512];
    char own[17] = "";
    crash_guard_mark(&store, other);
    const char *const dash = strchr(only_mark(), '-');
    if (!dash)
        bail("no mark was made");
    memcpy(own, dash + 1, 16);
    crash_guard_unmark(&store, other);
    snprintf(name, sizeof name, "root/inflight/%s.%lld.%llu-%s0123456789abcdef", of, pid, began, place ? place : own);
    write_file(in_scratch("%s", name), "", 0);
    return name;
}

/* ---- Children that hold a mark ---- */

struct child {
    pid_t pid;
    int ready;
};

/* The child marks and waits to be killed. */
static struct child start(const char *what)
{
    int ready[2];
    char byte;
    if (pipe(ready))
        bail("no pipe");
    fflush(stdout);
    const pid_t pid = fork();
    if (!pid) {
        end_with_parent();
        crash_guard_mark(&store, what);
        if (write(ready[1], "", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(ready[1]);
    if (pid < 0 || read(ready[0], &byte, 1) != 1)
        bail("no child");
    return (struct child){ pid, ready[0] };
}

static void finish(struct child c, int reap)
{
    siginfo_t info;
    kill(c.pid, SIGKILL);
    if (reap)
        waitpid(c.pid, NULL, 0);
    else
        waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT);
    close(c.ready);
}

/* ---- The ordinary ---- */

static void check_form(void)
{
    char form[256];
    unsigned long long began = 0;
    int pid, n = 0;
    fresh();
    crash_guard_mark(&store, key);
    const char *const name = only_mark();
    ok(!strncmp(name, key, 64) && sscanf(name + 64, ".%d.%llu-%n", &pid, &began, &n) == 2 && pid == getpid() && n &&
           strlen(name + 64 + n) == 32 && strspn(name + 64 + n, "0123456789abcdef") == 32,
       "a mark has the form KEY.PID.BEGAN-RANDOM");
    snprintf(form, sizeof form, "/proc/%d/stat", getpid());
    is_int(began != 0, access(form, R_OK) == 0, "with the time at which the process began, where the system tells");
    ok(!crash_guard_is_poisoned(&store, key), "its own marks poison nothing");
    crash_guard_mark(&store, key);
    is_int(count("inflight"), 2, "a key may be marked twice");
    crash_guard_unmark(&store, key);
    is_int(count("inflight"), 1, "and each mark is taken away once");
    crash_guard_mark(&store, other);
    crash_guard_unmark(&store, key);
    crash_guard_unmark(&store, key);
    ok(count("inflight") == 1 && !strncmp(only_mark(), other, 64), "without touching those of another key");
    crash_guard_unmark(&store, other);
    ok(!count("inflight") && !count("poisoned"), "then nothing is left");
    crash_guard_mark(&store, "0123");
    crash_guard_mark(&store, "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef");
    crash_guard_mark(&store, "../../../../x/0123456789abcdef0123456789abcdef0123456789abcdef01");
    ok(!count("inflight") && !exists(in_scratch("x")) && !crash_guard_is_poisoned(&store, "../poisoned"),
       "what is no key has no marks");
}

static void check_death(void)
{
    for (int reap = 0; reap < 2; reap++) {
        fresh();
        struct child c = start(key);
        ok(!crash_guard_is_poisoned(&store, key), "a child tries: nothing is known yet");
        kill(c.pid, SIGSTOP);
        ok(!crash_guard_is_poisoned(&store, key) && count("inflight") == 1, "nor while it is stopped");
        finish(c, reap);
        ok(crash_guard_is_poisoned(&store, key), "it dies%s: known", reap ? "" : ", and nobody asks how");
        ok(!crash_guard_is_poisoned(&store, other), "another key is not concerned");
        ok(!count("inflight") && count("poisoned") == 1 && exists(in_scratch("root/poisoned/%s", key)),
           "the mark has moved");
        ok(crash_guard_is_poisoned(&store, key) && told.lines == 1, "known again, told once");
        crash_guard_mark(&store, key);
        ok(crash_guard_is_poisoned(&store, key), "nor does a mark change that");
        crash_guard_unmark(&store, key);
        ok(!crash_guard_is_poisoned(&store, key) && !count("poisoned") && !count("suspected"),
           "but a success takes it back");
        if (!reap)
            waitpid(c.pid, NULL, 0);
    }
    fresh();
    const struct child first = start(key), second = start(key);
    finish(first, 1);
    ok(crash_guard_is_poisoned(&store, key) && count("inflight") == 1, "one of two that try dies");
    finish(second, 1);
    ok(crash_guard_is_poisoned(&store, key), "then the other");
}

/* A signal that had nothing to do with it. */
static void check_first_death(void)
{
    empty();
    struct child c = start(key), d = start(key), e = start(key);
    finish(c, 1);
    finish(d, 1);
    ok(!crash_guard_is_poisoned(&store, key) && count("suspected") == 1 && !count("poisoned"),
       "processes that die for the first time make a thing suspect, no more");
    is_int(count("inflight"), 1, "and their marks are gone");
    finish(e, 1);
    ok(!crash_guard_is_poisoned(&store, key) && !count("inflight") && !count("poisoned"),
       "one that dies later, and began before that, says no more");
    ok(!crash_guard_is_poisoned(&store, other), "another key is not concerned");
    crash_guard_mark(&store, key);
    crash_guard_unmark(&store, key);
    ok(!count("suspected"), "a success clears it");
    finish(start(key), 1);
    ok(!crash_guard_is_poisoned(&store, key) && count("suspected") == 1, "then the next death is a first one again");
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL); /* the clock of a file system may be coarse */
    finish(start(key), 1);
    ok(crash_guard_is_poisoned(&store, key) && count("poisoned") == 1 && !count("inflight"),
       "and the one after it a second");
    store.read_only = true;
    ok(crash_guard_is_poisoned(&store, key), "known to a read-only store");
    store.read_only = false;
}

/* Poison and suspicion of some age, on either side of a clock. */
static void check_age(void)
{
    const struct {
        int64_t age;
        int poisoned;
    } rows[] = {
        { 0, 1 }, { 29 * 24 * HOUR, 1 }, { 31 * 24 * HOUR, 0 }, { -29 * 24 * HOUR, 1 }, { -31 * 24 * HOUR, 0 }
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fresh();
        finish(start(key), 1);
        ok(crash_guard_is_poisoned(&store, key), "poisoned");
        set_age(in_scratch("root/poisoned/%s", key), rows[i].age);
        is_int(crash_guard_is_poisoned(&store, key), rows[i].poisoned, "%lld days ago",
               (long long)rows[i].age / 24 / HOUR);
    }
    fresh();
    finish(start(key), 1);
    crash_guard_is_poisoned(&store, key);
    set_age(in_scratch("root/poisoned/%s", key), 31 * 24 * HOUR);
    finish(start(key), 1);
    ok(crash_guard_is_poisoned(&store, key), "after that a single death is enough");
}

static void check_read_only(void)
{
    fresh();
    finish(start(key), 1);
    store.read_only = true;
    ok(crash_guard_is_poisoned(&store, key) && count("inflight") == 1 && !count("poisoned"),
       "a read-only store sees, and moves nothing");
    crash_guard_unmark(&store, key);
    is_int(count("inflight"), 1, "nor takes away");
    store.read_only = false;
    crash_guard_mark(&store, other);
    store.read_only = true;
    crash_guard_unmark(&store, other);
    is_int(count("inflight"), 2, "not even its own");
    empty();
    finish(start(key), 1);
    store.read_only = true;
    ok(crash_guard_is_poisoned(&store, key) && count("inflight") == 1 && !count("suspected"),
       "it leaves alone what was never a second time tried, as it can leave no mark");
    fresh();
    store.read_only = true;
    ok(crash_guard_is_poisoned(&store, key), "and what is suspect");
    store.read_only = false;
    ok(!crash_guard_is_poisoned(&store, key), "which others try");
}

/* ---- Whose marks they are ---- */

static void check_numbers(void)
{
    fresh();
    const struct child c = start(other);
    const char *const name = only_mark();
    unsigned long long began = strtoull(strchr(name + 65, '.') + 1, NULL, 10);
    if (!began) {
        skip("this system does not tell when a process began");
        finish(c, 1);
        return;
    }
    fresh();
    forge(key, c.pid, began, NULL);
    ok(!crash_guard_is_poisoned(&store, key), "a mark of a process that lives");
    fresh();
    forge(key, c.pid, began + 1, NULL);
    ok(crash_guard_is_poisoned(&store, key), "one of a process whose number it has now");
    fresh();
    forge(key, getpid(), began + 1000, NULL);
    ok(crash_guard_is_poisoned(&store, key), "or that has ours");
    fresh();
    crash_guard_mark(&store, other);
    const unsigned long long own = strtoull(strchr(only_mark() + 65, '.') + 1, NULL, 10);
    crash_guard_unmark(&store, other);
    forge(key, c.pid, own, NULL);
    crash_guard_unmark(&store, key);
    is_int(count("inflight"), 1, "one that began when we did is not ours");
    fresh();
    forge(key, c.pid, 0, NULL);
    ok(!crash_guard_is_poisoned(&store, key), "one that does not say when its process began, which may live");
    finish(c, 1);
    ok(crash_guard_is_poisoned(&store, key), "until its number is gone");
    fresh();
    forge(key, c.pid, began, "fedcba9876543210");
    ok(!crash_guard_is_poisoned(&store, key) && count("inflight") == 1, "one of another machine: nobody knows");
    set_age(in_scratch("%s", forge(key, c.pid, began, "fedcba9876543210")), HOUR - 100);
    ok(!crash_guard_is_poisoned(&store, key), "within the hour");
    set_age(in_scratch("%s", forge(key, c.pid, began, "fedcba9876543210")), HOUR + 100);
    ok(crash_guard_is_poisoned(&store, key), "after which it is gone");
}

static void *stay(void *ready)
{
    if (write(*(const int *)ready, "", 1) == 1)
        for (;;)
            pause();
    return NULL;
}

/* Until its first thread has ended; for a second at most. */
static void await_end(pid_t pid)
{
    const struct timespec pause = { 0, 1000000 };
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int i = 0; i < 1000; i++) {
        const int fd = open(path, O_RDONLY);
        const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        close(fd);
        text[n > 0 ? n : 0] = '\0';
        if (n <= 0 || strstr(text, ") Z "))
            return;
        nanosleep(&pause, NULL);
    }
}

/* A process that looks dead, or that looks like nothing at all. */
static void check_strange(void)
{
    for (int kind = 0; kind < 2; kind++) {
        int ready[2];
        char byte;
        fresh();
        fflush(stdout);
        if (pipe(ready))
            bail("no pipe");
        const pid_t pid = fork();
        if (!pid) {
            pthread_t thread;
            end_with_parent();
            if (kind)
                prctl(PR_SET_NAME, "a) Z 1 (b) Z");
            crash_guard_mark(&store, key);
            if (kind)
                stay(&ready[1]);
            else if (!pthread_create(&thread, NULL, stay, &ready[1]))
                pthread_exit(NULL);
            _exit(1);
        }
        close(ready[1]);
        if (pid < 0 || read(ready[0], &byte, 1) != 1)
            bail("no child");
        await_end(pid);
        ok(!crash_guard_is_poisoned(&store, key), "a process %s lives",
           kind ? "with a strange name" : "whose first thread has ended");
        finish((struct child){ pid, ready[0] }, 1);
        ok(crash_guard_is_poisoned(&store, key), "and dies");
    }
}

static void check_malformed(void)
{
    static const char *const tails[] = {
        "",       ".",      ".1",       ".1.2", ".1.2-", ".1.2-0123456789abcdef", ".x.2-",
        ".1.y-",  ".-1.2-", ".1.-2-",   "..2-", ".1.-",  ".99999999999.2-",       ".1.99999999999999999999-",
        " .1.2-", ".1.2x",  ".01.2.3-", "x1.2-"
    };
    enum { N = sizeof tails / sizeof *tails, VALID = 4 };
    fresh();
    for (int i = 0; i < N; i++) {
        const int dash = tails[i][0] && tails[i][strlen(tails[i]) - 1] == '-';
        const char *const path = in_scratch("root/inflight/%s%s%s", key, tails[i],
                                            !dash ? "" : i == VALID ? "0123456789abcdef0123456789abcdeX"
                                                                    : "0123456789abcdef0123456789abcdef");
        write_file(path, "", 0);
        set_age(path, 2 * HOUR); /* were it a mark, its process would be gone */
    }
    chmod(root, 0700);
    ok(!crash_guard_is_poisoned(&store, key), "names that are no marks poison nothing");
    crash_guard_unmark(&store, key);
    is_int(count("inflight"), N, "and are left alone");
}

/* ---- Many at a time ---- */

static void *mark_often(void *user)
{
    long bad = 0;
    (void)user;
    for (int i = 0; i < 100; i++) {
        crash_guard_mark(&store, key);
        bad += crash_guard_is_poisoned(&store, key);
        crash_guard_unmark(&store, key);
    }
    return (void *)bad;
}

static void check_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    long bad = 0;
    void *result;
    fresh();
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, mark_often, NULL))
            bail("no threads");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        bad += (long)result;
    }
    is_int(bad, 0, "threads that mark the same key poison nothing");
    is_int(count("inflight"), 0, "and leave no mark");
}

static int mark_once(void *user)
{
    (void)user;
    crash_guard_mark(&store, key);
    crash_guard_unmark(&store, key);
    return 0;
}

/* Processes that end right after they took their mark away, while others look. */
static void check_endings(void)
{
    const time_t end = time(NULL) + (full() ? 30 : 2);
    enum { WATCHERS = 3 };
    pid_t watchers[WATCHERS];
    int status, bad = 0;
    long children = 0;
    fresh();
    fflush(stdout);
    for (int i = 0; i < WATCHERS; i++)
        if (!(watchers[i] = fork())) {
            end_with_parent();
            for (;;)
                if (crash_guard_is_poisoned(&store, key))
                    _exit(1);
        }
    while (time(NULL) < end && ++children)
        bad += in_child(mark_once, NULL) != 0;
    for (int i = 0; i < WATCHERS; i++) {
        kill(watchers[i], SIGKILL);
        waitpid(watchers[i], &status, 0);
        bad += WIFEXITED(status);
    }
    ok(!bad && !count("poisoned") && !count("inflight"),
       "processes that end after success poison nothing (%ld of them)", children);
}

int main(void)
{
    scratch_begin("marks");
    check_form();
    check_death();
    check_first_death();
    check_age();
    check_read_only();
    check_numbers();
    check_strange();
    check_malformed();
    check_threads();
    check_endings();
    store_clear(&store);
    return scratch_end();
}
