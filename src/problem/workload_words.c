/* workload_words.c - the words of problem strings: a row for each, which reads and prints it. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/workload_words.h"

#include "base/number.h"

#include <string.h>

/* What functions that read, and those that print, are given. */
#define READ const struct workload_word *w, clattn_workload *to, const char *word, const char *value, struct why *why
#define PRINT const struct workload_word *w, struct text *to, const clattn_workload *c, const clattn_problem *p

static void *to_read(clattn_workload *to, size_t at)
{
    return (unsigned char *)to + at;
}

/* Of the problem as it was checked, since that has the defaults. */
static const void *to_print(const clattn_workload *c, const clattn_problem *p, size_t at)
{
    const size_t problem = offsetof(clattn_workload, problem);
    return at < problem ? (const unsigned char *)c + at : (const unsigned char *)p + (at - problem);
}

/* ---- Sizes and widths ---- */

/* A number, or, unless `second` is NULL, two with / between. */
static cl_int read_pair(const char *word, const char *value, int64_t *first, int64_t *second, struct why *why)
{
    const char *rest = number_read_integer(value, first);
    if (rest && second && *rest == '/')
        rest = number_read_integer(rest + 1, second);
    if (!rest || *rest)
        SYNTAX("\"%s\": expected a number%s", word, second ? ", or two with / between" : "");
    return CL_SUCCESS;
}

static void print_pair(struct text *to, const char *name, int64_t first, int64_t second)
{
    text_add(to, " %s%lld", name, (long long)first);
    if (second != first)
        text_add(to, "/%lld", (long long)second);
}

static cl_int read_sizes(READ)
{
    return read_pair(word, value, to_read(to, w->at), w->second ? to_read(to, w->second) : NULL, why);
}

static void print_sizes(PRINT)
{
    const int64_t *const first = to_print(c, p, w->at);
    print_pair(to, w->name, *first, w->second ? *(const int64_t *)to_print(c, p, w->second) : *first);
}

static cl_int read_widths(READ)
{
    int64_t d = 0, dv = 0;
    const cl_int status = read_pair(word, value, &d, &dv, why);
    if (status)
        return status;
    if (d > INT32_MAX || d < INT32_MIN || dv > INT32_MAX || dv < INT32_MIN)
        SYNTAX("\"%s\": out of range", word);
    *(int32_t *)to_read(to, w->at) = (int32_t)d;
    *(int32_t *)to_read(to, w->second) = (int32_t)dv;
    return CL_SUCCESS;
}

static void print_widths(PRINT)
{
    const int32_t *const d = to_print(c, p, w->at), *const dv = to_print(c, p, w->second);
    print_pair(to, w->name, *d, *dv);
}

/* ---- Types ---- */

static cl_int read_type_name(const char *word, const char *name, int32_t *type, struct why *why)
{
    char names[PROBLEM_TYPE_WORDS];
    if (!(*type = problem_type_find(name)))
        SYNTAX("\"%s\": expected %s", word, problem_type_names(names, PROBLEM_KEYS));
    return CL_SUCCESS;
}

static cl_int read_type(READ)
{
    return read_type_name(word, value, to_read(to, w->at), why);
}

static void print_type(PRINT)
{
    const int32_t type = *(const int32_t *)to_print(c, p, w->at);
    if (type != p->type)
        text_add(to, " %s%s", w->name, problem_type_name(type));
}

/* TYPE[:GROUP][z]: behind int8 and int4 how many elements share a scale, and whether there are zero points. */
static cl_int read_cache(READ)
{
    char name[16] = "";
    int64_t group = 0;
    const char *rest = value + strcspn(value, ":z");
    if ((size_t)(rest - value) < sizeof name)
        memcpy(name, value, (size_t)(rest - value));
    const cl_int status = read_type_name(word, name, to_read(to, w->at), why);
    if (status)
        return status;
    if (*rest == ':' && (!(rest = number_read_integer(rest + 1, &group)) || group < 1 || group > w->most))
        SYNTAX("\"%s\": expected a number from 1 to %lld behind the type", word, (long long)w->most);
    if (*rest == 'z')
        to->problem.flags |= w->flag;
    if (rest[*rest == 'z'])
        SYNTAX("\"%s\": expected TYPE, TYPE:GROUP or TYPE:GROUPz", word);
    *(int32_t *)to_read(to, w->second) = (int32_t)group;
    return CL_SUCCESS;
}

/* A group of the whole row is the default. */
static void print_cache(PRINT)
{
    const int32_t type = *(const int32_t *)to_print(c, p, w->at), group = *(const int32_t *)to_print(c, p, w->second);
    const int32_t width = w->flag == CLATTN_K_ZERO ? p->d : p->dv;
    if (type == p->type)
        return;
    text_add(to, " %s%s", w->name, problem_type_name(type));
    if (group && group != width)
        text_add(to, ":%d", (int)group);
    if (p->flags & w->flag)
        text_add(to, "z");
}

/* ---- Numbers that are 0 where they are not given ---- */

static cl_int read_count(READ)
{
    int64_t n;
    const char *rest = number_read_integer(value, &n);
    if (!rest || *rest || n < 1 || n > w->most)
        SYNTAX("\"%s\": expected a number from 1 to %lld", word, (long long)w->most);
    *(int32_t *)to_read(to, w->at) = (int32_t)n;
    return CL_SUCCESS;
}

static void print_count(PRINT)
{
    const int32_t n = *(const int32_t *)to_print(c, p, w->at);
    if (n)
        text_add(to, " %s%d", w->name, (int)n);
}

static cl_int read_seed(READ)
{
    int64_t seed;
    const char *rest = number_read_integer(value, &seed);
    (void)w;
    if (!rest || *rest || seed < 0)
        SYNTAX("\"%s\": expected a number from 0 to 2^63 - 1", word);
    to->seed = (uint64_t)seed;
    return CL_SUCCESS;
}

static void print_seed(PRINT)
{
    (void)p;
    if (c->seed)
        text_add(to, " %s%llu", w->name, (unsigned long long)c->seed);
}

static cl_int read_scale(READ)
{
    const char *rest = number_read_real(value, to_read(to, w->at));
    if (!rest || *rest)
        SYNTAX("\"%s\": expected a number", word);
    to->problem.flags |= w->flag;
    return CL_SUCCESS;
}

/* As it was given: the default of the checked problem follows from the width. */
static void print_scale(PRINT)
{
    if (c->problem.scale == 0 && !(p->flags & w->flag))
        return;
    text_add(to, " %s", w->name);
    number_print_real(to, c->problem.scale);
}

static cl_int read_offset(READ)
{
    if (to->problem.align)
        SYNTAX(WORKLOAD_TWO_DIAGONALS);
    to->problem.align = CLATTN_ALIGN_OFFSET;
    return read_pair(word, value, to_read(to, w->at), NULL, why);
}

/* A diagonal at the top left has a word with a causal mask only; else it is that of offset 0. */
static void print_offset(PRINT)
{
    const int64_t offset = *(const int64_t *)to_print(c, p, w->at);
    if (p->align == CLATTN_ALIGN_OFFSET)
        text_add(to, " %s%lld", w->name, (long long)offset);
    if (p->align == CLATTN_ALIGN_TOP_LEFT && !p->causal)
        text_add(to, " %s0", w->name);
}

/* ---- Words without a value ---- */

static cl_int read_switch(READ)
{
    (void)word, (void)value, (void)why;
    *(int32_t *)to_read(to, w->at) = 1;
    return CL_SUCCESS;
}

static void print_switch(PRINT)
{
    if (*(const int32_t *)to_print(c, p, w->at))
        text_add(to, " %s", w->name);
}

static cl_int read_flag(READ)
{
    (void)word, (void)value, (void)why;
    to->problem.flags |= w->flag;
    return CL_SUCCESS;
}

static void print_flag(PRINT)
{
    (void)c;
    if (p->flags & w->flag)
        text_add(to, " %s", w->name);
}

/* ---- Lists: a number for each batch entry ---- */

static cl_int read_list(READ)
{
    const int64_t b = to->problem.sizes.b;
    int32_t *const list = to_read(to, w->at);
    int64_t n = 0, x;
    do {
        if (n == CLATTN_LIST_MAX)
            SYNTAX("\"%.20s...\": more than %d numbers", word, CLATTN_LIST_MAX);
        const char *rest = number_read_integer(value, &x);
        if (!rest || (*rest && *rest != ',') || x < 0 || x > ROWS_MAX)
            SYNTAX("\"%.40s\": expected numbers from 0 to %d with commas between", word, ROWS_MAX);
        list[n++] = (int32_t)x;
        value = rest;
    } while (*value++);
    if (n != b)
        SYNTAX("\"%.40s\": %lld numbers for b%lld", word, (long long)n, (long long)b);
    to->problem.flags |= w->flag;
    return CL_SUCCESS;
}

static void print_list(PRINT)
{
    const int32_t *const list = to_print(c, p, w->at);
    if (p->flags & w->flag)
        text_add(to, " %s", w->name);
    for (int64_t i = 0; i < p->sizes.b && p->flags & w->flag; i++)
        text_add(to, "%s%d", i ? "," : "", (int)list[i]);
}

/* ---- The rows ---- */

#define AT(member) .at = offsetof(clattn_workload, member)
#define PROBLEM(member) .at = offsetof(clattn_workload, problem.member)
#define SECOND(member) .second = offsetof(clattn_workload, problem.member)

const struct workload_word workload_words[WORKLOAD_WORDS + 1] = {
    { "b", true, read_sizes, print_sizes, PROBLEM(sizes.b) },
    { "h", true, read_sizes, print_sizes, PROBLEM(sizes.h), SECOND(sizes.hk) },
    { "q", true, read_sizes, print_sizes, PROBLEM(sizes.nq) },
    { "k", true, read_sizes, print_sizes, PROBLEM(sizes.nk) },
    { "d", true, read_widths, print_widths, PROBLEM(d), SECOND(dv) },
    { "varlen", false, read_flag, print_flag, .flag = CLATTN_CU_Q | CLATTN_CU_K },
    { "page", true, read_count, print_count, PROBLEM(page), .most = ROWS_MAX },
    { "k:", true, read_cache, print_cache, PROBLEM(k_type), SECOND(k_group), .most = D_MAX, .flag = CLATTN_K_ZERO },
    { "v:", true, read_cache, print_cache, PROBLEM(v_type), SECOND(v_group), .most = D_MAX, .flag = CLATTN_V_ZERO },
    { "o:", true, read_type, print_type, PROBLEM(o_type) },
    { "off", true, read_offset, print_offset, PROBLEM(sizes.offset) },
    { "bthd", false, read_switch, print_switch, AT(bthd) },
    { "scale", true, read_scale, print_scale, PROBLEM(scale), .flag = CLATTN_SCALE },
    { "qlen:", true, read_list, print_list, AT(q_len), .flag = CLATTN_Q_LEN },
    { "kvlen:", true, read_list, print_list, AT(kv_len), .flag = CLATTN_KV_LEN },
    { "kvstart:", true, read_list, print_list, AT(kv_start), .flag = CLATTN_KV_START },
    { "splits", true, read_count, print_count, PROBLEM(splits), .most = SPLITS_MAX },
    { "invariant", false, read_flag, print_flag, .flag = CLATTN_BATCH_INVARIANT },
    { "scores", false, read_flag, print_flag, .flag = CLATTN_SCORES },
    { "seed", true, read_seed, print_seed, AT(seed) },
    { "lse", false, read_switch, print_switch, AT(lse) },
    { "bwd", false, read_flag, print_flag, .flag = CLATTN_BACKWARD },
    { .name = NULL },
};
