/* workload_parse.c - problem strings: reading. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/workload_words.h"

#include "base/caller_struct.h"
#include "problem/feature.h"

#include <string.h>

/* Which words were seen: the rows of workload_words, and behind them the words of features. */
struct reader {
    clattn_workload *c;
    struct why *why;
    bool seen[WORKLOAD_WORDS + FEATURES_MOST * FEATURE_WORDS];
};

/* Of the rows that fit a word, the one with the longest name. */
struct found {
    size_t length;
    int which;
    const struct workload_word *word; /* one of these two */
    const struct feature_word *of_feature;
};

/* The bytes of `name` where the word is its name, or where `has_value` begins with it and goes on; else 0. */
static size_t fits(const char *word, const char *name, bool has_value)
{
    const size_t n = name ? strlen(name) : 0;
    return !n || strncmp(word, name, n) || (has_value ? !word[n] : word[n]) ? 0 : n;
}

static struct found find(const char *word)
{
    struct found best = { 0, -1, NULL, NULL };
    int at = 0;
    for (const struct workload_word *w = workload_words; w->name; w++, at++) {
        const size_t n = fits(word, w->name, w->has_value);
        if (n > best.length)
            best = (struct found){ n, at, w, NULL };
    }
    FEATURE_EACH(f)
        for (int i = 0; i < FEATURE_WORDS; i++, at++) {
            const struct feature_word *const w = &f->words[i];
            const size_t n = fits(word, w->name, w->has_value);
            if (n > best.length)
                best = (struct found){ n, at, NULL, w };
        }
    return best;
}

static cl_int read_word(struct reader *r, const char *word)
{
    struct why *why = r->why;
    const struct found found = find(word);
    const char *const value = word + found.length;
    if (found.which < 0)
        SYNTAX("\"%.40s\" is no word of a problem string", word);
    if (r->seen[found.which])
        SYNTAX("\"%.40s\": said twice", word);
    r->seen[found.which] = true;
    return found.word ? found.word->read(found.word, r->c, word, value, why)
                      : found.of_feature->read(r->c, word, value, why);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copies the next word of *at to `word`; false at the end, or with `word` empty when it is too long. */
static bool next_word(const char **at, char *word, size_t room)
{
    size_t n = 0;
    while (is_space(**at))
        ++*at;
    for (; **at && !is_space(**at); ++*at)
        if (n < room)
            word[n++] = **at;
    if (n == room)
        n = 0;
    else if (!n)
        return false;
    word[n] = '\0';
    return true;
}

static cl_int read_words(struct reader *r, const char *text)
{
    struct why *why = r->why;
    char word[4096], names[PROBLEM_TYPE_WORDS];
    cl_int status;
    if (!next_word(&text, word, sizeof word))
        SYNTAX("empty; expected e.g. \"f32 b1 h8 q1024 k1024 d64 causal\"");
    r->c->problem.type = problem_type_find(word);
    if (!problem_type_may(r->c->problem.type, PROBLEM_ROWS))
        SYNTAX("\"%.40s\": the first word must be %s", word, problem_type_names(names, PROBLEM_ROWS));
    while (next_word(&text, word, sizeof word)) {
        if (!*word)
            SYNTAX("a word is longer than %zu bytes", sizeof word - 1);
        if ((status = read_word(r, word)))
            return status;
    }
    for (int i = 0; i < WORKLOAD_REQUIRED; i++)
        if (!r->seen[i])
            SYNTAX("%sN is missing", workload_words[i].name);
    return CL_SUCCESS;
}

/* What several words say together. */
static cl_int combine(struct reader *r)
{
    struct why *why = r->why;
    clattn_sizes *s = &r->c->problem.sizes;
    cl_int status = problem_check_sizes(&(clattn_sizes){ s->b, s->h, s->hk, s->nq, s->nk, 0, 0, 0 }, why);
    if (status)
        return status;
    if (r->c->problem.flags & CLATTN_CU_Q) {
        if (r->c->bthd)
            SYNTAX("varlen and bthd contradict each other: varlen sequences have one axis order");
        if (s->b > CLATTN_LIST_MAX)
            SYNTAX("varlen with more than %d sequences", CLATTN_LIST_MAX);
        for (int64_t i = 0; i < s->b; i++) {
            s->total_q += workload_varlen(s->nq, i, s->b);
            s->total_k += workload_varlen(s->nk, i, s->b);
        }
    }
    return CL_SUCCESS;
}

/* A caller's struct of a version that knew less of problems, into which nothing goes that was not there. */
static cl_int shorten(clattn_workload *c, size_t members, struct why *why)
{
    const size_t problem = members - offsetof(clattn_workload, problem);
    const unsigned char *const all = (const unsigned char *)&c->problem;
    for (size_t i = problem; i < sizeof c->problem; i++)
        if (all[i])
            return why_set(why, CLATTN_ERROR_NOT_SUPPORTED,
                           "a clattn_workload of %zu bytes, of an older clattn.h, has no room for all that this says",
                           members);
    c->problem.struct_size = problem;
    return CL_SUCCESS;
}

cl_int workload_parse(clattn_workload *out, const char *text, struct why *why)
{
    clattn_workload c = { .struct_size = sizeof c, .problem = CLATTN_PROBLEM_INIT };
    struct reader r = { &c, why, { false } };
    const size_t room = out->struct_size;
    cl_int status;
    const size_t members = caller_struct_members("clattn_workload", room, sizeof c);
    if (!members)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, STRUCT_SIZE_WORDS, "clattn_workload", room,
                       "clattn_workload");
    if ((status = read_words(&r, text)) || (status = combine(&r)) || (status = problem_check(&c.problem, why)))
        return status;
    if (members < sizeof c && (status = shorten(&c, members, why)))
        return status;
    memcpy(out, &c, members);
    out->struct_size = room;
    return CL_SUCCESS;
}
