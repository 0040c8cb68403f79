/* npy.c - reading .npy files that may be hostile
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/npy/npy.h"

#include "tools/system/files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER_MAX = 65536, PIECE = 1 << 30 }; /* numpy writes some 120 bytes; systems read up to 2^31 */

void npy_free(struct npy *a)
{
    free(a->data);
    a->data = NULL;
}

/* ---- What is wrong ---- */

int npy_fault(const struct npy *a, struct fault *f, const char *format, ...)
{
    char words[sizeof f->text];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    return fault_set(f, EXIT_USAGE, "%s: %s: %s", a->argument, a->path, words);
}

int npy_misfit(const struct npy *a, const struct npy *other, const char *why, struct fault *f)
{
    return npy_fault(a, f, "its shape %s does not fit %s of %s, %s: %s", a->axes, other->axes, other->argument,
                     other->path, why);
}

int npy_no_memory(const struct npy *a, struct fault *f)
{
    return npy_fault(a, f, "there is no memory for it");
}

/* ---- Reading ---- */

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
        const ssize_t got = read(fd, at, n < PIECE ? n : PIECE);
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

/* Puts data that was read in Fortran order in C order. Frees it on failure. */
static int reorder(struct npy *a, struct fault *f)
{
    const size_t size = npy_size(a->type), bytes = a->count * size; /* of what lies in memory already */
    if (a->ndim < 2 || bytes == 0)
        return 0;
    void *const to = malloc(bytes);
    if (to)
        npy_transpose(a->ndim, a->shape, size, a->data, to);
    free(a->data);
    a->data = to;
    return to ? 0 : npy_fault(a, f, "there is no memory to put its %llu bytes in C order", (unsigned long long)bytes);
}

static int read_file(int fd, uint64_t bytes, struct npy *a, struct fault *f)
{
    uint64_t header = 0;
    const char *why = read_header(fd, bytes, a, &header);
    if (why)
        return npy_fault(a, f, "%s", why);
    npy_shape(a->ndim, a->shape, a->axes);
    if (count_elements(a) != 0)
        return npy_fault(a, f, "its shape %s is too large", a->axes);
    const uint64_t data = bytes - header, need = (uint64_t)a->count * npy_size(a->type);
    if (data != need)
        return npy_fault(a, f, "it has %llu bytes of data where %s of %s needs %llu", (unsigned long long)data,
                         a->axes, a->name, (unsigned long long)need);
    a->data = malloc(data ? (size_t)data : 1);
    if (!a->data)
        return npy_fault(a, f, "there is no memory for its %llu bytes", (unsigned long long)data);
    const int got = read_all(fd, a->data, (size_t)data);
    if (got != 0) {
        npy_free(a);
        return npy_fault(a, f, "%s", got < 0 ? strerror(errno) : "it became shorter");
    }
    npy_swap(a->name, a->data, a->count);
    return a->fortran ? reorder(a, f) : 0;
}

int npy_read(const char *argument, const char *path, struct npy *out, struct fault *f)
{
    memset(out, 0, sizeof *out);
    out->argument = argument;
    out->path = path;
    uint64_t bytes = 0;
    int fd;
    const char *const why = files_open(&fd, path, &bytes);
    if (why)
        return npy_fault(out, f, "%s", why);
    const int status = read_file(fd, bytes, out, f);
    (void)close(fd);
    return status;
}
