/* verify_entry.h - one batch entry, or sequence, of a call, as the float64 reference takes it
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_ENTRY_H
#define VERIFY_ENTRY_H

#include "tools/oracle/reference.h"
#include "tools/run/setup.h"

/* The problem of it alone, with the pitch of arrays of all; its first rows in these, and its part of Q, K and V. */
struct verify_entry {
    struct reference r;
    int64_t q_row, k_row;
    const double *q, *k, *v;
};

/* What all entries have in common. p: with nothing left to default. */
void verify_entry_start(struct verify_entry *e, const clattn_problem *p, const struct setup_inputs *in, int narrow_p,
                        reference_mod mod, void *user);
/* Turns to entry b. */
void verify_entry_enter(struct verify_entry *e, const clattn_workload *c, const clattn_problem *p,
                        const struct setup_inputs *in, int64_t b);

#endif
