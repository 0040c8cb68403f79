/* command_windows.c - the command line of a program, as Windows has it: one text
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/command_windows.h"

#include <stdlib.h>
#include <string.h>

/* Adds a word in quotation marks. A backslash means itself, except before a mark, where two stand for one. */
static char *add_quoted(char *to, const char *word)
{
    size_t backslashes = 0;
    *to++ = '"';
    for (; *word; word++) {
        if (*word == '"')
            for (size_t i = 0; i < backslashes + 1; i++)
                *to++ = '\\';
        backslashes = *word == '\\' ? backslashes + 1 : 0;
        *to++ = *word;
    }
    for (; backslashes; backslashes--)
        *to++ = '\\';
    *to++ = '"';
    return to;
}

char *command_line(char *const argv[])
{
    size_t room = 1;
    for (int i = 0; argv[i]; i++)
        room += 2 * strlen(argv[i]) + sizeof "\"\" ";
    char *const line = malloc(room), *at = line;
    if (!line)
        return NULL;
    for (int i = 0; argv[i]; i++) {
        if (i)
            *at++ = ' ';
        at = add_quoted(at, argv[i]);
    }
    *at = '\0';
    return line;
}
