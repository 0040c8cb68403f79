/* class.h - classes of problems that are tuned as one. Knows no device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A class is the problem that stands for it: a few widths, lengths, numbers of heads and ratios, and of everything else
 * what costs alike. It decides what is fast, never what is right. */
#ifndef CLASS_H
#define CLASS_H

#include "problem/workload.h"
#include "base/text.h"

/* What stands for the class of a checked problem. Its score_mods are not in it. */
void class_of(clattn_workload *out, const clattn_problem *p);

/* The class as text: a problem string, and for a problem with score_mods a digest of their texts behind it. */
void class_print(const clattn_workload *c, const clattn_problem *p, struct text *to);

/* The n-th class to look at when there is no record of `c`, nearest first; number 0 is `c` itself. false past the
 * last. */
bool class_near(clattn_workload *out, const clattn_workload *c, size_t n);

/* The n-th of the classes that most programs have. */
bool class_common(clattn_workload *out, size_t n);

#endif
