/* params.h - the buffers that a kernel takes: one list for the program's text and for the calls. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PARAMS_H
#define PARAMS_H

#include "problem/problem.h"
#include "base/text.h"

/* In the order of the kernel's parameters, behind the struct of arguments. */
enum param {
    PARAM_Q,
    PARAM_K,
    PARAM_V,
    PARAM_O,
    PARAM_LSE,
    PARAM_Q_LEN,
    PARAM_KV_LEN,
    PARAM_KV_START,
    PARAM_OFFSETS,
    PARAM_CU_Q,
    PARAM_CU_K,
    PARAM_WORKSPACE,
    PARAM_BIAS,
    PARAM_MASK,
    PARAM_BLOCK_MAP,
    PARAM_SLOPES,
    PARAM_SINKS,
    PARAM_AUX,
    PARAMS = PARAM_AUX + CLATTN_AUX_MAX
};

/* Whether the kernel for a problem has the parameter. */
bool params_is_taken(const clattn_problem *p, int param);

/* Writes the fragment that declares them: struct cla_pointers, CLA_PARAMS, CLA_TAKE_PARAMS. */
void params_write(struct text *to, const clattn_problem *p);

#endif
