/* device.h - an OpenCL device: the only code that queries one
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_H
#define DEVICE_H

#include "engine/caps.h"

cl_int device_caps(struct caps *out, cl_device_id device, struct why *why);

/* Returns the index of a device in the list of a context's or a program's devices, or -1. Drivers may list its parent
 * device in its place: PoCL lists whole devices only. */
int device_find(const cl_device_id *list, size_t n, cl_device_id device);

/* Sets the words for a buffer that could not be made, with the device's limit beside its size; returns `status`. */
cl_int device_no_buffer(struct why *why, cl_int status, cl_device_id device, const char *what, size_t bytes);

#endif
