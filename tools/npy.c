/* npy.c - reading .npy files that may be hostile
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_MAX = 65536 }; /* numpy writes some 120 bytes */

static const struct { char name[4]; int type; size_t size; } types[] = {
    { "<f4", NPY_F4, 4 }, { "<f2", NPY_F2, 2 }, { "<f8", NPY_F8, 8 }, { "|i1", NPY_I1, 1 },
    { "|u1", NPY_U1, 1 }, { "|b1", NPY_B1, 1 }, { "<i4", NPY_I4, 4 },
};
enum { TYPES = sizeof types / sizeof *types };

size_t npy_size(int type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].size;
    return 0;
}

int npy_type(const char *name)
{
    for (int i = 0; i < TYPES; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].type;
    return 0;
}

const char *npy_name(int type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].name;
    return "?";
}

void npy_shape(int ndim, const int64_t *shape, char text[NPY_SHAPE_TEXT])
{
    size_t at = 0;
    text[at++] = '[';
    for (int axis = 0; axis < ndim && axis < NPY_DIMS; axis++)
        at += (size_t)snprintf(text + at, NPY_SHAPE_TEXT - at, "%s%lld", axis ? "," : "", (long long)shape[axis]);
    text[at++] = ']'; /* 8 axes of at most 20 digits and a comma leave room */
    text[at] = '\0';
}

void npy_swap(int type, void *data, size_t count)
{
    const uint16_t probe = 1;
    const size_t size = npy_size(type);
    if (*(const unsigned char *)&probe == 1 || size < 2)
        return;
    for (unsigned char *at = data; count > 0; count--, at += size)
        for (size_t i = 0; i < size / 2; i++) {
            const unsigned char byte = at[i];
            at[i] = at[size - 1 - i];
            at[size - 1 - i] = byte;
        }
}

void npy_free(struct npy *a)
{
    free(a->data);
    a->data = NULL;
}

/* Number of elements. Axes of size 0 are left out of the overflow check, so that no later product of a part of them
 * can overflow either. */
static int count_elements(struct npy *a)
{
    size_t product = 1;
    const size_t limit = (SIZE_MAX < INT64_MAX ? SIZE_MAX : (size_t)INT64_MAX) / 64;
    a->count = 1;
    for (int axis = 0; axis < a->ndim; axis++) {
        const uint64_t n = (uint64_t)a->shape[axis];
        if (n == 0)
            a->count = 0;
        else if (n > limit / product)
            return -1;
        else
            product *= (size_t)n;
    }
    if (a->count)
        a->count = product;
    return 0;
}

/* Reads exactly n bytes. Returns 0, 1 at an early end, or -1 with errno. */
static int read_all(int fd, void *to, size_t n)
{
    char *at = to;
    while (n > 0) {
        const ssize_t got = read(fd, at, n);
        if (got == 0)
            return 1;
        if (got < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        at += got;
        n -= (size_t)got;
    }
    return 0;
}

/* Everything before the data. Returns NULL with `*bytes` its length, or what is wrong. */
static const char *read_header(int fd, uint64_t file, struct npy *a, uint64_t *bytes)
{
    unsigned char start[12];
    const char *why = NULL;
    if (file < 10 || read_all(fd, start, 10) != 0 || memcmp(start, "\x93NUMPY", 6) != 0)
        return "it is not a .npy file";
    const int wide = start[6] >= 2;
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return "its format version is not 1.0, 2.0 or 3.0";
    if (wide && (file < 12 || read_all(fd, start + 10, 2) != 0))
        return "it ends within the header";
    const uint64_t n = start[8] | (uint32_t)start[9] << 8
        | (wide ? (uint64_t)start[10] << 16 | (uint64_t)start[11] << 24 : 0);
    *bytes = (wide ? 12u : 10u) + n;
    if (n > HEADER_MAX)
        return "its header is too long";
    if (*bytes > file)
        return "it ends within the header";
    char *text = malloc((size_t)n + 1);
    if (!text)
        return "there is no memory for its header";
    if (read_all(fd, text, (size_t)n) != 0)
        why = "its header cannot be read";
    else
        why = npy_header(text, (size_t)n, a);
    free(text);
    return why;
}

static int read_file(int fd, const char *argument, const char *path, struct npy *a, struct fault *f)
{
    struct stat s;
    uint64_t header = 0;
    char shape[NPY_SHAPE_TEXT];
    if (fstat(fd, &s) != 0)
        return fault_set(f, EXIT_USAGE, "%s: %s: %s", argument, path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return fault_set(f, EXIT_USAGE, "%s: %s: it is not a regular file", argument, path);
    const char *why = read_header(fd, (uint64_t)s.st_size, a, &header);
    if (why)
        return fault_set(f, EXIT_USAGE, "%s: %s: %s", argument, path, why);
    npy_shape(a->ndim, a->shape, shape);
    if (count_elements(a) != 0)
        return fault_set(f, EXIT_USAGE, "%s: %s: its shape %s is too large", argument, path, shape);
    const uint64_t data = (uint64_t)s.st_size - header;
    if (data != (uint64_t)a->count * npy_size(a->type))
        return fault_set(f, EXIT_USAGE, "%s: %s: it has %llu bytes of data where %s of %s needs %llu", argument, path,
                         (unsigned long long)data, shape, npy_name(a->type),
                         (unsigned long long)a->count * npy_size(a->type));
    a->data = malloc(data ? (size_t)data : 1);
    if (!a->data)
        return fault_set(f, EXIT_USAGE, "%s: %s: there is no memory for its %llu bytes", argument, path,
                         (unsigned long long)data);
    const int got = read_all(fd, a->data, (size_t)data);
    if (got != 0) {
        npy_free(a);
        return fault_set(f, EXIT_USAGE, "%s: %s: %s", argument, path, got < 0 ? strerror(errno) : "it became shorter");
    }
    npy_swap(a->type, a->data, a->count);
    return 0;
}

int npy_read(const char *argument, const char *path, struct npy *out, struct fault *f)
{
    memset(out, 0, sizeof *out);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO must not hold us up */
    if (fd < 0)
        return fault_set(f, EXIT_USAGE, "%s: %s: %s", argument, path, strerror(errno));
    const int status = read_file(fd, argument, path, out, f);
    (void)close(fd);
    return status;
}
