/* members.c - members of a problem that no problem string sets so: refused in words, or sound
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/problem/problem.h"
#include "src/problem/workload.h"
#include "tests/lib/tap.h"

#include <limits.h>
#include <stddef.h>

static clattn_problem problem(const char *text)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct why why;
    if (workload_parse(&c, text, &why))
        bail("%s: %s", text, why.text);
    return c.problem;
}

/* An int32_t of the struct, and a word that the refusal has. */
static const struct {
    const char *text;
    size_t at;
    int32_t value;
    const char *named;
} rows[] = {
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, page), -1, "page is -1" },
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, page), (1 << 30) + 1, "page is 1073741825" },
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, splits), -1, "splits is -1" },
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, splits), 1025, "splits is 1025" },
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, k_type), 5, "k_type 5" },
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, v_type), 14, "v_type 14" },
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, type), CLATTN_INT8, "type 7" },
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, o_type), CLATTN_Q8_0, "o_type 9" },
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, o_type), -1, "o_type -1" },
    { "f32 b1 h2 q3 k4 d64", offsetof(clattn_problem, k_group), 64, "k_group" },
    { "f32 b1 h2 q3 k4 d64 k:int8", offsetof(clattn_problem, k_group), -16, "k_group is -16" },
    { "f32 b1 h2 q3 k4 d64 v:int4", offsetof(clattn_problem, v_group), INT_MIN, "v_group" },
    { "f32 b1 h2 q3 k4 d64 v:int4", offsetof(clattn_problem, v_group), INT_MAX, "v_group" },
};

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_problem p = problem(rows[i].text), checked;
        struct why why = { "" };
        memcpy((char *)&p + rows[i].at, &rows[i].value, sizeof rows[i].value);
        ok(problem_read(&checked, &p, &why) == CLATTN_ERROR_INVALID_ARGUMENT && strstr(why.text, rows[i].named),
           "%s with %s is refused: %s", rows[i].text, rows[i].named, why.text);
    }
}

/* Flags that ask for more passes; and what is said twice, once by default. */
static void test_sound(void)
{
    static const uint32_t flags[] = { CLATTN_APPEND, CLATTN_ROTARY, CLATTN_APPEND | CLATTN_ROTARY, CLATTN_SCORES,
                                      CLATTN_APPEND | CLATTN_SCORES };
    struct why why = { "" };
    clattn_problem p, once, twice;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        p = problem("f32 b1 h2 q3 k4 d64 page16 k:int8z v:q4_0");
        p.flags |= flags[i];
        ok(!problem_read(&once, &p, &why) && once.flags == p.flags, "flags %u are kept: %s", (unsigned)flags[i],
           why.text);
    }
    p = problem("f16 b1 h2 q3 k4 d96/64 k:int8 v:int4:16");
    ok(!problem_read(&once, &p, &why) && once.k_group == 96 && once.v_group == 16 && once.o_type == CLATTN_F16,
       "defaults are filled in: %s", why.text);
    ok(!problem_read(&twice, &once, &why) && !memcmp(&once, &twice, sizeof once), "and stay: %s", why.text);
    p.k_group = 112;
    ok(!problem_read(&once, &p, &why) && once.k_group == 96, "a group that is longer than a row is all of it");
}

int main(void)
{
    test_refusals();
    test_sound();
    return done_testing();
}
