/* device_gradients.h - what a backward call of a sample has beside the sample's inputs
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_GRADIENTS_H
#define DEVICE_GRADIENTS_H

#include "judge/device_sample.h"

/* Makes LSE, the answer's own where rows are looked at, and room for gradients with guards around them, and writes
 * b->gradients.args. What was made is b's, and closed with it. */
cl_int device_gradients_open(struct device_sample *b, cl_context context, struct why *why);
void device_gradients_close(struct device_sample *b);

cl_int device_gradients_poison(struct device_sample *b, struct why *why);

/* As launch_run() takes them, with a workspace that is large enough. */
cl_int device_gradients_args(struct device_sample *b, const struct launch *l, struct why *why);

/* Rows of a gradient: SAMPLE_DQ ..; where row n of (b, h) lies among them, -1 where there is none. */
int64_t device_gradients_row(const struct sample *s, int which, int64_t b, int64_t h, int64_t n);

#endif
