/* params_list.h - the lists of what kernels take, for params.c. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PARAMS_LIST_H
#define PARAMS_LIST_H

#include "engine/params.h"

/* A buffer. */
struct params_buffer {
    int param;                            /* PARAM_* */
    uint32_t passes;                      /* that take it, a bit of each: 1 << PASS_* */
    const char *name;                     /* in kernels */
    bool (*taken)(const struct target *); /* the condition; NULL: by every kernel of these passes */
    const char *type;                     /* of its elements */
};

/* A number, or an array of them. */
enum params_kind { PARAMS_ROWS_AT, PARAMS_SCORES_AT, PARAMS_LONG, PARAMS_FLOAT, PARAMS_INT };
struct params_number {
    enum params_kind kind;
    uint32_t passes;
    const char *name;
    bool (*taken)(const struct target *);
    size_t at;                             /* its place in struct arguments */
    int (*members)(const struct target *); /* of an array; NULL: it is none */
};

/* What the kernel of a target takes, one after another; before: the one before, NULL: the first. NULL: there are no
 * more. Buffers come in the order of the kernel's parameters; numbers of 64 bits before those of 32, so that no
 * compiler pads. */
const struct params_buffer *params_list_buffer(const struct params_buffer *before, const struct target *t);
const struct params_number *params_list_number(const struct params_number *before, const struct target *t);

/* Whether it takes captured buffers; the gradients of those that are marked. */
bool params_list_has_aux(const struct target *t);
bool params_list_has_daux(const struct target *t);

#endif
