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

#define MEMBER(m) { #m, offsetof(clattn_problem, m), sizeof first.m }
static clattn_problem first;

/* Members whose bytes are not in the key: pointers, which stand for texts, what counts these, and what is no member of
 * a problem. A new member is in neither list. */
static const struct {
    const char *name;
    size_t at, size;
} others[] = {
    MEMBER(struct_size), MEMBER(n_mods), MEMBER(n_aux), MEMBER(reserved), MEMBER(mods), MEMBER(aux), MEMBER(mod_grads),
}, members[] = {
    MEMBER(type),      MEMBER(k_type),      MEMBER(v_type),       MEMBER(o_type),  MEMBER(d),       MEMBER(dv),
    MEMBER(causal),    MEMBER(align),       MEMBER(flags),        MEMBER(scale),   MEMBER(sizes),   MEMBER(softcap),
    MEMBER(bias_type), MEMBER(window_left), MEMBER(window_right), MEMBER(k_group), MEMBER(v_group), MEMBER(page),
    MEMBER(splits),    MEMBER(aux_grads),
};

static void test_members(void)
{
    size_t sizes = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        sizes += others[i].size;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        int good = 1;
        for (size_t j = 0; j < members[i].size; j++) {
            clattn_problem other = first;
            ((unsigned char *)&other)[members[i].at + j] ^= 1;
            good = good && differ(&first, &other);
        }
        ok(good, "each byte of %s is in the key", members[i].name);
        sizes += members[i].size;
    }
    ok(sizes + 8 > sizeof first, "these are all members (%zu bytes of %zu)", sizes, sizeof first); /* 8: padding */
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
