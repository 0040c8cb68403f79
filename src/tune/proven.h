/* proven.h - the fastest configuration so far of which a search may say that it is faster than the control
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROVEN_H
#define PROVEN_H

#include "tune/timing_rounds.h"

/* Looks, behind a round, for an entrant that has beaten the control as a final demands, while the control was quiet. It
 * replaces the one before when that has failed or no longer beats the control, or when its own time is 3 % less: what
 * differs less is the same within noise. Each is reported. */
void proven_update(struct timing_rounds *r);

/* A final has decided: `best` is it, the control meaning none. */
void proven_decide(struct timing_rounds *r, const struct entrant *best);

/* What was measured of an entrant beside a control. Returns false when nothing was. */
bool proven_measured(struct finding *out, const struct entrant *c, const struct entrant *control);

#endif
