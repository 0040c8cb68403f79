/* device.h - an OpenCL device: the only code that queries one
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_H
#define DEVICE_H

#include "caps.h"

cl_int device_caps(struct caps *out, cl_device_id device, struct why *why);

#endif
