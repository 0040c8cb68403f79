/* wrap_io.c - the library's calls of the system for files, counted and made to fail
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/wrap_io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct iowrap iowrap;

void iowrap_arm(long fail_at, int sticky, int error)
{
    iowrap.armed = 1;
    iowrap.calls = iowrap.failed = iowrap.memory = 0;
    iowrap.failed_unlink = 0;
    iowrap.fail_at = fail_at;
    iowrap.sticky = sticky;
    iowrap.error = error;
    iowrap.last[0] = '\0';
}

void iowrap_disarm(void)
{
    iowrap.armed = 0;
}

/* Whether this call is to fail; errno is set then. */
static int fails(const char *name)
{
    if (!iowrap.armed)
        return 0;
    if (iowrap.hook) {
        iowrap.armed = 0;
        iowrap.hook(name);
        iowrap.armed = 1;
    }
    if (iowrap.only && strcmp(iowrap.only, name))
        return 0;
    iowrap.calls++;
    if (!iowrap.fail_at || (iowrap.sticky ? iowrap.calls < iowrap.fail_at : iowrap.calls != iowrap.fail_at))
        return 0;
    iowrap.failed++;
    iowrap.failed_unlink |= !strcmp(name, "unlinkat");
    snprintf(iowrap.last, sizeof iowrap.last, "%s", name);
    errno = iowrap.error;
    return 1;
}

/* Whether this call is one that a signal interrupts. */
static int is_interrupted(void)
{
    static unsigned x = 1;
    x = x * 1103515245u + 12345u;
    if (!iowrap.armed || !iowrap.piecemeal || x >> 30)
        return 0;
    errno = EINTR;
    return 1;
}

static size_t piece(size_t n)
{
    return iowrap.armed && iowrap.piecemeal && n > 7 ? 7 : n;
}

/* Where the C library has two of each, for files and times of 32 and of 64 bits, programs call those of 64, whose names
 * the linker sees (WRAPPED_IO has both). */
#if defined __USE_TIME_BITS64 && __WORDSIZE == 32
#define __real_fstat __real___fstat64_time64
#define __wrap_fstat __wrap___fstat64_time64
#define __real_fstatat __real___fstatat64_time64
#define __wrap_fstatat __wrap___fstatat64_time64
#define __real_stat __real___stat64_time64
#define __wrap_stat __wrap___stat64_time64
#define __real_utimensat __real___utimensat64
#define __wrap_utimensat __wrap___utimensat64
#define __real_readdir __real_readdir64
#define __wrap_readdir __wrap_readdir64
#define __real_open __real_open64
#define __wrap_open __wrap_open64
#define __real_openat __real_openat64
#define __wrap_openat __wrap_openat64
#define __real_pwrite __real_pwrite64
#define __wrap_pwrite __wrap_pwrite64
#define __real_clock_gettime __real___clock_gettime64
#define __wrap_clock_gettime __wrap___clock_gettime64
#endif

#define WRAP(type, name, parameters, arguments, error)                                                                 \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        return fails(#name) ? error : __real_##name arguments;                                                         \
    }

WRAP(int, fstat, (int fd, struct stat *st), (fd, st), -1)
WRAP(int, fstatat, (int fd, const char *path, struct stat *st, int flags), (fd, path, st, flags), -1)
WRAP(int, stat, (const char *path, struct stat *st), (path, st), -1)
WRAP(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode), -1)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
WRAP(int, fchmodat, (int fd, const char *path, mode_t mode, int flags), (fd, path, mode, flags), -1)
WRAP(int, renameat, (int from, const char *path, int to, const char *name), (from, path, to, name), -1)
WRAP(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags), -1)
WRAP(int, utimensat, (int fd, const char *path, const struct timespec *t, int flags), (fd, path, t, flags), -1)
WRAP(DIR *, fdopendir, (int fd), (fd), NULL)
WRAP(struct dirent *, readdir, (DIR * d), (d), NULL)

/* ---- What signals interrupt ---- */

int __real_openat(int fd, const char *path, int flags, mode_t mode);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list ap;
    if (flags & O_CREAT) {
        va_start(ap, flags);
        mode = va_arg(ap, mode_t);
        va_end(ap);
    }
    return fails("openat") || is_interrupted() ? -1 : __real_openat(fd, path, flags, mode);
}

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list ap;
    if (flags & O_CREAT) {
        va_start(ap, flags);
        mode = va_arg(ap, mode_t);
        va_end(ap);
    }
    if (fails("open"))
        return -1;
    return __real_open(iowrap.armed && iowrap.self && !strcmp(path, "/proc/self/stat") ? iowrap.self : path, flags,
                       mode);
}

ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __wrap_read(int fd, void *to, size_t n);
ssize_t __wrap_read(int fd, void *to, size_t n)
{
    return fails("read") || is_interrupted() ? -1 : __real_read(fd, to, n < 128 ? piece(n) : n);
}

ssize_t __real_pwrite(int fd, const void *from, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t n, off_t at)
{
    return fails("pwrite") || is_interrupted() ? -1 : __real_pwrite(fd, from, piece(n), at);
}

/* Disks are slow, and a test cannot tell. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    return fails("fsync") || is_interrupted() ? -1 : 0;
}

/* Closes in any case, as systems do. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    const int status = __real_close(fd);
    return fails("close") || is_interrupted() ? -1 : status;
}

/* ---- Random bytes, clock and memory ---- */

ssize_t __real_getrandom(void *to, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags)
{
    if (fails("getrandom") || is_interrupted())
        return -1;
    const ssize_t got = __real_getrandom(to, piece(n), flags);
    if (iowrap.armed && iowrap.predictable && got > 0)
        memset(to, 0, (size_t)got);
    return got;
}

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    if (fails("clock_gettime"))
        return -1;
    const int status = __real_clock_gettime(clock, t);
    t->tv_sec += iowrap.armed ? iowrap.shift : 0;
    return status;
}

#define COUNTS iowrap
#include "tests/lib/wrap_memory.h"
