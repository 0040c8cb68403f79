/* programs.h - the programs of a device that are kept in memory, and those that a thread is making
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "cache/store.h"
#include "engine/caps.h"

#include <clattn_tune.h>
#include <pthread.h>

/* What one thread makes while others that need the same wait. It lies with that thread. */
struct flight {
    struct flight *next;
    const char *key;
};

/* What was built for one device, kept until programs_clear(). The oldest programs are released when there are too many,
 * because an application may make any number of score_mods. */
enum { PROGRAMS_MAX = 256 };
struct programs {
    pthread_mutex_t lock;
    pthread_cond_t landed; /* a flight is over */
    struct flight *flights;
    struct kept *first;
    int count;
    cl_context context; /* borrowed, as all below */
    cl_device_id device;
    const struct caps *caps;
    struct store *store;
    clattn_counters *counters; /* atomic */
};

cl_int programs_init(struct programs *p, struct why *why);
void programs_clear(struct programs *p);

/* What is kept under a key. program: retained; NULL: none. brief: a search has just compiled it. wrong: what the
 * compiler makes of it computes wrong results. */
struct found {
    cl_program program;
    bool brief, wrong;
};
struct found programs_find(struct programs *p, const char *key);

/* Called before `key` is made. True: this thread is to make it, and has a flight until programs_keep() or
 * programs_land(); the key stays until then. False: it need not, as *found shows, or another thread was at it and
 * failed: then each makes it by itself, so that it gets words of its own, and none waits for one failure after another.
 * anew: what was kept before is not looked at.
 *
 * Who has a flight calls nothing of the application's, which might come back to wait for it, and waits for no flights
 * but those of later passes of a plan: so no two threads wait for each other. */
bool programs_begin(struct programs *p, struct flight *f, const char *key, bool anew, struct found *found);
void programs_land(struct programs *p, struct flight *f);

/* Keeps a program, or with NULL the fact that it is wrong, unless another thread did so meanwhile, and ends the flight,
 * if there is one. Failing to keep it is no error and only costs time. saved: its binary is, or will be, kept as well.
 * Returns whether it was before. */
bool programs_keep(struct programs *p, const char *key, cl_program program, bool brief, bool saved, struct flight *f);

/* Those that were kept brief only. */
void programs_drop_brief(struct programs *p);

#endif
