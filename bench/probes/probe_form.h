/* probe_form.h - kernels that do nothing but one thing, in several forms
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROBE_FORM_H
#define PROBE_FORM_H

#include "tools/system/opencl.h"

/* Vectors in one item for CPUs, many items for all else. */
enum { FORMS = 4, GROUPS_PER_UNIT = 16, CHAINS = 12, STEPS = 4 };
struct form {
    int width, local;
};

/* Zeroed; form_close() is due in any case. */
struct form_kernel {
    cl_program program;
    cl_kernel kernel;
    size_t items, local;
};

/* The forms of a device's type, and its compute units. */
cl_int form_find(cl_device_id device, const struct form **forms, size_t *units);

/* Compiles one of the kernels multiply_add, copy and read. */
cl_int form_open(struct form_kernel *k, const struct opencl *where, const struct form *f, int twice, const char *name);
cl_int form_run(const struct form_kernel *k, cl_command_queue queue, double *ms);
void form_close(struct form_kernel *k);

#endif
