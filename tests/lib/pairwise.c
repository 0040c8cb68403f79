/* pairwise.c - rows that cover every pair of choices, made up as a test runs
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/pairwise.h"

#include <stdio.h>

#include "tests/lib/trial.h"

#include <string.h>

const char *pairwise_word(const struct pairwise *p, const struct pairwise_row *r, int factor)
{
    return p->words[factor][r->choice[factor]];
}

int pairwise_has(const struct pairwise *p, int factor, int choice, const char *text)
{
    return strstr(p->words[factor][choice], text) != NULL;
}

static int choices(const struct pairwise *p, int factor)
{
    int n = 0;
    while (p->words[factor][n])
        n++;
    return n;
}

static int forbidden(const struct pairwise *p, int f, int x, int g, int y)
{
    return f > g ? p->forbidden(g, y, f, x) : p->forbidden(f, x, g, y);
}

/* Pairs that this choice would add to a row, or -1 when it contradicts what is chosen. */
static int gain(const struct pairwise *p, const struct pairwise_row *r, int factor, int choice)
{
    int other, n = 0;
    for (other = 0; other < p->factors; other++) {
        if (other == factor || r->choice[other] < 0)
            continue;
        if (forbidden(p, factor, choice, other, r->choice[other]))
            return -1;
        n += !p->covered[factor][choice][other][r->choice[other]];
    }
    return n;
}

/* Chooses for one factor what covers most; by the seed among equals. 0 when nothing goes. */
static int choose(const struct pairwise *p, struct pairwise_row *r, int factor, uint64_t seed)
{
    const int n = choices(p, factor), first = (int)(trial_hash(seed, 1, (uint64_t)factor) % (uint64_t)n);
    int most = -1, i;
    for (i = 0; i < n; i++) {
        const int choice = (first + i) % n, g = gain(p, r, factor, choice);
        if (g > most) {
            most = g;
            r->choice[factor] = (signed char)choice;
        }
    }
    return most >= 0;
}

/* Fills up a row that has a pair chosen, factors in an order by the seed. Returns the pairs it adds, -1 for none. */
static int complete(const struct pairwise *p, struct pairwise_row *r, uint64_t seed)
{
    int order[PAIRWISE_FACTORS], i, f, g, n = 0;
    for (i = 0; i < p->factors; i++) {
        const int j = (int)(trial_hash(seed, 0, (uint64_t)i) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (i = 0; i < p->factors; i++)
        if (r->choice[order[i]] < 0 && !choose(p, r, order[i], seed))
            return -1;
    for (f = 0; f < p->factors; f++)
        for (g = 0; g < f; g++)
            n += !p->covered[f][r->choice[f]][g][r->choice[g]];
    return n;
}

/* The best of many rows with this pair. 0 when there is none. */
static int add_row(struct pairwise *p, int f, int x, int g, int y)
{
    enum { TRIES = 60 };
    struct pairwise_row best, r;
    int most = 0, i, n;
    for (i = 0; i < TRIES; i++) {
        memset(&r, -1, sizeof r);
        r.choice[f] = (signed char)x;
        r.choice[g] = (signed char)y;
        n = complete(p, &r, (uint64_t)p->n_rows * TRIES + (uint64_t)i);
        if (n > most) {
            most = n;
            best = r;
        }
    }
    if (!most || p->n_rows == PAIRWISE_ROWS)
        return 0;
    p->rows[p->n_rows++] = best;
    for (f = 0; f < p->factors; f++)
        for (g = 0; g < p->factors; g++)
            p->covered[f][best.choice[f]][g][best.choice[g]] = 1;
    return 1;
}

void pairwise_make(struct pairwise *p)
{
    int f, g, x, y;
    for (f = 0; f < p->factors; f++)
        for (g = 0; g < f; g++)
            for (x = 0; x < choices(p, f); x++)
                for (y = 0; y < choices(p, g); y++) {
                    if (forbidden(p, f, x, g, y))
                        continue;
                    p->n_pairs++;
                    p->n_covered += p->covered[f][x][g][y] || add_row(p, f, x, g, y);
                }
}

size_t pairwise_write(const struct pairwise *p, const struct pairwise_row *r, const int *order, size_t n, char *text,
                      size_t len)
{
    size_t at = 0;
    *text = '\0';
    for (size_t i = 0; i < n; i++) {
        const char *const word = pairwise_word(p, r, order[i]);
        if (*word)
            at += (size_t)snprintf(text + at, len - at, " %s", word);
    }
    return at;
}

int pairwise_list(const struct pairwise *p, void (*write)(unsigned row, char *text, size_t len))
{
    char problem[512];
    for (unsigned i = 0; i < p->n_rows; i++) {
        write(i, problem, sizeof problem);
        puts(problem);
    }
    return fflush(stdout) || ferror(stdout);
}
