/* exp2.h - which 2^x a device computes well
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXP2_H
#define EXP2_H

#include "device/program.h"

/* Called before a program is composed for an engine that asks for the device's own 2^x. Compares that, and the
 * fragments that may replace it, with double arithmetic, once for a device and driver, and keeps the verdict. From then
 * on caps.exp2 says which fragment such engines get. Where that is not their own, `why` says so (else it is "").
 * Several threads may do this at a time: all of them find the same. */
void exp2_find(struct programs *p, struct caps *caps, const struct engine *engine, struct why *why);

#endif
