/* score_mods.c - the texts of examples/score_mods, which problem strings name
 * SPDX-License-Identifier: Apache-2.0
 *
 * examples/score_mods/README tells what the lines at the top of a text may say. */
#include "config.h"

#include "tools/oracle/score_mods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "// clattn:";

static int failed(const char **why, const char *text)
{
    *why = text;
    return -1;
}

uint32_t score_mods_flags(const char *text)
{
    static const char vector[] = "// clattn: vector";
    const size_t n = sizeof vector - 1;
    const int is = strncmp(text, vector, n) == 0 && strspn(text + n, " \t\r") == strcspn(text + n, "\n");
    return is ? CLATTN_MOD_VECTOR : 0;
}

/* ---- Sizes of buffers ---- */

static const char *skip(const char *at)
{
    return at + strspn(at, " ");
}

/* A number, or the size that a letter stands for; -1 for neither. */
static int64_t factor(const char **at, const clattn_sizes *z)
{
    const struct {
        char letter;
        int64_t size;
    } sizes[] = { { 'b', z->b }, { 'h', z->h }, { 'q', z->nq }, { 'k', z->nk } };
    *at = skip(*at);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (**at == sizes[i].letter) {
            ++*at;
            return sizes[i].size;
        }
    const size_t digits = strspn(*at, "0123456789");
    if (digits < 1 || digits > 9)
        return -1;
    const int64_t n = strtol(*at, NULL, 10);
    *at += digits;
    return n;
}

/* A sum of products, up to the end of the text; -1 when it is none, or too large. */
static int64_t volume(const char *text, const clattn_sizes *z)
{
    const int64_t most = INT32_MAX;
    int64_t sum = 0, product = 1;
    for (;;) {
        const int64_t x = factor(&text, z);
        if (x < 0 || (x > 0 && product > most / x))
            return -1;
        product *= x;
        text = skip(text);
        if (*text != '*') {
            sum += product;
            product = 1;
        }
        if (*text == '\0' || sum > most)
            return sum > most ? -1 : sum;
        if (*text != '*' && *text != '+')
            return -1;
        text++;
    }
}

/* ---- Buffers ---- */

/* A line behind its mark: "aux TYPE NAME[SIZE]". */
static int declare(const char *line, const clattn_sizes *z, struct extras *x, const char **why)
{
    static const struct {
        const char *name;
        int32_t type;
    } types[] = { { "float", CLATTN_F32 }, { "int", CLATTN_I32 }, { "uchar", CLATTN_U8 } };
    char type[8], name[64], size[64], end = '\0';
    size_t i = 0;
    if (sscanf(line, " aux %7s %63[A-Za-z0-9_] [ %63[^]]%c", type, name, size, &end) != 4 || end != ']')
        return failed(why, "a score_mod declares a buffer in a way that cannot be read");
    while (i < sizeof types / sizeof *types && strcmp(type, types[i].name) != 0)
        i++;
    if (i == sizeof types / sizeof *types)
        return failed(why, "a score_mod declares a buffer that is none of float, int and uchar");
    const int64_t n = volume(size, z);
    if (n < 0)
        return failed(why, "a score_mod declares a buffer of no size that can be read, or too large a one");
    return extras_aux(x, name, types[i].type, n ? (size_t)n : 1, why) ? 0 : -1;
}

int score_mods_declare(const char *text, const clattn_sizes *z, struct extras *x, const char **why)
{
    const size_t n = sizeof mark - 1;
    for (; strncmp(text, mark, n) == 0; text += strcspn(text, "\n"), text += *text == '\n') {
        char line[160];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text + n, "\n"), text + n);
        if (!score_mods_flags(text) && declare(line, z, x, why) != 0)
            return -1;
    }
    return 0;
}

static const struct mod_text *find(const struct mod_text *t, const char *name, size_t n)
{
    while (t->name && (strncmp(t->name, name, n) != 0 || strcmp(t->name + n, ".cl") != 0))
        t++;
    return t->name ? t : NULL;
}

int score_mods_add(const char *names, const clattn_sizes *z, struct extras *x, const char **why)
{
    while (*names) {
        const size_t n = strcspn(names, ",");
        const struct mod_text *t = find(mod_texts, names, n), *const grad = find(mod_grad_texts, names, n);
        if (!t)
            return failed(why, "there is no such score_mod in examples/score_mods");
        if (x->n_mods == CLATTN_MODS_MAX)
            return failed(why, "there are too many score_mods");
        const clattn_score_mod mod = { t->text, t->name, score_mods_flags(t->text) };
        x->mod_grads[x->n_mods] = grad ? grad->text : NULL;
        x->mods[x->n_mods++] = mod;
        if (score_mods_declare(t->text, z, x, why) != 0)
            return -1;
        names += n + (names[n] == ',');
    }
    return 0;
}
