/* deals.h - how much runs now, and what make check has no time for: see doc/testing
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEALS_H
#define DEALS_H

/* CLATTN_FULL, CLATTN_QUICK and the like: set and neither empty nor "0". */
int harness_flag(const char *name);

/* Whether CLATTN_PART asks for the rest: what make check has no time for. */
int harness_rest(void);
/* Whether the i-th of many that make check never runs is run now: CLATTN_PART=N/M has every M-th, N from 0 on, and
 * CLATTN_PART=1 all. */
int harness_shares(unsigned i);
/* Whether the i-th of many is run now: make check runs those that are to be `soon`, CLATTN_PART all or a share of all,
 * CLATTN_FULL all. */
int harness_turn(unsigned i, int soon);
/* The same where make check runs one in n. */
int harness_deals(unsigned i, unsigned n);
/* Whether the i-th of n is run now, of which any would do: make check runs the first, CLATTN_PART=N/M one in turn,
 * CLATTN_PART=1 and CLATTN_FULL all. */
int harness_alternates(unsigned i, unsigned n);
/* Whether more is asked for than make check runs: by CLATTN_PART or CLATTN_FULL. */
int harness_more(void);

#endif
