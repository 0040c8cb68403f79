/* process.h - a test's own program as another process, started, and killed at any moment; on every system
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_H_OF_TESTS
#define PROCESS_H_OF_TESTS

#include "tests/lib/tap.h"

#include <stdint.h>
#include <time.h>

#ifdef _WIN32
#include <process.h>
#include <windows.h>

/* Returns the process; words have neither spaces nor quotation marks. */
TAP_UNUSED static intptr_t process_start(char *const argv[])
{
    const intptr_t process = _spawnv(_P_NOWAIT, argv[0], (const char *const *)argv);
    if (process == -1)
        bail("no process");
    return process;
}

/* Whether it was there to be killed. */
TAP_UNUSED static int process_kill(intptr_t process)
{
    const int running = WaitForSingleObject((HANDLE)process, 0) != WAIT_OBJECT_0;
    TerminateProcess((HANDLE)process, 9);
    WaitForSingleObject((HANDLE)process, INFINITE);
    CloseHandle((HANDLE)process);
    return running;
}

TAP_UNUSED static void process_sleep(int ms)
{
    Sleep((DWORD)ms);
}
#else
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

TAP_UNUSED static intptr_t process_start(char *const argv[])
{
    fflush(stdout);
    const pid_t pid = fork();
    if (pid < 0)
        bail("no process: %s", strerror(errno));
    if (!pid) {
        execv(argv[0], argv);
        _exit(99);
    }
    return pid;
}

TAP_UNUSED static int process_kill(intptr_t process)
{
    int status = 0;
    kill((pid_t)process, SIGKILL);
    while (waitpid((pid_t)process, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Exit status of body in a child, or minus the signal that ended it: SIGALRM where it hangs. body prints nothing. */
TAP_UNUSED static int in_child(int (*body)(void *user), void *user)
{
    enum { SECONDS = 120 };
    int status;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid < 0)
        bail("no child: %s", strerror(errno));
    if (!pid) {
        alarm(SECONDS);
        _exit(body(user));
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TAP_UNUSED static void process_sleep(int ms)
{
    const struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
    nanosleep(&t, NULL);
}
#endif

#endif
