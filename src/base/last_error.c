/* last_error.c - the last failure of each thread, in words
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/last_error.h"

#include <stdlib.h>
#include <string.h>
#ifdef HAVE_GETTID
#include <unistd.h>
#endif

enum { THREADS_MAX = 256 };

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

cl_int last_error_init(struct last_error *w, struct why *why)
{
    w->first = NULL;
    w->n_lost = 0;
    if (pthread_mutex_init(&w->lock, NULL))
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "a mutex cannot be made");
    return CL_SUCCESS;
}

void last_error_clear(struct last_error *w)
{
    for (struct last_words *x = w->first, *next; x; x = next) {
        next = x->next;
        free(x);
    }
    pthread_mutex_destroy(&w->lock);
}

/* Removes the thread's earlier words, and those of threads beyond the limit. */
static void forget(struct last_error *w, const struct who *who)
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

static int find_lost(const struct last_error *w, const struct who *who)
{
    int i = 0;
    while (i < w->n_lost && !same(&w->lost[i], who))
        i++;
    return i;
}

/* Replaces the most recent entry where there is no room. */
static void lose(struct last_error *w, const struct who *who)
{
    const int i = w->n_lost < LAST_ERROR_LOST_MAX ? w->n_lost++ : LAST_ERROR_LOST_MAX - 1;
    w->lost[i] = *who;
}

static void find_again(struct last_error *w, const struct who *who)
{
    const int i = find_lost(w, who);
    if (i < w->n_lost)
        w->lost[i] = w->lost[--w->n_lost];
}

void last_error_keep(struct last_error *w, const struct why *why)
{
    const size_t length = strlen(why->text);
    const struct who who = caller();
    struct last_words *x = malloc(sizeof *x + length + 1);
    pthread_mutex_lock(&w->lock);
    forget(w, &who);
    find_again(w, &who);
    if (x) {
        x->who = who;
        memcpy(x->text, why->text, length + 1);
        x->next = w->first;
        w->first = x;
    } else {
        lose(w, &who);
    }
    pthread_mutex_unlock(&w->lock);
}

void last_error_recall(struct last_error *w, struct text *to)
{
    static const char lost[] = "there was no memory to keep the words of this failure";
    const struct who who = caller();
    pthread_mutex_lock(&w->lock);
    const struct last_words *x = w->first;
    while (x && !same(&x->who, &who))
        x = x->next;
    if (x)
        text_add_n(to, x->text, strlen(x->text));
    else if (find_lost(w, &who) < w->n_lost)
        text_add_n(to, lost, sizeof lost - 1);
    pthread_mutex_unlock(&w->lock);
}
