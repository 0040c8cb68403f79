/* args.h - a command line, read by a table of its options
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ARGS_H
#define ARGS_H

#include <stddef.h>
#include <stdio.h>

#include "tools/system/fault.h"

enum args_kind {
    ARGS_TEXT, /* takes a value: const char * */
    ARGS_FLAG, /* int, becomes 1 */
    ARGS_LAST, /* a flag after which nothing is read */
    ARGS_LIST, /* takes a value, and may be given several times: struct list */
    ARGS_READ  /* is read where it stands, by the row's function; takes a value where the row has a name for one */
};

/* A table ends with a row without a name. */
struct args_row {
    const char *name;
    enum args_kind kind;
    size_t at;                /* offset of its member in the struct that is filled, INTO */
    const char *value, *help; /* help NULL: not shown */
    /* value NULL where it takes none. Returns 0, or -1 with `f` set. */
    int (*read)(void *into, const char *value, struct fault *f);
};
#define ROW_TEXT(name, field, value, help) { name, ARGS_TEXT, offsetof(INTO, field), value, help, NULL }
#define ROW_FLAG(name, field, help) { name, ARGS_FLAG, offsetof(INTO, field), NULL, help, NULL }
#define ROW_LAST(name, field, help) { name, ARGS_LAST, offsetof(INTO, field), NULL, help, NULL }
#define ROW_LIST(name, field, value, help) { name, ARGS_LIST, offsetof(INTO, field), value, help, NULL }
#define ROW_READ(name, read, value, help) { name, ARGS_READ, 0, value, help, read }

/* The values of an option that may be given several times. */
enum { LIST_MAX = 16 };
struct list {
    int n;
    const char *at[LIST_MAX];
};

/* Fills `into`, which must be zero. Arguments that are no options move to the front of argv, after argv[0]; options may
 * stand between them, before a "--". Returns how many such arguments there are, or -1 with `f` set. */
int args_read(int argc, char **argv, const struct args_row *table, void *into, struct fault *f);

/* Prints a line for each option. */
void args_help(FILE *to, const struct args_row *table);

#endif
