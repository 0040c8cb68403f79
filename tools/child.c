/* child.c - a process that answers when it is asked, and that may hang or crash without harm
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "child.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

extern char **environ;

enum { MARK = 0x636c6174, TICK_MS = 200, PARTING_MS = 1000, DEAD_MS = 5000 };

/* ---- What it prints ---- */

/* Keeps the last line that is not empty. */
static void keep(struct child *c, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r') {
            c->ended = 1;
            continue;
        }
        if (c->ended)
            c->length = 0;
        c->ended = 0;
        if (c->length < sizeof c->line)
            c->line[c->length++] = bytes[i];
    }
}

static void drain(struct child *c)
{
    char bytes[4096];
    for (int i = 0; i < 64 && c->log >= 0; i++) { /* a child that prints without end must still run into its limit */
        const ssize_t n = read(c->log, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        keep(c, bytes, (size_t)n);
        if (n == 0) {
            (void)close(c->log);
            c->log = -1;
        }
    }
}

/* ---- Starting ---- */

static int spawn(struct child *c, char *const argv[], int socket_end, int log_end)
{
    static const char self[] = "/proc/self/exe"; /* in the child: the parent's program, even if it was moved or
                                                  * deleted */
    const char *path = access(self, X_OK) == 0 ? self : argv[0];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int e = posix_spawn_file_actions_init(&files);
    if (e)
        return e;
    e = posix_spawnattr_init(&attributes);
    if (e)
        goto no_attributes;
    /* The child has a process group of its own: ^C goes to the parent only, and compilers that a driver starts are
     * killed together with the child. */
    e = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (!e)
        e = posix_spawnattr_setpgroup(&attributes, 0);
    if (!e)
        e = posix_spawn_file_actions_adddup2(&files, socket_end, STDIN_FILENO);
    if (!e)
        e = posix_spawn_file_actions_adddup2(&files, log_end, STDOUT_FILENO);
    if (!e)
        e = posix_spawn_file_actions_adddup2(&files, log_end, STDERR_FILENO);
    if (!e)
        e = posix_spawnp(&c->pid, path, &files, &attributes, argv, environ);
    (void)posix_spawnattr_destroy(&attributes);
no_attributes:
    (void)posix_spawn_file_actions_destroy(&files);
    return e;
}

int child_start(struct child *c, char *const argv[])
{
    int pair[2], log[2], e;
    memset(c, 0, sizeof *c);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return errno;
    if (pipe2(log, O_CLOEXEC) != 0) {
        e = errno;
        goto no_pipe;
    }
    e = fcntl(log[0], F_SETFL, O_NONBLOCK) == 0 ? spawn(c, argv, pair[1], log[1]) : errno;
    (void)close(log[1]);
    (void)close(pair[1]);
    c->fd = pair[0];
    c->log = log[0];
    c->open = 1;
    if (e) {
        c->pid = 0;
        child_close(c);
    }
    return e;
no_pipe:
    (void)close(pair[0]);
    (void)close(pair[1]);
    return e;
}

/* ---- Ending ---- */

/* Its process number is not reused until it is reaped. */
static int is_dead(const struct child *c)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == c->pid;
}

/* Waits up to `ms` for it to die; returns whether it did, with its status. Its output is read meanwhile, so that it
 * does not block. */
static int reap(struct child *c, int ms, int *status)
{
    const double end = clock_ms() + ms;
    while (!is_dead(c)) {
        struct pollfd p = { c->log, POLLIN, 0 }; /* poll() ignores -1 */
        if (!(clock_ms() < end))
            return 0;
        (void)poll(&p, 1, 2);
        drain(c);
    }
    (void)kill(-c->pid, SIGKILL); /* processes that a driver left running */
    while (waitpid(c->pid, status, 0) < 0 && errno == EINTR)
        ;
    drain(c);
    c->pid = 0;
    return 1;
}

/* Kills it and everything that it started. A process that is stuck in a driver dies when the driver releases it; that
 * is not waited for. */
static void kill_it(struct child *c)
{
    int status;
    (void)kill(-c->pid, SIGKILL);
    (void)reap(c, DEAD_MS, &status);
}

void child_close(struct child *c)
{
    int status;
    if (!c->open)
        return;
    (void)close(c->fd);
    if (c->pid && !reap(c, PARTING_MS, &status))
        kill_it(c);
    if (c->log >= 0)
        (void)close(c->log);
    c->open = 0;
}

static const char *signal_name(int n, char text[16])
{
    static const struct {
        int n;
        const char *name;
    } names[] = {
        { SIGABRT, "SIGABRT" }, { SIGBUS, "SIGBUS" },   { SIGFPE, "SIGFPE" },   { SIGILL, "SIGILL" },
        { SIGKILL, "SIGKILL" }, { SIGSEGV, "SIGSEGV" }, { SIGTERM, "SIGTERM" }, { SIGTRAP, "SIGTRAP" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].n == n)
            return names[i].name;
    snprintf(text, 16, "signal %d", n);
    return text;
}

/* "died of SIGABRT: its last line". */
static void put_in_words(const struct child *c, int status, char words[CHILD_WORDS])
{
    char number[16];
    int n;
    if (WIFSIGNALED(status))
        n = snprintf(words, CHILD_WORDS, "died of %s", signal_name(WTERMSIG(status), number));
    else
        n = snprintf(words, CHILD_WORDS, "ended with status %d", WEXITSTATUS(status));
    if (c->length && n > 0 && n < CHILD_WORDS)
        snprintf(words + n, (size_t)(CHILD_WORDS - n), ": %.*s", (int)c->length, c->line);
}

/* ---- Waiting ---- */

void child_ask(struct child *c)
{
    while (send(c->fd, "?", 1, MSG_NOSIGNAL) < 0 && errno == EINTR) /* otherwise it is dead, which child_wait() finds
                                                                     * out */
        ;
}

/* Reads what has arrived. Returns 1 when the answer is complete, -1 when there will be none. */
static int receive(struct child *c, struct answer *a, size_t *have)
{
    const ssize_t n = recv(c->fd, (char *)a + *have, sizeof *a - *have, MSG_DONTWAIT);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? 0 : -1;
    if (n == 0)
        return -1;
    *have += (size_t)n;
    if (*have < sizeof *a)
        return 0;
    a->words[sizeof a->words - 1] = '\0';
    return a->mark == MARK ? 1 : -1;
}

static void wait_a_little(struct child *c)
{
    struct pollfd p[2] = { { c->fd, POLLIN, 0 }, { c->log, POLLIN, 0 } };
    (void)poll(p, 2, TICK_MS);
    drain(c);
}

int child_wait(struct child *c, const struct patience *p, struct answer *a, char words[CHILD_WORDS])
{
    const double start = clock_ms();
    size_t have = 0;
    int status = 0, got = 0, dead = 0, late = 0, stop = 0;
    words[0] = '\0';
    while ((got = receive(c, a, &have)) == 0) {
        if (dead) { /* although processes that it left behind still hold the socket */
            got = -1;
            break;
        }
        late = !(clock_ms() - start < p->seconds * 1e3);
        stop = p->stop && p->stop(p->user);
        if (late || stop)
            break;
        wait_a_little(c);
        dead = is_dead(c);
    }
    if (got > 0)
        return 0;
    if (got < 0 && reap(c, PARTING_MS, &status))
        put_in_words(c, status, words);
    else if (got < 0)
        snprintf(words, CHILD_WORDS, "answered what cannot be read");
    else if (!stop)
        snprintf(words, CHILD_WORDS, "killed after %.3g s", p->seconds);
    if (c->pid)
        kill_it(c);
    child_close(c);
    return -1;
}

/* ---- The child's side ---- */

/* Dies with the parent, even while a driver hangs, and leaves no core file, because crashes are expected. */
static void be_mortal(void)
{
    const struct rlimit none = { 0, 0 };
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    (void)setrlimit(RLIMIT_CORE, &none);
}

int child_begin(void)
{
    int type = 0;
    socklen_t size = sizeof type;
    struct pollfd p = { STDIN_FILENO, 0, 0 };
    if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM)
        return -1;
    be_mortal();
    if (poll(&p, 1, 0) < 0 || p.revents & (POLLHUP | POLLERR)) /* the parent died before the call above */
        return -1;
    const int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0)
        return -1;
    (void)close(null);
    return fd;
}

int child_answer(int fd, int32_t status, double seconds, const char *words)
{
    struct answer a;
    size_t sent = 0;
    memset(&a, 0, sizeof a);
    a.mark = MARK;
    a.status = status;
    a.seconds = seconds;
    snprintf(a.words, sizeof a.words, "%s", words);
    while (sent < sizeof a) {
        const ssize_t n = send(fd, (const char *)&a + sent, sizeof a - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        sent += (size_t)n;
    }
    return 0;
}

int child_asked(int fd)
{
    char byte;
    ssize_t n;
    do
        n = recv(fd, &byte, 1, 0);
    while (n < 0 && errno == EINTR);
    return n == 1 ? 0 : -1;
}
