/* plan_table.h - the plans of a handle's one-call functions: found again, and bounded in number
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PLAN_TABLE_H
#define PLAN_TABLE_H

#include "api/plan.h"
#include "base/digest.h"

#include <pthread.h>

enum { PLAN_TABLE_ROWS = 64 };

/* Counted like a public plan, but without a reference to the handle, whose table it is in. */
struct kept_plan {
    int references;
    struct plan plan;
};

struct plan_table {
    pthread_mutex_t lock;
    uint64_t uses, forgotten; /* how often a plan was used, and all were forgotten */
    struct plan_table_row {
        unsigned char key[DIGEST_BYTES];
        uint64_t used; /* number of its last use */
        struct kept_plan *kept; /* NULL: the row is free */
    } rows[PLAN_TABLE_ROWS];
};

cl_int plan_table_init(struct plan_table *t, struct why *why);
/* forked: in a child, where nothing of the driver or of other threads may be touched. */
void plan_table_clear(struct plan_table *t, bool forked);

/* What is there was chosen by what was known then: whoever changes that forgets it. Plans in use, or under way, live on
 * until their call ends. */
void plan_table_forget(struct plan_table *t);

/* The plan of a checked problem, whatever sizes within a power of two it has; it is made where there is none, without
 * the lock held. plan_table_give_back() is due. */
cl_int plan_table_take(struct kept_plan **out, struct plan_table *t, struct maker *maker, const clattn_problem *p,
                       struct why *why);
void plan_table_give_back(struct kept_plan *k);

#endif
