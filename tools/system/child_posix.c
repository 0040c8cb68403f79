/* child_posix.c - children on POSIX: a socket, and a process group of their own
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/child.h"
#include "tools/system/child_steps.h"

#include "tools/system/clock.h"

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
#ifdef __APPLE__
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#else
extern char **environ;
#endif

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* macOS, where SO_NOSIGPIPE does that */
#endif

/* ---- Descriptors, which other programs do not inherit ---- */

/* For systems that cannot do that at once. Returns 0, or -1 with errno. */
static __attribute__((unused)) int keep_to_ourselves(const int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (fcntl(pair[i], F_SETFD, FD_CLOEXEC) != 0) {
            const int e = errno;
            (void)close(pair[0]);
            (void)close(pair[1]);
            errno = e;
            return -1;
        }
    return 0;
}

static int make_socket(int pair[2])
{
#ifdef SOCK_CLOEXEC
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || keep_to_ourselves(pair) != 0)
        return -1;
#ifdef SO_NOSIGPIPE
    const int on = 1;
    for (int i = 0; i < 2; i++)
        (void)setsockopt(pair[i], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    return 0;
#endif
}

static int make_pipe(int pair[2])
{
#ifdef HAVE_PIPE2
    return pipe2(pair, O_CLOEXEC);
#else
    return pipe(pair) != 0 ? -1 : keep_to_ourselves(pair);
#endif
}

/* ---- What it prints ---- */

static void drain(struct child *c)
{
    char bytes[4096];
    for (int i = 0; i < 64 && c->log >= 0; i++) { /* a child that prints without end must still run into its limit */
        const ssize_t n = read((int)c->log, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        child_keep(c, bytes, (size_t)n);
        if (n == 0) {
            (void)close((int)c->log);
            c->log = -1;
        }
    }
}

/* ---- Starting ---- */

void child_expect(void)
{
    (void)signal(SIGCHLD, SIG_DFL);
}

static int spawn(struct child *c, char *const argv[], int socket_end, int log_end)
{
    static const char self[] = "/proc/self/exe"; /* in the child: the parent's program, even if it was moved or
                                                  * deleted */
    const char *path = access(self, X_OK) == 0 ? self : argv[0];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t pid = 0;
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
        e = posix_spawnp(&pid, path, &files, &attributes, argv, environ);
    c->process = e ? 0 : pid;
    (void)posix_spawnattr_destroy(&attributes);
no_attributes:
    (void)posix_spawn_file_actions_destroy(&files);
    return e;
}

int child_start(struct child *c, char *const argv[])
{
    int pair[2], log[2], e;
    memset(c, 0, sizeof *c);
    if (make_socket(pair) != 0)
        return errno;
    if (make_pipe(log) != 0) {
        e = errno;
        goto no_pipe;
    }
    e = fcntl(log[0], F_SETFL, O_NONBLOCK) == 0 ? spawn(c, argv, pair[1], log[1]) : errno;
    (void)close(log[1]);
    (void)close(pair[1]);
    c->talk = pair[0];
    c->log = log[0];
    c->open = 1;
    if (e)
        child_close(c);
    return e;
no_pipe:
    (void)close(pair[0]);
    (void)close(pair[1]);
    return e;
}

/* ---- Ending ---- */

/* Its process number is not reused until it is reaped. */
int child_is_dead(const struct child *c)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    return waitid(P_PID, (id_t)c->process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == (pid_t)c->process;
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

static void put_in_words(int status, char how[CHILD_HOW])
{
    char number[16];
    if (WIFSIGNALED(status))
        snprintf(how, CHILD_HOW, "died of %s", signal_name(WTERMSIG(status), number));
    else
        snprintf(how, CHILD_HOW, "ended with status %d", WEXITSTATUS(status));
}

int child_reap(struct child *c, int ms, char how[CHILD_HOW])
{
    const double end = clock_ms() + ms;
    int status = 0;
    while (!child_is_dead(c)) {
        struct pollfd p = { (int)c->log, POLLIN, 0 }; /* poll() ignores -1 */
        if (!(clock_ms() < end))
            return 0;
        (void)poll(&p, 1, 2);
        drain(c);
    }
    (void)kill(-(pid_t)c->process, SIGKILL); /* processes that a driver left running */
    while (waitpid((pid_t)c->process, &status, 0) < 0 && errno == EINTR)
        ;
    drain(c);
    c->process = 0;
    put_in_words(status, how);
    return 1;
}

void child_kill(struct child *c)
{
    char how[CHILD_HOW];
    (void)kill(-(pid_t)c->process, SIGKILL);
    (void)child_reap(c, CHILD_DEAD_MS, how);
}

void child_hang_up(struct child *c)
{
    (void)close((int)c->talk);
}

void child_release(struct child *c)
{
    if (c->log >= 0)
        (void)close((int)c->log);
}

/* ---- Talking ---- */

void child_ask(struct child *c)
{
    while (send((int)c->talk, "?", 1, MSG_NOSIGNAL) < 0 && errno == EINTR) /* otherwise it is dead, which child_wait()
                                                                            * finds out */
        ;
}

int child_receive(struct child *c, void *to, size_t n)
{
    const ssize_t got = recv((int)c->talk, to, n, MSG_DONTWAIT);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN ? 0 : -1;
    return got == 0 ? -1 : (int)got;
}

void child_wait_a_little(struct child *c)
{
    struct pollfd p[2] = { { (int)c->talk, POLLIN, 0 }, { (int)c->log, POLLIN, 0 } };
    (void)poll(p, 2, CHILD_TICK_MS);
    drain(c);
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

int child_send(int fd, const void *bytes, size_t n)
{
    for (size_t sent = 0; sent < n;) {
        const ssize_t k = send(fd, (const char *)bytes + sent, n - sent, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return -1;
        sent += (size_t)k;
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
