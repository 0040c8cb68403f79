/* textfile.c - a whole text from or to a file; "-" is standard input or output
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/textfile.h"

#include "tools/system/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed(const char *argument, const char *path, struct fault *f)
{
    return fault_set(f, EXIT_USAGE, "%s: %s: %s", argument, path, strerror(errno));
}

/* All that is left of `in`. */
static char *slurp(FILE *in, size_t most, size_t *n)
{
    size_t room = 4096, got;
    char *text = malloc(room);
    *n = 0;
    errno = ENOMEM;
    while (text && (got = fread(text + *n, 1, room - *n, in)) > 0) {
        *n += got;
        if (*n < room)
            continue;
        char *more = room <= most ? realloc(text, 2 * room) : NULL;
        if (!more) {
            errno = room <= most ? ENOMEM : EFBIG;
            free(text);
            return NULL;
        }
        text = more;
        room *= 2;
    }
    return text;
}

int textfile_read(const char *path, size_t most, char **text, size_t *n, const char *argument, struct fault *f)
{
    const int is_stdin = strcmp(path, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(path, "rb");
    *text = NULL;
    if (!in)
        return failed(argument, path, f);
    *text = slurp(in, most, n);
    if (!*text)
        failed(argument, path, f);
    else if (ferror(in))
        fault_set(f, EXIT_USAGE, "%s: %s: it cannot be read", argument, path);
    if (!is_stdin)
        (void)fclose(in);
    if (!f->status)
        return 0;
    free(*text);
    *text = NULL;
    return -1;
}

/* Writes to a stream and closes it. Returns an errno, or 0. */
static int put(FILE *to, const char *text, size_t n)
{
    int e = 0;
    if (fwrite(text, 1, n, to) != n || fflush(to) != 0)
        e = errno ? errno : EIO;
    if (to != stdout && fclose(to) != 0 && !e)
        e = errno ? errno : EIO;
    return e;
}

/* Writes a temporary file beside its place and renames it. Returns an errno, or 0. */
static int replace(const char *path, const char *text, size_t n)
{
    const size_t room = strlen(path) + sizeof ".XXXXXX";
    char *temporary = malloc(room);
    int e = ENOMEM, fd = -1;
    FILE *to = NULL;
    if (!temporary)
        return e;
    snprintf(temporary, room, "%s.XXXXXX", path);
    fd = files_create_temporary(temporary);
    if (fd < 0) {
        e = errno;
        goto out;
    }
    if (files_permit(fd, -1) != 0 || !(to = fdopen(fd, "wb"))) {
        e = errno;
        (void)close(fd);
    } else {
        e = put(to, text, n);
    }
    if (!e && files_rename(temporary, path) != 0)
        e = errno;
    if (e)
        (void)unlink(temporary);
out:
    free(temporary);
    return e;
}

int textfile_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || files_is_stdout(path);
}

int textfile_write(const char *path, const char *text, size_t n, const char *argument, struct fault *f)
{
    int e;
    errno = 0;
    if (textfile_is_stdout(path)) {
        e = put(stdout, text, n);
    } else if (files_is_special(path)) {
        FILE *to = fopen(path, "wb");
        e = to ? put(to, text, n) : errno;
    } else {
        e = replace(path, text, n);
    }
    errno = e;
    return e ? failed(argument, path, f) : 0;
}
