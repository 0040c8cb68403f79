/* forget_crashes.h - for tests of a store: it forgets everything that is suspected of crashing, or known to
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FORGET_CRASHES_H
#define FORGET_CRASHES_H

#include "src/cache/store.h"

static bool forget_crash(void *user, const char *name, uint64_t bytes)
{
    (void)bytes;
    store_remove(user, name);
    return true;
}

static void forget_crashes(struct store *s)
{
    static const char *const folders[] = { "inflight", "suspected", "poisoned" };
    for (int i = 0; i < 3; i++)
        store_walk(s, folders[i], forget_crash, s);
}

#endif
