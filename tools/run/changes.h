/* changes.h - the files of clattn-run that change scores
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CHANGES_H
#define CHANGES_H

#include "tools/oracle/extras.h"
#include "tools/system/fault.h"
#include "tools/run/options.h"

/* Reads what `o` names besides Q, K, V, lengths and sequences into `x`, for a call with the sizes of `c`, and sets the
 * flags in `c`. Returns 0, or -1 with `f` set; extras_free() must be called in both cases. */
int changes_read(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f);

#endif
