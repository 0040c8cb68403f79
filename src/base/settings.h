/* settings.h - what options and environment say about tuning
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "base/why.h"
#include "base/text.h"

struct settings {
    int tune;       /* CLATTN_TUNE_AUTO .. _RECORD */
    double seconds; /* of a search inside clattn_plan_create(), 0: what its effort has by default */
};

/* Options win over CLATTN_TUNE and CLATTN_TUNE_SECONDS; what is not understood there counts for nothing, with words in
 * why (else ""). A setuid program has no environment here. */
cl_int settings_read(struct settings *s, const clattn_options *o, struct why *why);

/* The environment variables that change what drivers compile, as text: they belong to what a binary depends on. */
void settings_codegen(struct text *to);

/* Seconds that an effort has by default; 0: no limit. */
double settings_limit(int effort);

/* The name of a CLATTN_TUNE_*, as in the environment; NULL for none. */
const char *settings_tune_name(int tune);

#endif
