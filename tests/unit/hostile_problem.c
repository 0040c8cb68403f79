/* hostile_problem.c - problem strings from someone who means harm: refused in words, or sound after all
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"
#include "tests/lib/trial.h"

/* Sound strings, to be spoiled. */
static const char *const sound[] = {
    "f32 b1 h1 q1 k1 d1",
    "f16 b2 h32/8 q2048 k2048 d128 causal",
    "f64 b3 h6/2 q7 k9 d64/32 causal-tl",
    "f16 b1 h2 q3 k4 d5 causal k:f32 v:bf16",
    "f32 b1 h2 q3 k4 d5 causal off-7",
    "f32 b1 h2 q3 k4 d5 scale-0.5 seed7 lse",
    "bf16 b2 h8/1 q30 k40 d59/33 causal k:f16 v:f16 off12 bthd scale0.25 qlen:30,1 kvlen:40,2 kvstart:1,0 seed99 lse",
    "f32 b1 h1 q1073741824 k1073741824 d1",
    "f32 b3 h2 q30 k40 d8 causal window3,4 softcap5 alibi bias:b11k:f16 mask:11qk blocks:16,16 sink mod:x,y "
    "dropout0.5 varlen lse",
    "f32 b256 h1 q1073741824 k1 d1 varlen",
    "f16 b1 h8/2 q1 k4096 d128/64 page16 k:int8:32z v:q4_0 o:f32 splits8",
    "f32 b2 h4 q3 k70 d80 page1073741824 k:int4:16 v:int4:1z kvlen:7,9",
};

static cl_int parse(const char *text, clattn_workload *c, char *why, size_t len)
{
    memset(c, 0, sizeof *c);
    c->struct_size = sizeof *c;
    return clattn_workload_parse(text, c, why, len);
}

/* One of the statuses that clattn_workload_parse() may give. */
static int refused(cl_int e)
{
    return e == CLATTN_ERROR_SYNTAX || e == CLATTN_ERROR_NOT_SUPPORTED || e == CLATTN_ERROR_INVALID_ARGUMENT;
}

static const char alphabet[] = "f16b23 h/qkd:,.-+eE0987654x%nslvcauofTpgizt_\t\n\\\"'\x80\xff";

/* One of them with up to eight bytes changed, added or dropped. */
static void mutate(char *text, size_t room, uint64_t seed)
{
    unsigned times = 1 + trial_hash(seed, 0, 0) % 8, i;
    snprintf(text, room, "%s", sound[trial_hash(seed, 1, 0) % (sizeof sound / sizeof *sound)]);
    for (i = 0; i < times; i++) {
        size_t n = strlen(text), at = n ? trial_hash(seed, 2, i) % n : 0;
        char letter = alphabet[trial_hash(seed, 3, i) % (sizeof alphabet - 1)];
        unsigned how = trial_hash(seed, 4, i) % 3;
        if (how == 0 && n) {
            text[at] = letter;
        } else if (how == 1 && n) {
            memmove(text + at, text + at + 1, n - at);
        } else if (n + 2 < room) {
            memmove(text + at + 1, text + at, n - at + 1);
            text[at] = letter;
        }
    }
}

static void test_mutations(void)
{
    unsigned i, bad = 0, accepted = 0, n = 30000;
    for (i = 0; i < n; i++) {
        clattn_workload c, again;
        char text[512], printed[1024] = "", reprinted[1024] = "", why[64] = "";
        double flops, bytes;
        cl_int e;
        mutate(text, sizeof text, i);
        e = parse(text, &c, why, sizeof why);
        if (e && refused(e) && *why)
            continue;
        accepted += !e;
        if (e || clattn_workload_print(&c, printed, sizeof printed, NULL) || parse(printed, &again, NULL, 0) ||
            clattn_workload_print(&again, reprinted, sizeof reprinted, NULL) || strcmp(printed, reprinted) ||
            clattn_workload_cost(&c, &flops, &bytes) || !(flops >= 0) || !(bytes >= 0)) {
            bad++;
            diag("mutation %u, status %s, printed '%s': '%s'", i, clattn_status_string(e), printed, text);
        }
    }
    ok(!bad && accepted, "%u mutations are refused in words or survive the round trip (%u did)", n, accepted);
}

static void test_long(void)
{
    size_t n = 1000000;
    char *text = malloc(n + 64), why[64] = "";
    clattn_workload c;
    if (!text)
        bail("no memory");
    strcpy(text, "f32 b1 h2 q3 k4 d5 ");
    memset(text + 19, 'x', n);
    text[19 + n] = 0;
    ok(parse(text, &c, why, sizeof why) == CLATTN_ERROR_SYNTAX && *why && strlen(why) < sizeof why,
       "a word of a million letters");
    memset(text + 4, '1', n);
    text[4] = 'b';
    ok(refused(parse(text, &c, NULL, 0)), "a number of a million digits");
    memset(text, ' ', n);
    text[n] = 0;
    ok(refused(parse(text, &c, NULL, 0)), "a million spaces");
    free(text);
}

int main(void)
{
    test_mutations();
    test_long();
    return done_testing();
}
