/* promises.h - whether a block map is true of the mask beside it
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROMISES_H
#define PROMISES_H

#include "tools/oracle/extras.h"
#include "tools/system/fault.h"
#include "tools/run/options.h"

/* A block of 2 says that the mask keeps all of it, and the library does not look: where that is wrong, what is dropped
 * depends on the tile. Returns 0, or -1 with `f` set to the first such block and the first element in it that the mask
 * drops. */
int promises_check(const struct options *o, const clattn_sizes *z, const struct extras *x, struct fault *f);

#endif
