/* findings.h - what to look at first in a report; needs no device
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FINDINGS_H
#define FINDINGS_H

#include "tools/report/fact.h"

enum { FINDING_WORDS = 768 };

struct finding {
    int rank;                  /* of its kind: 0 comes first */
    double weight;             /* among those of a rank: more comes first */
    const char *kind;          /* of the JSON part: "wrong", "crash", "refused", "spill", "tile", "speed", "compile" */
    int device;
    char words[FINDING_WORDS];
};

struct findings {
    struct finding *all;
    size_t n;
};

/* Looks through all records. Returns 0, or -1 without memory; findings_free() is due in both cases. */
int findings_make(struct findings *f, const struct fact *all, size_t n);
void findings_free(struct findings *f);

#endif
