/* device.h - an OpenCL device: the only code that queries one
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_H
#define DEVICE_H

#include "engine/caps.h"

cl_int device_caps(struct caps *out, cl_device_id device, struct why *why);

/* Where a list of a context's or a program's devices has a device, -1 for nowhere. Drivers may list the device that it is a
 * part of in its place: PoCL names whole devices only. */
int device_find(const cl_device_id *list, size_t n, cl_device_id device);

#endif
