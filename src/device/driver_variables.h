/* driver_variables.h - environment variables that change what drivers compile. Calls no OpenCL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DRIVER_VARIABLES_H
#define DRIVER_VARIABLES_H

#include "base/text.h"

/* Adds those that are set, as text: a binary depends on them. */
void driver_variables_print(struct text *to);

#endif
