/* wholes.h - the files of clattn-run that hold whole numbers, whatever they are of
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WHOLES_H
#define WHOLES_H

#include "tools/npy/npy.h"

/* Reads `path`, which the command line gave as `argument`, and wants whole numbers of 1 to 8 bytes there that an int32
 * can hold; a->data has them as int32, and a->type is NPY_I4. Returns 0, or -1 with `f` set and nothing to free. */
int wholes_read(const char *argument, const char *path, struct npy *a, struct fault *f);

/* Makes whole numbers that were read int32. Returns as wholes_read() does. */
int wholes_narrow(struct npy *a, struct fault *f);

#endif
