/* named.h - a problem string with the score_mods that it names
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NAMED_H
#define NAMED_H

#include "tools/oracle/extras.h"
#include "tools/system/fault.h"

/* c.problem is the problem. It points into x, so the struct must not be moved. */
struct named {
    clattn_workload c;
    struct extras x;
};

/* Reads `text`. Returns 0, or -1 with `f` set; named_close() must be called in both cases. */
int named_open(struct named *p, const char *text, struct fault *f);
void named_close(struct named *p);

#endif
