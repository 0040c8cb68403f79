/* plot_kinds.c - kinds of problems, which are the lines of a picture
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/plots/plot_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

/* The next word at *text, which goes behind it; its length, or 0. */
static size_t next_word(const char **text, const char **word)
{
    *text += strspn(*text, blanks);
    *word = *text;
    const size_t n = strcspn(*text, blanks);
    *text += n;
    return n;
}

static void add_word(char to[KIND_ROOM], const char *word, size_t n)
{
    const size_t at = strlen(to), gap = at > 0;
    if (at + gap + n + 1 > KIND_ROOM)
        return;
    if (gap)
        to[at] = ' ';
    memcpy(to + at + gap, word, n);
    to[at + gap + n] = '\0';
}

static int has_word(const char *text, const char *word, size_t n)
{
    const char *at;
    for (size_t m; (m = next_word(&text, &at)) > 0;)
        if (m == n && !memcmp(at, word, n))
            return 1;
    return 0;
}

/* The number behind the letter in a word such as k4096; NaN where no word is one. */
static double number_of(const char *problem, char letter)
{
    const char *word;
    for (size_t n; (n = next_word(&problem, &word)) > 0;)
        if (word[0] == letter && strspn(word + 1, "0123456789") == n - 1 && n > 1)
            return strtod(word + 1, NULL);
    return NAN;
}

void plot_kind(char kind[KIND_ROOM], const char *problem, double *keys)
{
    const double queries = number_of(problem, 'q');
    const char *word, *at = problem;
    *keys = number_of(problem, 'k');
    *kind = '\0';
    for (size_t n; (n = next_word(&at, &word)) > 0;) {
        const int length = n > 1 && strspn(word + 1, "0123456789") == n - 1;
        if (!(length && (word[0] == 'k' || (word[0] == 'q' && queries == *keys))))
            add_word(kind, word, n);
    }
}

void plot_common(char common[KIND_ROOM], const struct figures *all, size_t n)
{
    char first[KIND_ROOM], kind[KIND_ROOM];
    const char *word, *at = first;
    double keys;
    *common = '\0';
    if (!n)
        return;
    plot_kind(first, all[0].problem, &keys);
    for (size_t m; (m = next_word(&at, &word)) > 0;) {
        int everywhere = 1;
        for (size_t i = 1; i < n && everywhere; i++) {
            plot_kind(kind, all[i].problem, &keys);
            everywhere = has_word(kind, word, m);
        }
        if (everywhere)
            add_word(common, word, m);
    }
}

void plot_rest(char rest[KIND_ROOM], const char *problem, const char *common)
{
    char kind[KIND_ROOM];
    const char *word, *at = kind;
    double keys;
    plot_kind(kind, problem, &keys);
    *rest = '\0';
    for (size_t n; (n = next_word(&at, &word)) > 0;)
        if (!has_word(common, word, n))
            add_word(rest, word, n);
}

static int same_kind(const struct figures *a, const struct figures *b)
{
    char x[KIND_ROOM], y[KIND_ROOM];
    double keys;
    plot_kind(x, a->problem, &keys);
    plot_kind(y, b->problem, &keys);
    return !strcmp(x, y);
}

int plot_is_first_of_kind(const struct figures *all, size_t i)
{
    for (size_t n = 0; n < i; n++)
        if (same_kind(&all[n], &all[i]))
            return 0;
    return 1;
}

static double keys_of(const struct figures *g)
{
    return number_of(g->problem, 'k');
}

size_t plot_members(const struct figures *all, size_t n, size_t first, const struct figures **at)
{
    size_t m = 0;
    for (size_t i = first; i < n; i++) {
        if (!same_kind(&all[first], &all[i]))
            continue;
        size_t place = m++;
        for (; place > 0 && keys_of(at[place - 1]) > keys_of(&all[i]); place--)
            at[place] = at[place - 1];
        at[place] = &all[i];
    }
    return m;
}
