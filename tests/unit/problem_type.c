/* problem_type.c - storage types: the library's table against that of tools; every type has a test
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "problem/problem_type.h"
#include "tests/lib/cases.h"
#include "tools/oracle/convert.h"

#include <clattn.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { NUMBERS = 64 }; /* that types may have */

static int is_alike(int type)
{
    const struct problem_type *const x = problem_type_at(type);
    const struct convert_type *const y = convert_type(type);
    const int half = x->bits ? 1 << (x->bits - 1) : 0, least = x->has_least ? 0 : -half;
    const int same_elements = x->elements == y->elements && (size_t)x->bytes == y->bytes && x->epsilon == y->epsilon &&
                              x->least == y->tiny && least == y->least && (!y->most || y->most - least == 2 * half - 1);
    return !strcmp(x->name, y->name) && same_elements && problem_type_is_quantised(type) == !!y->keys_only &&
           (x->storage == PROBLEM_PLAIN) == !!y->store && (x->storage == PROBLEM_SCALED) == !!y->scaled;
}

/* "f32 .. k:NAME": the library says of a number what its name is, and of a name what its number is. */
static int is_read(int type)
{
    const char *const name = convert_type(type)->name;
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char text[128], printed[128], words[16];
    snprintf(text, sizeof text, "%s b1 h1 q1 k1 d32", convert_type(type)->keys_only ? "f32" : name);
    snprintf(words, sizeof words, " k:%s", name);
    strcat(text, convert_type(type)->keys_only ? words : "");
    return !clattn_workload_parse(text, &c, NULL, 0) && !clattn_workload_print(&c, printed, sizeof printed, NULL) &&
           !strcmp(text, printed) && (convert_type(type)->keys_only ? c.problem.k_type : c.problem.type) == type;
}

static void test_tables(void)
{
    for (int type = 1; type < NUMBERS; type++) {
        const int has = problem_type_may(type, PROBLEM_ROWS | PROBLEM_KEYS);
        if (!has && !convert_type(type))
            continue;
        if (ok(has && convert_type(type), "type %d: the library and tools have it", type))
            ok(is_alike(type) && is_read(type), "%s: both say the same of it", problem_type_name(type));
    }
    ok(!problem_type_may(-1, ~0u) && !problem_type_may(0, ~0u) && !problem_type_may(INT32_MAX, ~0u) &&
           !convert_type(-1) && !convert_type(INT32_MAX), "other numbers are no types");
}

/* ---- Elements ---- */

static int same(double x, double y)
{
    return isnan(x) ? isnan(y) : x == y && !signbit(x) == !signbit(y);
}

/* Every pattern of 8 or 16 bits. */
static void test_loads(int type)
{
    const int bytes = problem_type_at(type)->bytes;
    int bad = 0;
    for (uint32_t i = 0; i < 1u << 8 * bytes; i++) {
        const uint16_t wide = (uint16_t)i;
        const uint8_t narrow = (uint8_t)i;
        const void *const from = bytes == 1 ? (const void *)&narrow : &wide;
        double want;
        convert_load(type, from, &want, 1);
        bad += !same(problem_type_at(type)->load(from), want);
    }
    ok(!bad, "%s: every element is read as it is", problem_type_name(type));
}

/* What a type makes of a sample's number: that, or the next smaller one that it has. */
static void test_stores(int type)
{
    const struct problem_type *const t = problem_type_at(type);
    double stored; /* large enough for all */
    int bad = 0;
    for (int n = -128; n <= 128; n++) {
        const double x = n / 16.0;
        double nearest, again;
        t->store(x, &stored);
        const double y = t->load(&stored);
        convert_store(type, &x, &stored, 1);
        convert_load(type, &stored, &nearest, 1);
        convert_store(type, &y, &stored, 1);
        convert_load(type, &stored, &again, 1);
        bad += !same(y, again) || fabs(y) > fabs(x) || (nearest != y && fabs(nearest) <= fabs(x));
        bad += t->roles & PROBLEM_ROWS && y != x;
    }
    t->store((double)NAN, &stored);
    ok(!bad && isnan(t->load(&stored)), "%s: a sample's numbers are stored as they are, as far as it can", t->name);
}

/* ---- Words ---- */

static void test_words(void)
{
    char words[PROBLEM_TYPE_WORDS];
    ok(!strcmp(problem_type_names(words, PROBLEM_CAPTURED), "f32, f16, bf16, f64, i32 or u8") &&
           !strcmp(problem_type_ranges(words, PROBLEM_CAPTURED), "CLATTN_F32 .. CLATTN_U8"), "captured: %s", words);
    problem_type_ranges(words, PROBLEM_KEYS);
    ok(!strncmp(words, "CLATTN_F32 .. CLATTN_F64, CLATTN_INT8 .. CLATTN_", 48), "with a gap: %s", words);
}

/* ---- Tests ---- */

/* Whether a row has K or V in it: " k:NAME" with nothing, a group or zero points behind. */
static int is_asked(const char *row, char k_or_v, const char *name)
{
    char word[32];
    snprintf(word, sizeof word, " %c:%s", k_or_v, name);
    const char *const at = strstr(row, word);
    return at && strchr(" :z", at[strlen(word)]) != NULL;
}

static int has_row(const char *const *rows, int n, char k_or_v, const char *name)
{
    while (n-- > 0)
        if (is_asked(rows[n], k_or_v, name))
            return 1;
    return 0;
}

static void test_cases(int type)
{
    const char *const name = convert_type(type)->name;
    int has = 0;
    for (int i = 0; i < N_CASE_TYPES; i++)
        has |= !strcmp(case_types[i], name);
    if (convert_type(type)->keys_only)
        has = has_row(cases, N_CASES, 'k', name) && has_row(cases, N_CASES, 'v', name) &&
              (has_row(feature_cases, N_FEATURES, 'k', name) || has_row(feature_cases, N_FEATURES, 'v', name));
    ok(has, "%s: tests/lib/cases.h has it", name);
}

int main(void)
{
    test_tables();
    test_words();
    for (int keys_only = 0; keys_only < 2; keys_only++)
        for (int type = 0; (type = convert_next(type, keys_only));) {
            test_cases(type);
            if (!problem_type_may(type, PROBLEM_ROWS | PROBLEM_KEYS) || !convert_size(type))
                continue;
            if (convert_size(type) <= 2)
                test_loads(type);
            test_stores(type);
        }
    return done_testing();
}
