/* workload_parse.c - problem strings: reading. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/workload.h"

#include "problem/feature.h"
#include "base/number.h"
#include "base/caller_struct.h"

#include <stddef.h>
#include <string.h>

#define SYNTAX(...) return why_set(why, CLATTN_ERROR_SYNTAX, __VA_ARGS__)

struct reader {
    clattn_workload *c;
    struct why *why;
    uint64_t seen, features; /* a bit per row of words[], and per word of a feature */
    bool off;
};

static cl_int sizes_word(const char *word, const char *value, int64_t *first, int64_t *second, struct why *why)
{
    const char *rest = number_read_integer(value, first);
    if (rest && second && *rest == '/')
        rest = number_read_integer(rest + 1, second);
    if (!rest || *rest)
        SYNTAX("\"%s\": expected a number%s", word, second ? ", or two with / between" : "");
    return CL_SUCCESS;
}

static cl_int read_b(struct reader *r, const char *w, const char *v)
{
    return sizes_word(w, v, &r->c->problem.sizes.b, NULL, r->why);
}
static cl_int read_h(struct reader *r, const char *w, const char *v)
{
    return sizes_word(w, v, &r->c->problem.sizes.h, &r->c->problem.sizes.hk, r->why);
}
static cl_int read_q(struct reader *r, const char *w, const char *v)
{
    return sizes_word(w, v, &r->c->problem.sizes.nq, NULL, r->why);
}
static cl_int read_k(struct reader *r, const char *w, const char *v)
{
    return sizes_word(w, v, &r->c->problem.sizes.nk, NULL, r->why);
}
static cl_int read_d(struct reader *r, const char *w, const char *v)
{
    struct why *why = r->why;
    int64_t d = 0, dv = 0;
    cl_int status = sizes_word(w, v, &d, &dv, why);
    if (status)
        return status;
    if (d > INT32_MAX || d < INT32_MIN || dv > INT32_MAX || dv < INT32_MIN)
        SYNTAX("\"%s\": out of range", w);
    r->c->problem.d = (int32_t)d;
    r->c->problem.dv = (int32_t)dv;
    return CL_SUCCESS;
}
static cl_int read_off(struct reader *r, const char *w, const char *v)
{
    r->off = true;
    return sizes_word(w, v, &r->c->problem.sizes.offset, NULL, r->why);
}
static cl_int type_word(struct reader *r, const char *w, const char *v, int32_t *type)
{
    struct why *why = r->why;
    if (!(*type = problem_type_find(v)))
        SYNTAX("\"%s\": expected f32, f16, bf16, f64, int8, int4, q8_0 or q4_0", w);
    return CL_SUCCESS;
}
/* TYPE[:GROUP][z]: behind int8 and int4 how many elements share a scale, and whether there are zero points. */
static cl_int cache_word(struct reader *r, const char *w, const char *v, int32_t *type, int32_t *group, uint32_t zero)
{
    struct why *why = r->why;
    char name[16] = "";
    int64_t x = 0;
    const char *rest = v + strcspn(v, ":z");
    if ((size_t)(rest - v) < sizeof name)
        memcpy(name, v, (size_t)(rest - v));
    const cl_int status = type_word(r, w, name, type);
    if (status)
        return status;
    if (*rest == ':' && (!(rest = number_read_integer(rest + 1, &x)) || x < 1 || x > D_MAX))
        SYNTAX("\"%s\": expected a number from 1 to %d behind the type", w, D_MAX);
    if (*rest == 'z')
        r->c->problem.flags |= zero;
    if (rest[*rest == 'z'])
        SYNTAX("\"%s\": expected TYPE, TYPE:GROUP or TYPE:GROUPz", w);
    *group = (int32_t)x;
    return CL_SUCCESS;
}
static cl_int read_k_type(struct reader *r, const char *w, const char *v)
{
    return cache_word(r, w, v, &r->c->problem.k_type, &r->c->problem.k_group, CLATTN_K_ZERO);
}
static cl_int read_v_type(struct reader *r, const char *w, const char *v)
{
    return cache_word(r, w, v, &r->c->problem.v_type, &r->c->problem.v_group, CLATTN_V_ZERO);
}
static cl_int read_o_type(struct reader *r, const char *w, const char *v)
{
    return type_word(r, w, v, &r->c->problem.o_type);
}
static cl_int count_word(struct reader *r, const char *w, const char *v, int64_t most, int32_t *out)
{
    struct why *why = r->why;
    int64_t n;
    const char *rest = number_read_integer(v, &n);
    if (!rest || *rest || n < 1 || n > most)
        SYNTAX("\"%s\": expected a number from 1 to %lld", w, (long long)most);
    *out = (int32_t)n;
    return CL_SUCCESS;
}
static cl_int read_page(struct reader *r, const char *w, const char *v)
{
    return count_word(r, w, v, ROWS_MAX, &r->c->problem.page);
}
static cl_int read_splits(struct reader *r, const char *w, const char *v)
{
    return count_word(r, w, v, SPLITS_MAX, &r->c->problem.splits);
}
static cl_int read_bthd(struct reader *r, const char *w, const char *v)
{
    (void)w, (void)v;
    r->c->bthd = 1;
    return CL_SUCCESS;
}
static cl_int read_lse(struct reader *r, const char *w, const char *v)
{
    (void)w, (void)v;
    r->c->lse = 1;
    return CL_SUCCESS;
}
static cl_int read_scale(struct reader *r, const char *w, const char *v)
{
    struct why *why = r->why;
    const char *rest = number_read_real(v, &r->c->problem.scale);
    if (!rest || *rest)
        SYNTAX("\"%s\": expected a number", w);
    r->c->problem.flags |= CLATTN_SCALE;
    return CL_SUCCESS;
}
static cl_int read_seed(struct reader *r, const char *w, const char *v)
{
    struct why *why = r->why;
    int64_t seed;
    const char *rest = number_read_integer(v, &seed);
    if (!rest || *rest || seed < 0)
        SYNTAX("\"%s\": expected a number from 0 to 2^63 - 1", w);
    r->c->seed = (uint64_t)seed;
    return CL_SUCCESS;
}
static cl_int list_word(struct reader *r, const char *w, const char *v, int32_t *list, uint32_t flag)
{
    struct why *why = r->why;
    const int64_t b = r->c->problem.sizes.b;
    int64_t n = 0, x;
    do {
        if (n == CLATTN_LIST_MAX)
            SYNTAX("\"%.20s...\": more than %d numbers", w, CLATTN_LIST_MAX);
        const char *rest = number_read_integer(v, &x);
        if (!rest || (*rest && *rest != ',') || x < 0 || x > ROWS_MAX)
            SYNTAX("\"%.40s\": expected numbers from 0 to %d with commas between", w, ROWS_MAX);
        list[n++] = (int32_t)x;
        v = rest;
    } while (*v++);
    if (n != b)
        SYNTAX("\"%.40s\": %lld numbers for b%lld", w, (long long)n, (long long)b);
    r->c->problem.flags |= flag;
    return CL_SUCCESS;
}
static cl_int read_q_len(struct reader *r, const char *w, const char *v)
{
    return list_word(r, w, v, r->c->q_len, CLATTN_Q_LEN);
}
static cl_int read_kv_len(struct reader *r, const char *w, const char *v)
{
    return list_word(r, w, v, r->c->kv_len, CLATTN_KV_LEN);
}
static cl_int read_kv_start(struct reader *r, const char *w, const char *v)
{
    return list_word(r, w, v, r->c->kv_start, CLATTN_KV_START);
}
static cl_int read_varlen(struct reader *r, const char *w, const char *v)
{
    (void)w, (void)v;
    r->c->problem.flags |= CLATTN_CU_Q | CLATTN_CU_K;
    return CL_SUCCESS;
}
static cl_int read_invariant(struct reader *r, const char *w, const char *v)
{
    (void)w, (void)v;
    r->c->problem.flags |= CLATTN_BATCH_INVARIANT;
    return CL_SUCCESS;
}
static cl_int read_bwd(struct reader *r, const char *w, const char *v)
{
    (void)w, (void)v;
    r->c->problem.flags |= CLATTN_BACKWARD;
    return CL_SUCCESS;
}

/* A word is its name alone, or its name and a value right behind it. Of the rows that fit the one with the longest name
 * wins. The words of features stand in their rows. */
static const struct word {
    const char *name;
    bool value;
    cl_int (*read)(struct reader *, const char *word, const char *value);
} words[] = {
    { "bthd", false, read_bthd },
    { "lse", false, read_lse },
    { "kvlen:", true, read_kv_len },
    { "kvstart:", true, read_kv_start },
    { "qlen:", true, read_q_len },
    { "k:", true, read_k_type },
    { "v:", true, read_v_type },
    { "off", true, read_off },
    { "scale", true, read_scale },
    { "seed", true, read_seed },
    { "varlen", false, read_varlen },
    { "bwd", false, read_bwd },
    { "invariant", false, read_invariant },
    { "page", true, read_page },
    { "splits", true, read_splits },
    { "o:", true, read_o_type },
    { "b", true, read_b },
    { "h", true, read_h },
    { "q", true, read_q },
    { "k", true, read_k },
    { "d", true, read_d },
};
enum { WORDS = sizeof words / sizeof *words /* at most 64 */, REQUIRED = WORDS - 5 };

/* The bytes of `name` where the word is its name, or where `has_value` begins with it and goes on; else 0. */
static size_t fits(const char *word, const char *name, bool has_value)
{
    const size_t n = strlen(name);
    return strncmp(word, name, n) || (has_value ? !word[n] : word[n]) ? 0 : n;
}

/* Marks the word as seen. */
static cl_int see(uint64_t *seen, unsigned bit, const char *word, struct why *why)
{
    if (*seen & (uint64_t)1 << bit)
        SYNTAX("\"%.40s\": said twice", word);
    *seen |= (uint64_t)1 << bit;
    return CL_SUCCESS;
}

/* The word of a feature that fits, *bit being its number; NULL when there is none whose name is longer than `least`. */
static const struct feature_word *find_feature(const char *word, size_t least, unsigned *bit)
{
    const struct feature_word *best = NULL;
    unsigned at = 0;
    FEATURE_EACH(f)
        for (int i = 0; i < FEATURE_WORDS; i++, at++) {
            const struct feature_word *w = &f->words[i];
            const size_t n = w->name ? fits(word, w->name, w->has_value) : 0;
            if (n > least) {
                least = n;
                best = w;
                *bit = at;
            }
        }
    return best;
}

static cl_int read_word(struct reader *r, const char *word)
{
    struct why *why = r->why;
    unsigned best = WORDS, bit = 0;
    size_t longest = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        const size_t n = fits(word, words[i].name, words[i].value);
        if (n > longest) {
            longest = n;
            best = i;
        }
    }
    const struct feature_word *const of_feature = find_feature(word, longest, &bit);
    if (best == WORDS && !of_feature)
        SYNTAX("\"%.40s\" is no word of a problem string", word);
    const cl_int status = of_feature ? see(&r->features, bit, word, why) : see(&r->seen, best, word, why);
    if (status)
        return status;
    return of_feature ? of_feature->read(r->c, word, word + strlen(of_feature->name), why)
                      : words[best].read(r, word, word + longest);
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
    char word[4096];
    cl_int status;
    if (!next_word(&text, word, sizeof word))
        SYNTAX("empty; expected e.g. \"f32 b1 h8 q1024 k1024 d64 causal\"");
    r->c->problem.type = problem_type_find(word);
    if (!problem_type_size(r->c->problem.type))
        SYNTAX("\"%.40s\": the first word must be f32, f16, bf16 or f64", word);
    while (next_word(&text, word, sizeof word)) {
        if (!*word)
            SYNTAX("a word is longer than %zu bytes", sizeof word - 1);
        if ((status = read_word(r, word)))
            return status;
    }
    for (unsigned i = REQUIRED; i < WORDS; i++)
        if (!(r->seen & (uint64_t)1 << i))
            SYNTAX("%sN is missing", words[i].name);
    return CL_SUCCESS;
}

/* What several words say together. */
static cl_int combine(struct reader *r)
{
    struct why *why = r->why;
    clattn_sizes *s = &r->c->problem.sizes;
    if (r->off) {
        if (r->c->problem.align)
            SYNTAX("causal-tl and off contradict each other");
        r->c->problem.align = CLATTN_ALIGN_OFFSET;
    }
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
    struct reader r = { &c, why, 0, 0, false };
    clattn_problem checked;
    const size_t room = out->struct_size;
    cl_int status;
    const size_t members = caller_struct_members("clattn_workload", room, sizeof c);
    if (!members)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, STRUCT_SIZE_WORDS, "clattn_workload", room,
                       "clattn_workload");
    if ((status = read_words(&r, text)) || (status = combine(&r)))
        return status;
    if ((status = problem_read(&checked, &c.problem, why)) || (status = problem_check_sizes(&checked.sizes, why)))
        return status;
    if (members < sizeof c && (status = shorten(&c, members, why)))
        return status;
    memcpy(out, &c, members);
    out->struct_size = room;
    return CL_SUCCESS;
}
