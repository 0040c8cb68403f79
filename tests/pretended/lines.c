/* lines.c - pretended GPUs: word lines=DIR, how often each line of a program was executed, of machines that keep it
 * SPDX-License-Identifier: Apache-2.0
 *
 * A speed that a model predicts (bench/mma-model.py) begins with these numbers. */
#include "config.h"

#include "tests/pretended/pretended.h"

#ifdef CL_LAYER_API_VERSION

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pretended_count_lines(const struct program *p, const void *kernel, struct launch *l)
{
    char dir[PRETENDED_VALUE_MAX];
    size_t n = 1;
    const char *const listing = machine.listing ? machine.listing(p, kernel) : NULL;
    if (!*pretended_word("lines", dir) || !listing)
        return;
    for (const char *at = listing; (at = strchr(at, '\n')); at++)
        n++;
    l->per_line = calloc(n, sizeof *l->per_line);
    l->n_lines = l->per_line ? n : 0;
    l->listing = listing;
}

void pretended_tell_lines(struct launch *l, const char *kernel)
{
    char dir[PRETENDED_VALUE_MAX], name[PRETENDED_FILE_MAX];
    static int count;
    if (!l->per_line)
        return;
    snprintf(name, sizeof name, "%s/%03d-%.64s", pretended_word("lines", dir),
             __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED), kernel);
    FILE *const file = fopen(name, "w");
    const char *line = l->listing;
    for (size_t i = 0; file && i < l->n_lines; i++) {
        const int length = (int)strcspn(line, "\n");
        fprintf(file, "%llu\t%.*s\n", (unsigned long long)l->per_line[i], length, line);
        line += length + (line[length] != 0);
    }
    if (file)
        fclose(file);
    free(l->per_line);
    l->per_line = NULL;
}

#else
typedef int pretended_lines_nothing_here;
#endif
