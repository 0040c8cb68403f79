/* settings.h - what options and environment say about tuning
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "base/why.h"

struct settings {
    int tune;       /* CLATTN_TUNE_AUTO .. _RECORD */
    double seconds; /* of a search inside clattn_plan_create(); 0: the default of its effort */
};

/* Options take precedence over CLATTN_TUNE and CLATTN_TUNE_SECONDS. A value of these that cannot be read is ignored,
 * and `why` says so (else it is ""). In a set-user-ID program the environment is ignored. */
cl_int settings_read(struct settings *s, const clattn_options *o, struct why *why);

/* Seconds that an effort has by default; 0: no limit. */
double settings_limit(int effort);

#endif
