/* one_process.h - the process that uses OpenCL: what is forked from it must not
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ONE_PROCESS_H
#define ONE_PROCESS_H

#include "base/why.h"

/* Is called before the driver is first asked for anything. CLATTN_ERROR_FORKED: an ancestor of this process used OpenCL
 * before it forked, so the driver's threads are missing here and its locks may be held. */
cl_int one_process_enter(struct why *why);

#endif
