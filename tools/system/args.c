/* args.c - a command line, read by a table of its options
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/args.h"

#include <string.h>

void args_help(FILE *to, const struct args_row *table)
{
    for (const struct args_row *r = table; r->name; r++) {
        if (!r->help)
            continue;
        const int n = fprintf(to, "  %s%s%s", r->name, r->value ? " " : "", r->value ? r->value : "");
        fprintf(to, "%*s%s\n", n < 25 ? 25 - n : 1, "", r->help);
    }
}

/* Returns the row of `arg`, an option with or without "=value"; NULL when there is none. */
static const struct args_row *find(const struct args_row *table, const char *arg)
{
    arg = !strcmp(arg, "-h") ? "--help" : !strcmp(arg, "-V") ? "--version" : arg;
    const size_t n = arg[1] == '-' ? strcspn(arg, "=") : strlen(arg);
    for (const struct args_row *r = table; r->name; r++)
        if (strlen(r->name) == n && memcmp(r->name, arg, n) == 0)
            return r;
    return NULL;
}

static int append(struct list *list, const char *name, const char *value, struct fault *f)
{
    if (list->n == LIST_MAX)
        return fault_set(f, EXIT_USAGE, "%s: %s: at most %d of them", name, value, LIST_MAX);
    list->at[list->n++] = value;
    return 0;
}

/* Reads an option, whose value may be `next` (NULL: there is no next word). Returns how many arguments it used, or
 * -1. */
static int take(const struct args_row *r, char *arg, char *next, void *into, struct fault *f)
{
    char *const equals = arg[1] == '-' ? strchr(arg, '=') : NULL;
    char *const value = equals ? equals + 1 : next;
    void *const field = (char *)into + r->at;
    if (!r->value) {
        if (equals)
            return fault_set(f, EXIT_USAGE, "%s takes no value", r->name);
        if (r->kind == ARGS_READ)
            return r->read(into, NULL, f) == 0 ? 1 : -1;
        *(int *)field = 1;
        return 1;
    }
    if (!value)
        return fault_set(f, EXIT_USAGE, "%s needs a value: %s", r->name, r->value);
    if (r->kind == ARGS_READ)
        return r->read(into, value, f) != 0 ? -1 : equals ? 1 : 2;
    if (r->kind == ARGS_TEXT)
        *(const char **)field = value;
    else if (append(field, r->name, value, f) != 0)
        return -1;
    return equals ? 1 : 2;
}

int args_read(int argc, char **argv, const struct args_row *table, void *into, struct fault *f)
{
    int others = 0, only_others = 0, taken;
    for (int at = 1; at < argc; at += taken) {
        char *const arg = argv[at];
        taken = 1;
        if (!only_others && strcmp(arg, "--") == 0) {
            only_others = 1;
        } else if (only_others || arg[0] != '-' || !arg[1]) {
            argv[++others] = arg;
        } else {
            const struct args_row *const r = find(table, arg);
            if (!r)
                return fault_set(f, EXIT_USAGE, "unknown option %s; see --help", arg);
            if ((taken = take(r, arg, at + 1 < argc ? argv[at + 1] : NULL, into, f)) < 0)
                return -1;
            if (r->kind == ARGS_LAST)
                break;
        }
    }
    return others;
}
