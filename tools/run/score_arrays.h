/* score_arrays.h - the files of clattn-run that have a cell for each score, or for each block of them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SCORE_ARRAYS_H
#define SCORE_ARRAYS_H

#include "tools/oracle/extras.h"
#include "tools/system/fault.h"
#include "tools/run/options.h"

/* Reads bias, mask and block map into `x`, and sets their flags in `c`: part of changes_read(). */
int score_arrays_read(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f);

#endif
