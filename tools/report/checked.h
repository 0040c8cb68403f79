/* checked.h - one problem by one configuration, computed on a device and held to the bound
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECKED_H
#define CHECKED_H

#include "tools/oracle/verify.h"
#include "tools/report/fact.h"

#include <clattn.h>

enum { CHECKED_CONFIG = 256 };

struct checked {
    cl_int status;               /* CL_SUCCESS: it ran */
    double compile_s;            /* of the plan; NaN: there is none */
    char config[CHECKED_CONFIG]; /* that it has */
    const char *what;            /* of O, LSE and gradients the one that is the farthest off */
    double bounds;               /* its error, in parts of its bound */
    char words[FACT_WORDS];      /* why it failed */
};

/* config: "ENGINE", "ENGINE TILE" or NULL. Runs it twice, because what a kernel leaves behind may spoil the next call,
 * and judges the second result. */
void checked_run(const struct opencl *where, clattn_handle handle, const char *problem, const char *config,
                 struct checked *c);

/* "within", "BEYOND", or what failed in a word. */
const char *checked_verdict(const struct checked *c);

#endif
