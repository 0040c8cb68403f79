/* made_mods.h - score_mods and their derivatives made up at random: as texts, and computed in double
 * SPDX-License-Identifier: Apache-2.0
 *
 * A text is a composition of functions of the score, of where it is, of a constant and of an element of a captured
 * buffer, "table". Its derivative is written by the chain rule; here nothing computes it. */
#ifndef MADE_MODS_H
#define MADE_MODS_H

#include <clattn.h>

enum { MADE_LEAVES = 4, MADE_STEPS = 7, MADE_NODES = MADE_LEAVES + MADE_STEPS };

/* Values 0 to 3 are the score, the element, the distance and a constant; each of the others is a function of two of
 * those before. What comes of it is a quarter of the score and the tanh of the last value, so that it is in range. */
struct made_mod {
    int op[MADE_NODES], a[MADE_NODES], b[MADE_NODES];
    double constant;
};

struct made_mod made_mod(uint64_t seed);
/* A score behind it; element: of the captured buffer. */
double made_mod_compute(const struct made_mod *m, double s, int q, int k, double element);

/* How a text is written: for f64 or not, as CLATTN_MOD_VECTOR or not. */
struct made_form {
    const char *type, *suffix; /* of a value, of a constant */
    const char *element, *distance, *index;
    uint32_t flags;
};
struct made_form made_form(int wide, int vector);
/* Which element, of 8 for each head; the batch entry is 0. */
int made_form_index(const struct made_form *f, int h, int q, int k);

enum { MADE_TEXT = 8192 };
struct made_texts {
    char mod[MADE_TEXT], grad[MADE_TEXT];
};
/* captured 0: nothing is looked up, and there is no buffer. */
void made_mod_write(struct made_texts *t, const struct made_form *f, const struct made_mod *m, int captured);

/* From 0 to 1. */
double made_uniform(uint64_t seed, uint64_t i);

#endif
