/* words.c - the last failure of each thread, in words
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

/* A pthread_t is soon used again for a new thread; the system's number of it is not, where there is one. */
struct who {
    pthread_t thread;
    long number;
};

struct last_words {
    struct last_words *next;
    struct who who;
    char text[]; /* ended by NUL */
};

static struct who caller(void)
{
#ifdef HAVE_GETTID
    return (struct who){ pthread_self(), (long)gettid() };
#else
    return (struct who){ pthread_self(), 0 };
#endif
}

static bool same(const struct who *a, const struct who *b)
{
    return pthread_equal(a->thread, b->thread) && a->number == b->number;
}

cl_int words_init(struct words *w, struct why *why)
{
    w->first = NULL;
    if (pthread_mutex_init(&w->lock, NULL))
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no mutex");
    return CL_SUCCESS;
}

void words_clear(struct words *w)
{
    for (struct last_words *x = w->first, *next; x; x = next) {
        next = x->next;
        free(x);
    }
    pthread_mutex_destroy(&w->lock);
}

/* Takes out what the thread said before, and what lies beyond the bound. */
static void forget(struct words *w, const struct who *who)
{
    struct last_words **at = &w->first;
    for (int n = 1; *at;) {
        struct last_words *x = *at;
        if (same(&x->who, who) || n == THREADS_MAX) {
            *at = x->next;
            free(x);
        } else {
            at = &x->next;
            n++;
        }
    }
}

void words_keep(struct words *w, const struct why *why)
{
    const size_t length = strlen(why->text);
    const struct who who = caller();
    struct last_words *x = malloc(sizeof *x + length + 1);
    pthread_mutex_lock(&w->lock);
    forget(w, &who);
    if (x) {
        x->who = who;
        memcpy(x->text, why->text, length + 1);
        x->next = w->first;
        w->first = x;
    }
    pthread_mutex_unlock(&w->lock);
}

void words_recall(struct words *w, struct text *to)
{
    const struct who who = caller();
    pthread_mutex_lock(&w->lock);
    const struct last_words *x = w->first;
    while (x && !same(&x->who, &who))
        x = x->next;
    if (x)
        text_add_n(to, x->text, strlen(x->text));
    pthread_mutex_unlock(&w->lock);
}
