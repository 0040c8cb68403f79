/* sweep.h - random problems of all features: how they are drawn, and tables of how much of their bounds results use
 * SPDX-License-Identifier: Apache-2.0
 *
 * CLATTN_SWEEP=N: how many, and CLATTN_SWEEP_BAD=B with bad inputs, N / 25 without. CLATTN_SWEEP_EACH=M: how many share
 * what is built, a class of problems, 8 without; more of them are small, so that many take little time.
 * CLATTN_SWEEP_SEED=S: others. */
#ifndef SWEEP_H
#define SWEEP_H

#include "tests/lib/harness.h"

enum { SWEEP_CPU, SWEEP_ROW, SWEEP_SIMT, SWEEP_NAIVE, SWEEP_EMULATED, SWEEP_ENGINES };
enum { SWEEP_F32, SWEEP_F16, SWEEP_BF16, SWEEP_F64, SWEEP_TYPES };
extern const char *const sweep_types[SWEEP_TYPES];

/* ---- Random numbers ---- */

int64_t sweep_below(int64_t n);
const char *sweep_one_of(const char *const *list, size_t n);
#define SWEEP_ONE_OF(list) sweep_one_of(list, sizeof list / sizeof *list)

/* ---- Problems ---- */

/* What kernels are built for: all but the sizes. */
struct sweep_class {
    int engine, type, width[2];
    char words[400], config[160];
    int varlen, lengths, paged, split; /* varlen sequences; lengths of padded ones; pages; keys in parts */
    int small;                         /* sizes are, nearly always */
};

/* One in `in` classes has the word; "" adds nothing. */
void sweep_add(struct sweep_class *k, int in, const char *word);
/* The widths of Q and V, with their word. */
void sweep_draw_width(struct sweep_class *k);
/* Masks, what changes scores, sinks, and whether sequences are varlen or have lengths. */
void sweep_draw_scores(struct sweep_class *k, const char *const *mods, size_t n_mods);
/* Sizes, and lengths where the class has them, up to `most` keys; returns what it wrote. */
size_t sweep_draw_sizes(const struct sweep_class *k, int64_t most, char *text, size_t len);
/* Any tile of the class's engine that runs here. 0: none. */
int sweep_draw_config(const struct device *d, struct sweep_class *k, const char *text);

/* ---- Running ---- */

/* How much of what is usual (trial.h) of right kernels, and of the promise, the farthest element of a run uses. */
struct sweep_share {
    double usual, promised;
};
/* kind: of bad inputs, or NULL. Returns whether nothing is over: bad inputs for which roundings conspire are held to
 * the promise alone, others to both. */
int sweep_note(const struct sweep_class *k, const char *kind, enum demand demand, struct sweep_share share);

struct sweep {
    long few, some; /* how many make check runs, and CLATTN_PART */
    void (*random)(const struct device *d, int small, long n); /* n problems of one class */
    void (*bad)(const struct device *d, int small, long n);
};
/* Runs them all, with a table each 5000 and in the end; *random, *bad: how many were asked for. Returns how many were
 * over. */
int sweep_run(const struct device *d, const struct sweep *s, long *random, long *bad);

#endif
