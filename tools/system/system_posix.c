/* system_posix.c - system.h for POSIX
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/cgroup.h"
#include "tools/system/system.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __APPLE__
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#else
extern char **environ;
#endif

static volatile sig_atomic_t signal_got;

static void on_signal(int n)
{
    signal_got = n;
}

void system_catch_interrupts(void)
{
    static const int all[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction on = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND }, was;
    (void)sigemptyset(&on.sa_mask);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sigaction(all[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN) /* nohup, or a shell's background */
            (void)sigaction(all[i], &on, NULL);
}

int system_interrupted(void)
{
    return signal_got;
}

int system_is_same_file(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int system_is_terminal(int fd)
{
    const char *const term = getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

int system_has(const char *name)
{
    const char *at = getenv("PATH");
    struct stat s;
    char path[4096];
    for (at = at ? at : "/bin:/usr/bin"; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        const int n = (int)strcspn(at, ":"); /* 0: the current folder */
        if (snprintf(path, sizeof path, "%.*s%s%s", n, at, n ? "/" : "./", name) < (int)sizeof path &&
            stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0)
            return 1;
    }
    return 0;
}

int system_run(char *const argv[], int *status)
{
    pid_t pid;
    const int failed = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    *status = -1;
    if (failed)
        return failed;
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

int system_columns(void)
{
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}

/* Linux knows what could be had by dropping caches; elsewhere all of the memory is the best answer. */
static uint64_t of_machine(void)
{
    unsigned long long kib = 0;
    char line[128];
    FILE *const f = fopen("/proc/meminfo", "r");
    while (f && !kib && fgets(line, sizeof line, f))
        (void)sscanf(line, "MemAvailable: %llu kB", &kib);
    if (f)
        (void)fclose(f);
    if (kib)
        return (uint64_t)kib * 1024;
#if defined _SC_PHYS_PAGES && defined _SC_PAGESIZE
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0)
        return (uint64_t)pages * (uint64_t)size;
#endif
    return 0;
}

uint64_t system_memory(void)
{
    const uint64_t all = of_machine(), group = cgroup_memory("/proc/self/cgroup", "/sys/fs/cgroup");
    return group != 0 && (all == 0 || group < all) ? group : all;
}
