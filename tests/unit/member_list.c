/* member_list.c - what each member of a problem takes part in is what its row of members.h says
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/engine/source.h"
#include "src/problem/class.h"
#include "src/problem/members.h"
#include "src/problem/problem_key.h"
#include "src/problem/workload.h"
#include "tests/lib/tap.h"

enum { TEXT = 512 };
static const char pinned[] = "simt tx16,ty8,tm4,tn4,ch16,cv16,qres0"; /* whatever the problem */
static const char *const base[] = { "f32", "b1", "h2", "q5", "k64", "d64" };

/* One of two problems that differ in one member. */
struct one {
    char text[TEXT], printed[TEXT], class[TEXT];
    clattn_problem p;
    struct source source;
};

/* Whether a word takes the place of one of those that every string has. */
static int is_instead(const char *word, int i)
{
    return i ? word[0] == base[i][0] && word[1] >= '0' && word[1] <= '9' && *word : problem_type_find(word);
}

static struct one make(const char *word, const char *more)
{
    struct one x = { .text = "" };
    struct text said = { x.text, TEXT, 0 }, printed = { x.printed, TEXT, 0 }, class = { x.class, TEXT, 0 };
    clattn_workload c = CLATTN_WORKLOAD_INIT, of;
    struct caps caps;
    struct config config;
    struct why why;
    int used = 0;
    for (int i = 0; i < (int)(sizeof base / sizeof *base); i++) {
        const int instead = is_instead(word, i);
        text_add(&said, "%s%s", i ? " " : "", instead ? word : base[i]);
        used |= instead;
    }
    text_add(&said, "%s%s%s%s", used || !*word ? "" : " ", used ? "" : word, *more ? " " : "", more);
    caps_generic(&caps);
    if (workload_parse(&c, x.text, &why) || workload_print(&c, &printed, &why) ||
        problem_read(&x.p, &c.problem, &why) || tile_config_read(&config, pinned, &caps, &x.p, &why))
        bail("%s: %s", x.text, why.text);
    class_of(&of, &x.p);
    class_print(&of, &x.p, &class);
    const struct target target =
        target_make(x.p.flags & CLATTN_BACKWARD ? PASS_BACKWARD_QUERIES : PASS_FORWARD, &x.p, &caps, &config);
    if (source_compose(&x.source, &target, &why))
        bail("%s: %s", x.text, why.text);
    return x;
}

static int keys_differ(const struct one *x, const struct one *y)
{
    unsigned char a[DIGEST_BYTES], b[DIGEST_BYTES];
    return problem_key(a, &x->p) && problem_key(b, &y->p) && memcmp(a, b, sizeof a) != 0;
}

static int programs_differ(const struct one *x, const struct one *y)
{
    return strcmp(x->source.text, y->source.text) || strcmp(x->source.options, y->source.options);
}

/* `more`: what both strings have besides. */
static void check(const char *name, unsigned parts, const char *first, const char *second, const char *more)
{
    if (!first)
        return;
    struct one x = make(first, more), y = make(second, more);
    is_str(x.printed, x.text, "%s: a string is printed as it is read", name);
    is_str(y.printed, y.text, "%s: so is the other", name);
    ok(strcmp(x.printed, y.printed), "%s: they differ", name);
    ok(keys_differ(&x, &y), "%s: so do the problems' keys", name);
    ok(!strcmp(x.class, y.class) == !(parts & MEMBER_CLASS), "%s: classes %s", name,
       parts & MEMBER_CLASS ? "differ" : "are the same");
    ok(!programs_differ(&x, &y) == !(parts & MEMBER_PROGRAM), "%s: programs %s", name,
       parts & MEMBER_PROGRAM ? "differ" : "are the same");
    source_free(&x.source);
    source_free(&y.source);
}

/* Flags are a bit each, and there is no bit between them that has no row. */
static void check_bits(void)
{
#define BIT(flag, ...) flag,
    static const uint32_t bits[] = { PROBLEM_FLAGS(BIT) };
    uint32_t seen = 0;
    int bad = 0;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        bad += bits[i] & seen || bits[i] & (bits[i] - 1);
        seen |= bits[i];
    }
    ok(!bad && !(seen & (seen + 1)), "flags are all bits from 1 to 0x%x, each once", (unsigned)((seen + 1) / 2));
}

int main(void)
{
#define MEMBER(member, type, parts, first, second, ...) check(#member, parts, first, second, "");
    PROBLEM_MEMBERS(MEMBER, MEMBER)
#define FLAG(flag, parts, first, second, ...) check(#flag, parts, first, second, "");
    PROBLEM_FLAGS(FLAG)
    check_bits();
    return done_testing();
}
