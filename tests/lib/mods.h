/* mods.h - the score_mods of examples/score_mods in float64, for the reference
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODS_H
#define MODS_H

#include "tools/extras.h"

/* A `mod` of struct reference; user: a struct extras, whose mods are known here by their names. -1 for others. */
int mods_reference(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q, int64_t nk);

#endif
