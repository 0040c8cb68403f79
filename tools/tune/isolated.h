/* isolated.h - candidates measured in children, for clattn_tune()
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ISOLATED_H
#define ISOLATED_H

#include "tools/system/child.h"
#include "tools/tune/tune_options.h"

#include <clattn.h>

enum { CONFIG_TEXT = 256 };

/* A candidate that is open. */
struct seat {
    char config[CONFIG_TEXT];
    struct child child;
};

struct isolated {
    const char *program, *device; /* argv[0]; --device, or NULL */
    const char *problem;          /* the problem that is measured; must be set */
    double kill;                  /* seconds; 0: derived from the time of the first one, the control */
    int (*stop)(void *user);      /* called several times a second; a value other than 0 gives up */
    void *user;
    double built, ran;            /* seconds the control took; 0: not known yet */
    char config[CONFIG_TEXT], words[CHILD_WORDS]; /* the last one that was refused here, and why */
    struct seat *seats;
    size_t n;
};

/* Initialises: nothing is open, and no control is known. */
void isolated_begin(struct isolated *m, const char *problem);
void isolated_end(struct isolated *m);

/* As of clattn_measure; `user` is a struct isolated. */
cl_int isolated_open(void *user, const char *config);
cl_int isolated_run(void *user, const char *config, double *seconds);
void isolated_close(void *user, const char *config);

/* Returns why `config` was refused, when that happened here; else NULL. */
const char *isolated_words(const struct isolated *m, const char *config);

/* The main function of such a child: argv[0] --child CONFIG [--device TEXT] PROBLEM. Returns an exit status. */
int candidate_main(const struct tune_options *o);

#endif
