/* file_posix.c - whole files in an open folder, on POSIX
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/file.h"
#include "cache/folder_posix.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 30 };

/* ---- Reading ---- */

/* Without blocking, because it may be a FIFO. */
static int open_existing(int *fd, int folder, const char *leaf, bool shared)
{
    do
        *fd = openat(folder, leaf, O_RDONLY | (shared ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (*fd < 0 && errno == EINTR);
    return *fd >= 0 ? 0 : errno == ELOOP || errno == ENXIO ? FOLDER_FOREIGN : errno;
}

/* Reads exactly n bytes and then the end of the file. */
static int read_exactly(int fd, unsigned char *to, size_t n)
{
    for (size_t got = 0;;) {
        unsigned char beyond;
        const size_t left = n - got;
        const ssize_t k = read(fd, left ? to + got : &beyond, !left ? 1 : left < PIECE ? left : PIECE);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return errno;
        if (!left || !k)
            return left || k ? EAGAIN : 0;
        got += (size_t)k;
    }
}

static int read_open(struct file *out, int fd, size_t most, bool shared)
{
    struct stat st;
    if (fstat(fd, &st))
        return errno;
    if (!S_ISREG(st.st_mode) || !folder_is_own(&st, shared))
        return FOLDER_FOREIGN;
    if (st.st_size < 1 || (uintmax_t)st.st_size > most)
        return EFBIG;
    const size_t n = (size_t)st.st_size;
    unsigned char *const bytes = malloc(n);
    if (!bytes)
        return ENOMEM;
    const int status = read_exactly(fd, bytes, n);
    if (status)
        free(bytes);
    else
        *out = (struct file){ bytes, n, st.FOLDER_MTIM };
    return status;
}

int file_read_as(struct file *out, const struct folder *f, const char *leaf, size_t most, bool shared)
{
    int fd, status = open_existing(&fd, folder_descriptor(f), leaf, shared);
    if (status)
        return status;
    status = read_open(out, fd, most, shared);
    close(fd);
    return status;
}

/* ---- Writing ---- */

static int write_all(int fd, const unsigned char *from, size_t n)
{
    for (size_t put = 0; put < n;) {
        const ssize_t k = pwrite(fd, from + put, n - put < PIECE ? n - put : PIECE, (off_t)put);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return k ? errno : EIO;
        put += (size_t)k;
    }
    return 0;
}

/* Takes the signal away that is pending, if there is one. */
static void consume(const sigset_t *limit)
{
#ifdef HAVE_SIGTIMEDWAIT
    static const struct timespec at_once = { 0, 0 };
    while (sigtimedwait(limit, NULL, &at_once) < 0 && errno == EINTR)
        ;
#else
    sigset_t pending;
    int number;
    if (!sigpending(&pending) && sigismember(&pending, SIGXFSZ))
        (void)sigwait(limit, &number);
#endif
}

/* A limit on the size of files is an error like any other: the signal that comes with it is consumed. */
static int write_unsignalled(int fd, const unsigned char *from, size_t n)
{
    sigset_t limit, before, pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigemptyset(&pending);
    int status = pthread_sigmask(SIG_BLOCK, &limit, &before);
    if (status || sigpending(&pending))
        return status ? status : errno;
    status = write_all(fd, from, n);
    if (status == EFBIG && !sigismember(&pending, SIGXFSZ))
        consume(&limit);
    const int restored = pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status ? status : restored;
}

static int sync_fd(int fd)
{
    while (fsync(fd))
        if (errno != EINTR)
            return errno;
    return 0;
}

/* Creates a new file, never opening an existing one. A umask may have removed permissions that we need. */
static int open_new(int *fd, int folder, const char *leaf)
{
    struct stat st;
    do
        *fd = openat(folder, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0)
        return errno;
    if (!fstat(*fd, &st) && ((st.st_mode & 0600) == 0600 || !fchmod(*fd, 0600)))
        return 0;
    const int status = errno;
    close(*fd);
    unlinkat(folder, leaf, 0);
    return status;
}

/* Some file systems report a full disk in close(). */
static int close_written(int fd)
{
    return close(fd) && errno != EINTR ? errno : 0;
}

static int fill(int fd, const void *bytes, size_t n, bool durable)
{
    int status = write_unsignalled(fd, bytes, n);
    if (!status && durable)
        status = sync_fd(fd);
    const int closed = close_written(fd);
    return status ? status : closed;
}

/* Not every file system supports fsync() on a directory. */
static int sync_folder(int folder)
{
    const int status = sync_fd(folder);
    return status == EINVAL ? 0 : status;
}

int file_create(const struct folder *f, const char *leaf, const void *bytes, size_t n, bool durable)
{
    const int folder = folder_descriptor(f);
    int fd, status = open_new(&fd, folder, leaf);
    if (status)
        return status;
    status = fill(fd, bytes, n, durable);
    if (status)
        unlinkat(folder, leaf, 0);
    return status;
}

int file_replace(const struct folder *f, const char *temp, const char *leaf, bool durable)
{
    const int folder = folder_descriptor(f);
    if (renameat(folder, temp, folder, leaf)) {
        const int status = errno;
        unlinkat(folder, temp, 0);
        return status;
    }
    return durable ? sync_folder(folder) : 0;
}

int file_set_time(const struct folder *f, const char *leaf, int64_t seconds)
{
    const struct timespec time = { (time_t)seconds, 0 }, times[2] = { time, time };
    return utimensat(folder_descriptor(f), leaf, times, AT_SYMLINK_NOFOLLOW) ? errno : 0;
}
