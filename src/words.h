/* words.h - the last failure of each thread, in words
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WORDS_H
#define WORDS_H

#include "status.h"

#include <pthread.h>

/* A pthread_t is soon used again for a new thread; the system's number of it is not, where there is one. */
struct who {
    pthread_t thread;
    long number;
};

/* Newest first; threads that failed long ago are forgotten. */
enum { WORDS_LOST_MAX = 16 };
struct words {
    pthread_mutex_t lock;
    struct last_words *first;
    struct who lost[WORDS_LOST_MAX]; /* whose words there was no memory for */
    int n_lost;
};

cl_int words_init(struct words *w, struct why *why);
void words_clear(struct words *w);

/* Keeps what `why` says for the calling thread. Without memory it is lost, and that is what is kept. */
void words_keep(struct words *w, const struct why *why);

/* Adds the words of the calling thread, if any. */
void words_recall(struct words *w, struct text *to);

#endif
