/* pairwise.h - rows that cover every pair of choices, made up as a test runs
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PAIRWISE_H
#define PAIRWISE_H

#include <stddef.h>

enum { PAIRWISE_FACTORS = 15, PAIRWISE_CHOICES = 21, PAIRWISE_ROWS = 400 };

struct pairwise_row {
    signed char choice[PAIRWISE_FACTORS]; /* -1: not chosen yet */
};

struct pairwise {
    /* Of each factor the words to choose from; each list ends with NULL. */
    const char *const (*words)[PAIRWISE_CHOICES];
    int factors;
    /* Whether two choices contradict each other; asked with f < g. */
    int (*forbidden)(int f, int x, int g, int y);
    /* What pairwise_make() makes. */
    struct pairwise_row rows[PAIRWISE_ROWS];
    unsigned n_rows, n_pairs, n_covered;
    unsigned char covered[PAIRWISE_FACTORS][PAIRWISE_CHOICES][PAIRWISE_FACTORS][PAIRWISE_CHOICES];
};

void pairwise_make(struct pairwise *p);
const char *pairwise_word(const struct pairwise *p, const struct pairwise_row *r, int factor);
/* Writes the row's words of n factors, with a space before each; returns how many characters. */
size_t pairwise_write(const struct pairwise *p, const struct pairwise_row *r, const int *order, size_t n, char *text,
                      size_t len);
/* Prints the problems of all rows, as `write` has them. Returns main()'s status. */
int pairwise_list(const struct pairwise *p, void (*write)(unsigned row, char *text, size_t len));
/* Whether the words of a choice have these among them. */
int pairwise_has(const struct pairwise *p, int factor, int choice, const char *text);

#endif
