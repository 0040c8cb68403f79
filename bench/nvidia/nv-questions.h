/* nv-questions.h - what an NVIDIA device and its OpenCL compiler are asked
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NV_QUESTIONS_H
#define NV_QUESTIONS_H

#include "bench/nvidia/nv-at.h"

/* Asked in this order; the one whose ask is NULL is the end. */
struct question {
    char letter;
    int ptx; /* for NVIDIA's devices alone */
    void (*ask)(struct at *a, int which);
    int which;
};
extern const struct question questions[];

/* A file for each kernel in `dir`, which is what offline/check.sh wants; returns an exit status. */
int texts_write(const char *dir);

#endif
