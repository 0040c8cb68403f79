/* child.c - processes that answer, hang, crash and babble, seen from their parent
 * SPDX-License-Identifier: Apache-2.0
 *
 * This program starts itself again: with an argument it is one of those children. */
#include "config.h"

#include "tests/lib/tap.h"

#include "tools/system/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *self;

/* ---- Children ---- */

static void babble(size_t n)
{
    static const char line[] = "a driver has much to say\n";
    for (size_t i = 0; i < n; i += 2 * sizeof line) {
        fputs(line, stdout);
        fputs(line, stderr);
    }
    fflush(stdout);
}

/* Leaves a process behind that has all it had, as drivers with a compiler of their own do. */
static void leave_another(void)
{
    if (fork() == 0)
        for (;;)
            pause();
}

/* Open ones. */
static int count_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void say_what_is(int fd)
{
    char words[CHILD_WORDS], byte;
    struct rlimit core;
    struct stat out, err;
    getrlimit(RLIMIT_CORE, &core);
    const int together =
        fstat(1, &out) == 0 && fstat(2, &err) == 0 && out.st_ino == err.st_ino && S_ISFIFO(out.st_mode);
    snprintf(words, sizeof words, "group %s, stdin %s, output %s, cores %s",
             getpgrp() == getpid() ? "of its own" : "its parent's", read(0, &byte, 1) == 0 ? "empty" : "readable",
             together ? "kept" : "lost", core.rlim_cur ? "yes" : "no");
    if (child_answer(fd, 0, count_files(), words) != 0)
        _exit(2);
}

static int serve(int fd, const char *how)
{
    for (int i = 1; !strcmp(how, "good") || !strcmp(how, "endless"); i++) {
        if (child_answer(fd, i == 3 ? -42 : 0, i, i == 3 ? "no more" : "") != 0 || child_asked(fd) != 0)
            break;
    }
    if (!strcmp(how, "good"))
        return 0;
    for (;;)
        pause();
}

static void crash(void)
{
    fprintf(stderr, "first\nthe last line\n\n");
    raise(SIGSEGV);
}

static void print_long_line(void)
{
    for (int i = 0; i < 100000; i++)
        putchar('x');
    fflush(stdout);
    raise(SIGSEGV);
}

/* Returns if that is not what it does. */
static void answer_badly(int fd, const char *how)
{
    static const char nonsense[2 * sizeof(struct answer)];
    if (!strcmp(how, "hangs when asked") && child_answer(fd, 0, 0, "") != 0)
        _exit(2);
    if (!strcmp(how, "answers in part") && send(fd, self, 5, 0) != 5)
        _exit(2);
    if (!strcmp(how, "stops talking") && (send(fd, self, 5, 0) != 5 || shutdown(fd, SHUT_RDWR) != 0))
        _exit(2);
    if (!strcmp(how, "talks nonsense") && send(fd, nonsense, sizeof nonsense, 0) < 0)
        _exit(2);
}

static int be_child(const char *how)
{
    if (!strcmp(how, "ends"))
        return 3;
    const int fd = child_begin();
    if (fd < 0)
        return 1;
    if (!strcmp(how, "babbles"))
        babble(1 << 20);
    if (!strcmp(how, "babbles") || !strcmp(how, "tells")) {
        say_what_is(fd);
        return child_asked(fd);
    }
    if (!strcmp(how, "leaves another"))
        leave_another();
    if (!strcmp(how, "leaves another") || !strcmp(how, "crashes"))
        crash();
    if (!strcmp(how, "prints a long line"))
        print_long_line();
    answer_badly(fd, how);
    return serve(fd, how);
}

/* ---- Their parent ---- */

static int asked;
static int stop_at_three(void *user)
{
    (void)user;
    return ++asked >= 3;
}

static int start(struct child *c, const char *how)
{
    char *argv[] = { self, (char *)how, NULL };
    const int e = child_start(c, argv);
    if (e)
        diag("%s", strerror(e));
    return e;
}

/* Starts a child and waits for its first answer. */
static int first(struct child *c, const char *how, double seconds, struct answer *a, char *words)
{
    const struct patience p = { seconds, NULL, NULL };
    memset(a, 0, sizeof *a);
    return start(c, how) ? -2 : child_wait(c, &p, a, words);
}

static int is_gone(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/* It is not there any more, its words are these, and closing it once more does nothing. */
static void ends(const char *how, double seconds, const char *want)
{
    struct child c;
    struct answer a;
    char words[CHILD_WORDS];
    const int got = first(&c, how, seconds, &a, words);
    ok(got == -1 && !c.open && is_gone(-1), "one that %s is gone", how);
    if (want)
        is_str(words, want, "and in words: %s", want);
    const int next = open("/dev/null", O_RDONLY); /* under a number that was the child's */
    child_close(&c);
    ok(next >= 0 && close(next) == 0, "closing it once more closes nothing else");
}

static void test_good(void)
{
    const struct patience p = { 20, NULL, NULL };
    struct child c;
    struct answer a;
    char words[CHILD_WORDS];
    ok(first(&c, "good", 20, &a, words) == 0 && a.status == 0 && a.seconds == 1, "it is ready");
    child_ask(&c);
    ok(child_wait(&c, &p, &a, words) == 0 && a.status == 0 && a.seconds == 2, "it answers");
    child_ask(&c);
    ok(child_wait(&c, &p, &a, words) == 0 && a.status == -42 && !strcmp(a.words, "no more"), "it refuses, with words");
    const pid_t pid = (pid_t)c.process;
    child_close(&c);
    ok(is_gone(pid), "it ends when it is closed");
}

static void test_two(void)
{
    const struct patience p = { 20, NULL, NULL };
    struct child c[2];
    struct answer a;
    char words[CHILD_WORDS];
    const int before = count_files();
    int good = first(&c[0], "good", 20, &a, words) == 0 && first(&c[1], "tells", 20, &a, words) == 0;
    is_int((int)a.seconds, before + 1, "a child has its socket, and no file of another one");
    child_close(&c[1]);
    good = good && first(&c[1], "good", 20, &a, words) == 0;
    child_close(&c[0]);
    child_ask(&c[1]);
    good = good && child_wait(&c[1], &p, &a, words) == 0 && a.seconds == 2;
    child_close(&c[1]);
    ok(good && is_gone(-1), "two know nothing of each other");
}

static void test_endless(void)
{
    struct child c;
    struct answer a;
    char words[CHILD_WORDS];
    ok(first(&c, "endless", 20, &a, words) == 0, "one that does not end");
    const pid_t pid = (pid_t)c.process;
    child_close(&c);
    ok(is_gone(pid), "ends all the same");
}

static void test_stop(void)
{
    const struct patience p = { 600, stop_at_three, NULL };
    struct child c;
    struct answer a;
    char words[CHILD_WORDS] = "?";
    ok(start(&c, "hangs") == 0 && child_wait(&c, &p, &a, words) == -1 && asked == 3, "stop() ends the waiting");
    ok(!words[0] && is_gone(-1), "without words");
}

static void test_environment(void)
{
    static const char want[] = "group of its own, stdin empty, output kept, cores no";
    struct child c;
    struct answer a;
    char words[CHILD_WORDS];
    ok(first(&c, "tells", 20, &a, words) == 0, "one that looks around");
    is_str(a.words, want, "%s", want);
    child_close(&c);
    ok(first(&c, "babbles", 60, &a, words) == 0 && !strcmp(a.words, want), "one that prints a lot gets through");
    child_close(&c);
}

static void test_asked(void)
{
    const struct patience p = { 0.3, NULL, NULL };
    struct child c;
    struct answer a;
    char words[CHILD_WORDS];
    ok(first(&c, "hangs when asked", 20, &a, words) == 0, "one that hangs later is ready");
    child_ask(&c);
    ok(child_wait(&c, &p, &a, words) == -1 && !strcmp(words, "killed after 0.3 s"), "and is killed later");
    ok(first(&c, "hangs when asked", 20, &a, words) == 0 && kill((pid_t)c.process, SIGKILL) == 0,
       "one that dies in between");
    child_ask(&c);
    ok(child_wait(&c, &p, &a, words) == -1 && !strcmp(words, "died of SIGKILL"),
       "is found dead, and asking it is no harm");
}

static void test_nobody(void)
{
    static char missing[] = "/none/none";
    char *argv[] = { missing, NULL };
    char *const was = self;
    struct child c;
    struct answer a;
    char words[CHILD_WORDS];
    self = missing;
#ifdef __linux__
    ok(first(&c, "good", 20, &a, words) == 0, "a program that has moved is found all the same");
    child_close(&c);
    (void)argv;
#else
    (void)a, (void)words;
    ok(child_start(&c, argv) == ENOENT && !c.open, "a program that is not there");
#endif
    self = was;
    ok(child_begin() == -1, "a program of nobody is told so");
}

/* Whether nobody has the other end of `fd` any more. */
static int is_deserted(int fd)
{
    struct pollfd p = { fd, POLLIN, 0 };
    return poll(&p, 1, 30000) == 1 && p.revents & POLLHUP;
}

/* A parent that is killed while its child hangs. The pipe is whoever's is left. */
static void test_orphan(void)
{
#ifdef __linux__
    int alive[2], ready[2];
    char byte;
    if (pipe(alive) != 0 || pipe(ready) != 0)
        bail("no pipe");
    const pid_t parent = fork();
    if (parent == 0) {
        struct child c;
        struct answer a;
        char words[CHILD_WORDS];
        if (first(&c, "hangs when asked", 20, &a, words) != 0 || write(ready[1], "r", 1) != 1)
            _exit(1);
        child_ask(&c);
        for (;;)
            pause();
    }
    (void)close(alive[1]);
    ok(parent > 0 && read(ready[0], &byte, 1) == 1 && kill(parent, SIGKILL) == 0, "a parent is killed");
    ok(is_deserted(alive[0]), "its child, which hangs, dies with it");
    (void)waitpid(parent, NULL, 0);
    (void)close(alive[0]);
    (void)close(ready[0]);
    (void)close(ready[1]);
#else
    skip("only Linux tells a child that its parent died");
#endif
}

/* What a driver has started dies with the child. */
static void test_left(void)
{
    int alive[2];
    if (pipe(alive) != 0)
        bail("no pipe");
    ends("leaves another", 20, "died of SIGSEGV: the last line");
    (void)close(alive[1]);
    ok(is_deserted(alive[0]), "what it left behind is gone too");
    (void)close(alive[0]);
}

static void test_files(void)
{
    const int before = count_files();
    ends("hangs", 0.2, "killed after 0.2 s");
    ends("crashes", 20, "died of SIGSEGV: the last line");
    is_int(count_files(), before, "no file stays open");
}

int main(int argc, char **argv)
{
    struct rlimit core;
    self = argv[0];
    if (argc > 1)
        return be_child(argv[1]);
    if (getrlimit(RLIMIT_CORE, &core) == 0) { /* what a user may have asked for */
        core.rlim_cur = core.rlim_max;
        (void)setrlimit(RLIMIT_CORE, &core);
    }
    test_good();
    test_two();
    ends("hangs", 0.5, "killed after 0.5 s");
    ends("crashes", 20, "died of SIGSEGV: the last line");
    ends("ends", 20, "ended with status 3");
    ends("stops talking", 20, "answered what cannot be read");
    ends("talks nonsense", 20, "answered what cannot be read");
    ends("answers in part", 0.3, "killed after 0.3 s");
    ends("prints a long line", 20, NULL);
    test_endless();
    test_stop();
    test_environment();
    test_asked();
    test_left();
    test_files();
    test_orphan();
    test_nobody();
    return done_testing();
}
