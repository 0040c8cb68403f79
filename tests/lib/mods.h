/* mods.h - the score_mods of examples/score_mods in float64, for the reference
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODS_H
#define MODS_H

#include "tools/oracle/extras.h"
#include "tools/oracle/reference_backward.h"

/* A `mod` of struct reference; user: a struct extras, whose mods are known here by their names. -1 for others. */
int mods_reference(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q, int64_t nk);

/* What captured buffers receive, and how far off that may be: by their places in x->aux, NULL: not wanted. */
struct mods_gradients {
    const struct extras *x;
    double *daux[CLATTN_AUX_MAX], *bound[CLATTN_AUX_MAX];
};

/* A `mod_grad` of struct reference_gradients; user: a struct mods_gradients. */
int mods_back(void *user, const struct reference_mod_row *row);

#endif
