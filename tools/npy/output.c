/* output.c - writing .npy files, several of them all or none
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/npy/output.h"

#include "tools/system/files.h"
#include "tools/npy/npy.h"
#include "tools/system/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 30 }; /* systems write up to 2^31 */

static int failed(struct fault *f, const struct output *o, const char *path)
{
    return fault_set(f, EXIT_USAGE, "%s: %s: %s", o->argument, path, strerror(errno));
}

static int resolve(struct output *o, const char *path, struct fault *f)
{
    const char *const why = files_resolve(&o->path, &o->mode, path);
    return why ? fault_set(f, EXIT_USAGE, "%s: %s: %s", o->argument, path, why) : 0;
}

int outputs_is_same(const char *path, const char *other)
{
    const size_t n = files_folder(path), m = files_folder(other);
    if (system_is_same_file(path, other))
        return 1;
    if (strcmp(path + n, other + m) != 0)
        return 0;
    char *const x = n ? strndup(path, n) : strdup("."), *const y = m ? strndup(other, m) : strdup(".");
    const int same = x && y ? system_is_same_file(x, y) : strcmp(path, other) == 0;
    free(x);
    free(y);
    return same;
}

/* Creates a temporary file beside o->path. */
static int open_temp(struct output *o, struct fault *f)
{
    const size_t directory = files_folder(o->path), room = directory + 64;
    o->temp = malloc(room);
    if (!o->temp)
        return failed(f, o, o->path);
    for (int attempt = 0; attempt < 100; attempt++) {
        memcpy(o->temp, o->path, directory);
        snprintf(o->temp + directory, room - directory, ".clattn-%ld-%d.tmp", (long)getpid(), attempt);
        const int fd = files_create(o->temp, o->mode);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            break;
    }
    free(o->temp); /* not ours to remove */
    o->temp = NULL;
    return failed(f, o, o->path);
}

static int write_all(int fd, const void *from, size_t n)
{
    const char *at = from;
    while (n > 0) {
        const ssize_t put = write(fd, at, n < PIECE ? n : PIECE);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            if (put == 0)
                errno = ENOSPC;
            return -1;
        }
        at += put;
        n -= (size_t)put;
    }
    return 0;
}

/* A version 1.0 header, padded as numpy pads it: the data starts at a multiple of 64. Returns its length. */
static size_t header(char text[512], int type, int ndim, const int64_t *shape)
{
    char axes[NPY_SHAPE_TEXT];
    npy_shape(ndim, shape, axes); /* [2,3] */
    axes[strlen(axes) - 1] = '\0';
    memset(text, ' ', 512);
    memcpy(text, "\x93NUMPY\x01\x00", 8);
    const int n = snprintf(text + 10, 500, "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }", npy_name(type),
                           axes + 1, ndim == 1 ? "," : "");
    const size_t whole = (10 + (size_t)n + 1 + 63) / 64 * 64;
    text[10 + n] = ' ';
    text[whole - 1] = '\n';
    text[8] = (char)((whole - 10) & 0xff);
    text[9] = (char)((whole - 10) >> 8);
    return whole;
}

int outputs_add(struct outputs *o, const char *argument, const char *path, int type, int ndim, const int64_t *shape,
                void *data, struct fault *f)
{
    char text[512];
    size_t count = 1;
    if (o->n == OUTPUTS_MAX || ndim > NPY_DIMS)
        return fault_set(f, EXIT_USAGE, "%s: %s: too many files or axes", argument, path);
    struct output *file = &o->at[o->n++];
    memset(file, 0, sizeof *file);
    file->argument = argument;
    if (resolve(file, path, f) != 0)
        return -1;
    for (int i = 0; i < o->n - 1; i++)
        if (outputs_is_same(o->at[i].path, file->path))
            return fault_set(f, EXIT_USAGE, "%s: %s: %s writes the same file", argument, path, o->at[i].argument);
    const int fd = open_temp(file, f);
    if (fd < 0)
        return -1;
    for (int axis = 0; axis < ndim; axis++)
        count *= (size_t)shape[axis]; /* the size of something that lies in memory */
    npy_swap(npy_name(type), data, count);
    const size_t n = header(text, type, ndim, shape);
    int status = write_all(fd, text, n) != 0 || write_all(fd, data, count * npy_size(type)) != 0 ||
                         (file->mode >= 0 && files_permit(fd, file->mode) != 0)
                     ? -1
                     : 0;
    if (status != 0)
        failed(f, file, path);
    if (close(fd) != 0 && status == 0)
        status = failed(f, file, path);
    return status;
}

int outputs_commit(struct outputs *o, struct fault *f)
{
    for (int i = 0; i < o->n; i++) {
        if (files_rename(o->at[i].temp, o->at[i].path) == 0) {
            free(o->at[i].temp);
            o->at[i].temp = NULL;
            continue;
        }
        failed(f, &o->at[i], o->at[i].path);
        while (i-- > 0)
            (void)unlink(o->at[i].path); /* an incomplete result is worse than none */
        return -1;
    }
    return 0;
}

void outputs_discard(struct outputs *o)
{
    for (int i = 0; i < o->n; i++) {
        if (o->at[i].temp)
            (void)unlink(o->at[i].temp);
        free(o->at[i].temp);
        free(o->at[i].path);
    }
    memset(o, 0, sizeof *o);
}
