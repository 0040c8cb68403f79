/* opencl.h - finding a device by name, for the tools and the tests
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_OPENCL_H
#define TOOLS_OPENCL_H

#include "tools/system/fault.h"

#include <CL/cl.h>

struct opencl {
    cl_device_id device;
    cl_context context;
    char platform_name[256], device_name[256];
};

/* Opens the device that `text` names: a part of "platform / device", in upper or lower case (first match in platform
 * order), or "P:D", two numbers. NULL or "": clattn_default_device(). Returns CL_SUCCESS, CL_DEVICE_NOT_FOUND, or what
 * OpenCL said. */
cl_int opencl_open(const char *text, struct opencl *out);
void opencl_close(struct opencl *o);

/* The n-th device of all platforms: its numbers P:D, its kind in a word, "platform / device", its driver's version. */
struct opencl_listed {
    cl_device_id device;
    unsigned p, d;
    const char *kind;
    char name[520], driver[256];
};
cl_int opencl_at(unsigned n, struct opencl_listed *out); /* CL_DEVICE_NOT_FOUND past the last */
/* The word for a type of devices: GPU, accelerator, CPU or other. */
const char *opencl_kind(cl_device_type type);
cl_int opencl_name(unsigned n, char *text, size_t len);  /* only its name */

/* Whether `text`, not "", names it, as opencl_open() takes it. */
int opencl_is_named(const struct opencl_listed *at, const char *text);

/* Sets the fault that `text` names no device, with a list of all devices. Returns -1. */
int opencl_missing(const char *text, struct fault *f);

#endif
