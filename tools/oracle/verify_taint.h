/* verify_taint.h - which gradients NaN and inf may have reached
 * SPDX-License-Identifier: Apache-2.0
 *
 * clattn.h: NaN propagates from what is kept, and may reach what is computed beside it, for 0 times NaN is NaN. From
 * what is dropped it reaches nothing. The same goes for inf, but what becomes of that where it is kept nobody says. */
#ifndef VERIFY_TAINT_H
#define VERIFY_TAINT_H

#include "tools/oracle/reference.h"

/* Marks of an element of a gradient: that NaN or inf may be there where they need not be; that anything may. */
enum { TAINT_NAN = 1, TAINT_ALL = 2 };

/* A batch entry: its problem, what a backward call was given of it, with the pitches of r, and where marks are set; of
 * all entries those of bias, slopes and sinks, which may be NULL, as dlse. */
struct taint {
    const struct reference *r;
    const double *q, *k, *v, *o, *lse, *dout, *dlse;
    unsigned char *dq, *dk, *dv, *dbias, *dslopes, *dsinks;
};

enum { TAINT_TILE = 1024 }; /* no engine's tile has more queries, or keys */

int taint_strange(double x); /* NaN or infinite */

/* Returns 0, or -1 without memory. */
int taint_mark(const struct taint *t);

#endif
