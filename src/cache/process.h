/* process.h - who this process is, and whether another one is gone
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_H
#define PROCESS_H

#include "base/why.h"

enum { PROCESS_PLACE = 16 };

struct process {
    uint64_t id;
    uint64_t began;                /* when it started, in the system's own unit, because numbers are used again; 0: not
                                    * known */
    char place[PROCESS_PLACE + 1]; /* where the number is valid, in hex digits: this boot of this machine, this
                                    * container; "": it is not known now */
};

void process_self(struct process *p);

/* Whether both times may be of one process: an unknown one equals any other. */
bool process_is_same_time(uint64_t a, uint64_t b);

/* Whether a process of the same place as `self` is there, as far as the system tells. */
bool process_is_there(const struct process *p, const struct process *self);

#endif
