/* devices.h - the devices that there are, for --list-devices
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICES_H
#define DEVICES_H

#include "tools/system/fault.h"

#include <stdio.h>

/* Prints a line for each device: P:D, kind, name, driver, the engine that clattn takes there by default, and which one
 * is taken where none is named. Returns 0, or -1 with `f` set. */
int devices_list(FILE *to, struct fault *f);

#endif
