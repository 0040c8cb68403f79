/* workload_words.h - the words of problem strings: a row for each, which reads and prints it. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WORKLOAD_WORDS_H
#define WORKLOAD_WORDS_H

#include "base/text.h"
#include "problem/workload.h"

#include <stddef.h>

/* A word is its name alone, or its name and a value right behind it. */
struct workload_word {
    const char *name;
    bool has_value;
    cl_int (*read)(const struct workload_word *w, clattn_workload *to, const char *word, const char *value,
                   struct why *why);
    /* What there is to say of it, maybe nothing; p: c's problem, checked. */
    void (*print)(const struct workload_word *w, struct text *to, const clattn_workload *c, const clattn_problem *p);
    size_t at, second; /* where in a clattn_workload its numbers are; second 0: there is one */
    int64_t most;      /* that its number may be */
    uint32_t flag;     /* bits of clattn_problem.flags that go with it */
};

/* In the order in which they are printed, those that every string has first; the words of features, which stand in
 * their rows, come behind these. Ends with a row without a name. */
enum { WORKLOAD_WORDS = 22, WORKLOAD_REQUIRED = 5 };
extern const struct workload_word workload_words[WORKLOAD_WORDS + 1];

#endif
