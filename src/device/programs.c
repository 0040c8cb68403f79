/* programs.c - the programs of a device that are kept in memory, and those that a thread is making
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "device/programs.h"

#include <stdlib.h>
#include <string.h>

struct kept {
    struct kept *next;
    cl_program program; /* NULL: what the compiler makes of it computes wrong results */
    bool brief, saved;
    char key[]; /* ended by NUL */
};

static void forget(struct kept *k)
{
    if (k->program)
        clReleaseProgram(k->program);
    free(k);
}

cl_int programs_init(struct programs *p, struct why *why)
{
    p->flights = NULL;
    p->first = NULL;
    p->count = 0;
    if (pthread_mutex_init(&p->lock, NULL))
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "a mutex cannot be made");
    if (!pthread_cond_init(&p->landed, NULL))
        return CL_SUCCESS;
    pthread_mutex_destroy(&p->lock);
    return why_set(why, CL_OUT_OF_HOST_MEMORY, "a condition variable cannot be made");
}

void programs_clear(struct programs *p)
{
    for (struct kept *k = p->first, *next; k; k = next) {
        next = k->next;
        forget(k);
    }
    pthread_cond_destroy(&p->landed);
    pthread_mutex_destroy(&p->lock);
}

/* ---- With the lock held ---- */

static struct kept *find(const struct programs *p, const char *key)
{
    for (struct kept *k = p->first; k; k = k->next)
        if (!strcmp(k->key, key))
            return k;
    return NULL;
}

static struct found look(const struct programs *p, const char *key)
{
    const struct kept *const k = find(p, key);
    const bool there = k && k->program && !clRetainProgram(k->program);
    return (struct found){ there ? k->program : NULL, there && k->brief, k && !k->program };
}

static struct kept *take_oldest(struct programs *p)
{
    struct kept **at = &p->first, *oldest;
    while ((*at)->next)
        at = &(*at)->next;
    oldest = *at;
    *at = NULL;
    p->count--;
    return oldest;
}

static bool is_under_way(const struct programs *p, const char *key)
{
    const struct flight *f = p->flights;
    while (f && strcmp(f->key, key))
        f = f->next;
    return f;
}

static void land(struct programs *p, const struct flight *f)
{
    struct flight **at = &p->flights;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    pthread_cond_broadcast(&p->landed);
}

/* ---- Making ---- */

bool programs_begin(struct programs *p, struct flight *f, const char *key, bool anew, struct found *found)
{
    bool waited = false;
    *found = (struct found){ NULL, false, false };
    pthread_mutex_lock(&p->lock);
    for (; is_under_way(p, key); waited = true)
        pthread_cond_wait(&p->landed, &p->lock);
    if (waited || !anew)
        *found = look(p, key);
    const bool leads = !waited && !found->program && !found->wrong;
    if (leads) {
        *f = (struct flight){ p->flights, key };
        p->flights = f;
    }
    pthread_mutex_unlock(&p->lock);
    return leads;
}

void programs_land(struct programs *p, struct flight *f)
{
    pthread_mutex_lock(&p->lock);
    land(p, f);
    pthread_mutex_unlock(&p->lock);
}

/* ---- Keeping ---- */

struct found programs_find(struct programs *p, const char *key)
{
    pthread_mutex_lock(&p->lock);
    const struct found found = look(p, key);
    pthread_mutex_unlock(&p->lock);
    return found;
}

bool programs_keep(struct programs *p, const char *key, cl_program program, bool brief, bool saved, struct flight *f)
{
    const size_t length = strlen(key);
    struct kept *k = malloc(sizeof *k + length + 1), *oldest = NULL;
    pthread_mutex_lock(&p->lock);
    struct kept *const old = find(p, key);
    const bool was_saved = old && old->saved;
    if (old) {
        old->brief = old->brief && brief;
        old->saved = old->saved || saved;
    } else if (k && (!program || !clRetainProgram(program))) {
        *k = (struct kept){ p->first, program, brief, saved };
        memcpy(k->key, key, length + 1);
        p->first = k;
        k = NULL;
        if (++p->count > PROGRAMS_MAX)
            oldest = take_oldest(p);
    }
    if (f)
        land(p, f);
    pthread_mutex_unlock(&p->lock);
    if (oldest)
        forget(oldest);
    free(k);
    return was_saved;
}

void programs_drop_brief(struct programs *p)
{
    struct kept *dropped = NULL;
    pthread_mutex_lock(&p->lock);
    for (struct kept **at = &p->first; *at;) {
        struct kept *k = *at;
        if (!k->brief) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        k->next = dropped;
        dropped = k;
        p->count--;
    }
    pthread_mutex_unlock(&p->lock);
    for (struct kept *next; dropped; dropped = next) {
        next = dropped->next;
        forget(dropped);
    }
}
