/* last_error.h - the last failure of each thread, in words
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAST_ERROR_H
#define LAST_ERROR_H

#include "base/why.h"
#include "base/text.h"

#include <pthread.h>

/* A pthread_t is reused for a new thread soon; the system's thread number, where there is one, is not. */
struct who {
    pthread_t thread;
    long number;
};

/* Newest first. Threads that failed long ago are forgotten. */
enum { LAST_ERROR_LOST_MAX = 16 };
struct last_error {
    pthread_mutex_t lock;
    struct last_words *first;
    struct who lost[LAST_ERROR_LOST_MAX]; /* threads for whose words there was no memory */
    int n_lost;
};

cl_int last_error_init(struct last_error *w, struct why *why);
void last_error_clear(struct last_error *w);

/* Keeps the words of `why` for the calling thread. Without memory they are lost, and last_error_recall() says so. */
void last_error_keep(struct last_error *w, const struct why *why);

/* Adds the words of the calling thread, if any. */
void last_error_recall(struct last_error *w, struct text *to);

#endif
