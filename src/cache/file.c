/* file.c - whole files in an open folder: read, replaced, named at random
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/file.h"
#include "cache/private_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define TEMP ".tmp-" /* no blob has a name that begins like this */
enum { TEMP_BEGIN = sizeof TEMP - 1, TEMP_DIGITS = 32, RANDOM_MAX = 32, PIECE = 1 << 30 };

int64_t file_now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_REALTIME, &t) ? 0 : (int64_t)t.tv_sec;
}

int file_random(char *hex, size_t digits)
{
    static const char digit[] = "0123456789abcdef";
    unsigned char bytes[RANDOM_MAX];
    for (size_t got = 0; got < digits / 2;) {
        const ssize_t n = getrandom(bytes + got, digits / 2 - got, 0);
        if (n < 0 && errno != EINTR)
            return errno;
        got += n > 0 ? (size_t)n : 0;
    }
    for (size_t i = 0; i < digits; i++)
        hex[i] = digit[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    hex[digits] = '\0';
    return 0;
}

bool file_is_hex(const char *text, size_t digits)
{
    return strspn(text, "0123456789abcdef") == digits && !text[digits];
}

bool file_is_temp(const char *leaf)
{
    return !strncmp(leaf, TEMP, TEMP_BEGIN) && file_is_hex(leaf + TEMP_BEGIN, TEMP_DIGITS);
}

/* ---- Reading ---- */

static int open_existing(int *fd, int folder, const char *leaf)
{
    do
        *fd = openat(folder, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    while (*fd < 0 && errno == EINTR);
    return *fd >= 0 ? 0 : errno == ELOOP || errno == ENXIO ? PRIVATE_DIR_FOREIGN : errno;
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

static int read_open(struct file *out, int fd, size_t most)
{
    struct stat st;
    if (fstat(fd, &st))
        return errno;
    if (!S_ISREG(st.st_mode) || !private_dir_is_own(&st))
        return PRIVATE_DIR_FOREIGN;
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
        *out = (struct file){ bytes, n, st.st_mtim };
    return status;
}

int file_read(struct file *out, int folder, const char *leaf, size_t most)
{
    int fd, status = open_existing(&fd, folder, leaf);
    if (status)
        return status;
    status = read_open(out, fd, most);
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

/* A limit on the size of files is an error like any other: the signal that comes with it is consumed. */
static int write_unsignalled(int fd, const unsigned char *from, size_t n)
{
    static const struct timespec at_once = { 0, 0 };
    sigset_t limit, before, pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigemptyset(&pending);
    int status = pthread_sigmask(SIG_BLOCK, &limit, &before);
    if (status || sigpending(&pending))
        return status ? status : errno;
    status = write_all(fd, from, n);
    if (status == EFBIG && !sigismember(&pending, SIGXFSZ))
        while (sigtimedwait(&limit, NULL, &at_once) < 0 && errno == EINTR)
            ;
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

int file_write(int folder, const char *leaf, const void *bytes, size_t n, bool durable)
{
    char temp[TEMP_BEGIN + TEMP_DIGITS + 1] = TEMP;
    int fd, status = file_random(temp + TEMP_BEGIN, TEMP_DIGITS);
    if (!status)
        status = open_new(&fd, folder, temp);
    if (status)
        return status;
    status = fill(fd, bytes, n, durable);
    if (!status && renameat(folder, temp, folder, leaf))
        status = errno;
    if (status) {
        unlinkat(folder, temp, 0);
        return status;
    }
    return durable ? sync_folder(folder) : 0;
}

int file_touch(int folder, const char *leaf)
{
    const struct timespec now = { (time_t)file_now(), 0 }, times[2] = { now, now };
    return utimensat(folder, leaf, times, AT_SYMLINK_NOFOLLOW) ? errno : 0;
}
