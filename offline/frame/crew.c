/* crew.c - the threads of the host that share the groups of a launch
 * SPDX-License-Identifier: Apache-2.0 */
#include "offline/frame/crew.h"

#include <pthread.h>
#include <stddef.h>

enum { MAX_WORKERS = 256 };

struct member {
    const struct crew *crew;
    void *worker;
    pthread_t thread;
};

static void *thread_main(void *blob)
{
    const struct member *const m = blob;
    m->crew->work(m->worker);
    return NULL;
}

int crew_run(const struct crew *crew, void *launch, uint64_t asked, uint64_t n_groups)
{
    const uint64_t n = asked > n_groups ? n_groups : asked > MAX_WORKERS ? MAX_WORKERS : asked;
    struct member members[MAX_WORKERS] = { { crew, crew->make(launch, 0), 0 } };
    uint64_t started = 1;
    const int whole = members[0].worker != NULL;
    for (; whole && started < n; started++) {
        struct member *const m = &members[started];
        m->crew = crew;
        m->worker = crew->make(launch, started);
        if (!m->worker || pthread_create(&m->thread, NULL, thread_main, m))
            break;
    }
    if (whole)
        crew->work(members[0].worker);
    for (uint64_t i = 1; i < started; i++)
        pthread_join(members[i].thread, NULL);
    for (uint64_t i = 0; i < n; i++)
        crew->drop(members[i].worker);
    return whole;
}
