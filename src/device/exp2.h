/* exp2.h - which 2^x a device computes well
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXP2_H
#define EXP2_H

#include "device/program.h"

/* Before a program is composed for an engine that asks for the device's own 2^x: what that gives is compared with double,
 * and what takes its place if it is too far off, once for a device and driver; the verdict is kept. From then on caps.exp2
 * says which fragment such engines get; one that is another than theirs is worth a line of words in why (else ""). Any
 * number of threads may find it out at a time: all find the same. */
void exp2_find(struct programs *p, struct caps *caps, const struct engine *engine, struct why *why);

#endif
