/* floats.h - the files of clattn-run that hold floats, whatever they are of
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FLOATS_H
#define FLOATS_H

#include "tools/npy/npy.h"

/* The storage type that a float file stands for; 0 for others. */
int floats_storage(int npy_type);

/* Reads `path`, which the command line gave as `argument`, and wants floats there. Returns 0, or -1 with `f` set and
 * nothing to free. */
int floats_read(const char *argument, const char *path, struct npy *a, struct fault *f);

/* Its elements as doubles that the caller frees, rounded to storage type `type` (CLATTN_F64: as they are). NULL with
 * `f` set when there is no memory. */
double *floats_values(const struct npy *a, int type, struct fault *f);

#endif
