/* output.h - writing .npy files, several of them all or none
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdint.h>

#include "tools/system/fault.h"

enum { OUTPUTS_MAX = 24 }; /* O, LSE, and all gradients, of captured buffers too */

/* Files that are being written. Zero it before use; outputs_discard() must be called in any case. */
struct outputs {
    int n;
    struct output {
        const char *argument;
        char *path, *temp; /* where it goes, and where it is until outputs_commit() */
        int mode;          /* of the file that it replaces; -1: none */
    } at[OUTPUTS_MAX];
};

/* Whether a file that is written to one path would be that of the other: one file that is there, by whatever names, or
 * one name in one directory. */
int outputs_is_same(const char *path, const char *other);

/* Writes `data` (type NPY_.., C order, host byte order; swapped in place on a big-endian host) to a temporary file in
 * the directory of `path`. `argument` names the option in errors and must outlive `o`. Returns 0, or -1 with `f` set.
 */
int outputs_add(struct outputs *o, const char *argument, const char *path, int type, int ndim, const int64_t *shape,
                void *data, struct fault *f);

/* Gives all files their names. When that fails for one of them, none is left. Returns 0, or -1 with `f` set. */
int outputs_commit(struct outputs *o, struct fault *f);

/* Removes files that were not committed, and frees the memory. */
void outputs_discard(struct outputs *o);

#endif
