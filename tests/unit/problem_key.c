/* problem_key.c - the key of a problem differs with every member
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/problem/problem.h"
#include "src/problem/problem_key.h"
#include "tests/lib/tap.h"

#include <stddef.h>

static const clattn_score_mod mods[] = { { "s += 1.0f;", "one", 0 }, { "s *= bend[h];", NULL, 0 } };
static const clattn_aux aux[] = { { "bend", CLATTN_F32 } };
static const char *const grads[] = { "", "ds *= bend[h];" };

static clattn_problem whole(void)
{
    clattn_problem p = CLATTN_PROBLEM_INIT, checked;
    struct why why;
    p.d = 32;
    p.flags = CLATTN_BACKWARD;
    p.mods = mods;
    p.aux = aux;
    p.mod_grads = grads;
    p.n_mods = 2;
    p.n_aux = 1;
    p.aux_grads = 1;
    p.sizes = (clattn_sizes){ 1, 2, 2, 3, 4, 5, 6, 7 };
    if (problem_read(&checked, &p, &why))
        bail("%s", why.text);
    return checked;
}

static int differ(const clattn_problem *x, const clattn_problem *y)
{
    unsigned char a[DIGEST_BYTES], b[DIGEST_BYTES];
    return problem_key(a, x) && problem_key(b, y) && memcmp(a, b, sizeof a) != 0;
}

static clattn_problem first;

/* Members whose bytes are not in the key: pointers, which stand for texts. */
#define POINTER(m) { offsetof(clattn_problem, m), sizeof first.m }
static const struct {
    size_t at, size;
} pointers[] = { POINTER(mods), POINTER(aux), POINTER(mod_grads) };

static int is_of_pointer(size_t at)
{
    size_t i = 0;
    while (i < sizeof pointers / sizeof *pointers && at - pointers[i].at >= pointers[i].size)
        i++;
    return i < sizeof pointers / sizeof *pointers;
}

/* Nor are the numbers of texts changed here, which say how many are read. */
static void test_members(void)
{
    const size_t counts = offsetof(clattn_problem, n_mods), counts_end = offsetof(clattn_problem, reserved);
    size_t missing = 0, seen = 0;
    for (size_t at = 0; at < sizeof first; at++) {
        if (is_of_pointer(at) || (at >= counts && at < counts_end))
            continue;
        clattn_problem other = first;
        ((unsigned char *)&other)[at] ^= 1;
        missing += !differ(&first, &other);
        seen++;
    }
    ok(!missing && seen > sizeof first / 2, "each byte of the members is in the key (%zu of %zu)", seen - missing,
       seen);
    clattn_problem fewer = first;
    fewer.n_mods = 1;
    ok(differ(&first, &fewer), "the number of score_mods is in the key");
    fewer = first;
    fewer.n_aux = 0;
    ok(differ(&first, &fewer), "the number of captured buffers is in the key");
}

static void test_texts(void)
{
    static const clattn_score_mod texts[] = { { "s += 1.0f; ", "one", 0 }, { "s += 1.0f;", "two", 0 },
                                              { "s += 1.0f;", "one", CLATTN_MOD_VECTOR } };
    static const clattn_aux buffers[] = { { "bent", CLATTN_F32 }, { "bend", CLATTN_I32 } };
    static const char *const other_grads[] = { "", "ds *= bend[h]; " };
    static const clattn_score_mod joined[] = { { "s += 1.0f;", "o", 0 }, { "s *= bend[h];", "ne", 0 } };
    clattn_problem other;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const clattn_score_mod list[] = { texts[i], mods[1] };
        other = first;
        other.mods = list;
        ok(differ(&first, &other), "text, name and flags of a score_mod are in the key (%zu)", i);
    }
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        other = first;
        other.aux = &buffers[i];
        ok(differ(&first, &other), "name and type of a captured buffer are in the key (%zu)", i);
    }
    other = first;
    other.mod_grads = other_grads;
    ok(differ(&first, &other), "derivatives are in the key");
    other = first;
    other.mods = joined;
    ok(differ(&first, &other), "names do not run into each other");
    char at_another_place[] = "s += 1.0f;", name[] = "one", back[] = "ds *= bend[h];";
    const clattn_score_mod same_mods[] = { { at_another_place, name, 0 }, mods[1] };
    const clattn_aux same_aux[] = { aux[0] };
    const char *const same_grads[] = { "", back };
    other = first;
    other.mods = same_mods;
    other.aux = same_aux;
    other.mod_grads = same_grads;
    ok(!differ(&first, &other), "the same problem with texts at another place has the same key");
}

int main(void)
{
    first = whole();
    test_members();
    test_texts();
    return done_testing();
}
