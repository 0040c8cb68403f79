/* ggml.h - of ggml's public header what examples/ggml.c asks for, so that the example is built and run without ggml
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GGML_H
#define GGML_H

#include <stddef.h>
#include <stdint.h>

enum { GGML_MAX_DIMS = 4, GGML_MAX_SRC = 10, GGML_MAX_OP_PARAMS = 64 };

enum ggml_type {
    GGML_TYPE_F32 = 0,
    GGML_TYPE_F16 = 1,
    GGML_TYPE_Q4_0 = 2,
    GGML_TYPE_Q4_1 = 3,
    GGML_TYPE_Q5_0 = 6,
    GGML_TYPE_Q5_1 = 7,
    GGML_TYPE_Q8_0 = 8,
    GGML_TYPE_BF16 = 30
};

struct ggml_tensor {
    enum ggml_type type;
    int64_t ne[GGML_MAX_DIMS]; /* elements */
    size_t nb[GGML_MAX_DIMS];  /* strides in bytes, the first one of a block of elements */
    int32_t op_params[GGML_MAX_OP_PARAMS / sizeof(int32_t)];
    struct ggml_tensor *src[GGML_MAX_SRC];
    void *data;
};

#endif
