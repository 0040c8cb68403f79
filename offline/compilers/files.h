/* files.h - what the programs that call compilers of drivers share: files as texts, and options as one line
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPILERS_FILES_H
#define COMPILERS_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that is left of a file, ended by 0, which *size does not count; NULL where it cannot be read. */
static char *read_all(FILE *f, const char *name, size_t *size)
{
    size_t room = 1 << 16, n = 0;
    char *text = malloc(room);
    int ok = f && text;
    while (ok && !feof(f)) {
        n += fread(text + n, 1, room - 1 - n, f);
        ok = !ferror(f);
        if (ok && n == room - 1) {
            char *const more = realloc(text, room *= 2);
            ok = more != NULL;
            text = more ? more : text;
        }
    }
    if (!ok) {
        perror(name);
        free(text);
        return NULL;
    }
    text[n] = 0;
    *size = n;
    return text;
}

/* Words with blanks between them, which the caller frees; NULL: no memory. */
static char *join(char **words, int count)
{
    size_t n = 1;
    for (int i = 0; i < count; i++)
        n += strlen(words[i]) + 1;
    char *const line = calloc(n, 1);
    char *end = line;
    for (int i = 0; line && i < count; i++) {
        const size_t length = strlen(words[i]);
        memcpy(end, words[i], length);
        end[length] = ' ';
        end += length + 1;
    }
    return line;
}

#endif
