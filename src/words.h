/* words.h - the last failure of each thread, in words
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WORDS_H
#define WORDS_H

#include "status.h"

#include <pthread.h>

/* Newest first; threads that failed long ago are forgotten. */
struct words {
    pthread_mutex_t lock;
    struct last_words *first;
};

cl_int words_init(struct words *w, struct why *why);
void words_clear(struct words *w);

/* Keeps what `why` says for the calling thread. Without memory it is lost: the status still tells. */
void words_keep(struct words *w, const struct why *why);

/* Adds the words of the calling thread, if any. */
void words_recall(struct words *w, struct text *to);

#endif
