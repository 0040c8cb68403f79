/* padding.c - masks without an axis of queries that leave tiles empty: at either end, in between, all of them
 * SPDX-License-Identifier: Apache-2.0
 *
 * A kernel goes on to the next key that such a mask keeps. Random masks, those of the other tests, keep one in nearly
 * every tile. make check has each row on one engine whose kernels are short; CLATTN_PART=1: on all. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/emulations.h"

enum { ENTRIES = 6, KEYS = 333 };
/* Keys of each entry that the mask drops beside those that it drops anyway: [from, to). */
static const int dropped[ENTRIES][2] = { { 70, KEYS }, { 0, 200 }, { 17, 301 }, { 0, KEYS }, { 0, 16 }, { 0, 0 } };

static cl_int pad(struct trial *t, cl_command_queue queue)
{
    int64_t index[4];
    for (int64_t i = 0; i < array4_count(&t->mask); i++) {
        const size_t at = array4_at(&t->mask, i, index);
        const int *const drop = dropped[index[0]];
        if (index[3] < drop[0] || index[3] >= drop[1])
            continue;
        t->x.mask[i] = 0;
        t->mask.image.byte[at] = 0;
    }
    free(t->seen);
    free(t->sees);
    t->seen = t->sees = NULL;
    const cl_int e = trial_find_kept(t);
    return e ? e : image_write(&t->mask.image, queue);
}

static void check(const struct device *d, const char *text, const char *engine)
{
    const clattn_workload c = each_case(text);
    struct trial t;
    char why[1024] = "";
    const clattn_plan plan = each_plan(d, engine, &c.problem, text);
    if (!plan)
        return;
    cl_int e = trial_make(&t, d->cl.context, &c, PLAIN); /* where a mask's keys are neighbours */
    e = e ? e : pad(&t, d->queue);
    e = e ? e : trial_run(&t, plan, d->queue);
    ok(!e && trial_verify(&t, d->queue, why, sizeof why), "%s, %s: tiles that a mask empties: %s %s %s", d->name,
       engine, text, clattn_status_string(e), why);
    trial_free(&t);
}

static void test_device(const struct device *d)
{
    static const char *const rows[] = {
        "f16 b6 h2 q5 k333 d16 mask:b11k lse",
        "f16 b6 h2 q70 k333 d16 mask:b11k causal lse",
        "f16 b6 h2 q5 k333 d16 mask:b11k window90,20 kvstart:1,2,3,4,5,6 kvlen:9,300,333,333,40,222 splits3 lse",
        "f16 b6 h2 q5 k333 d16 mask:b11k blocks:3,32 lse",
        "f16 b6 h2 q5 k333 d16 mask:b11k invariant lse",
    };
    static const char *const engines[] = { "cpu", "row", "simt", "naive" };
    const char *emulated;
    enum { ROWS = sizeof rows / sizeof *rows, ENGINES = sizeof engines / sizeof *engines };
    static const size_t soon[ROWS] = { 0, 1, 3, 0, 1 };
    harness_unoptimised();
    for (size_t i = 0; i < ROWS; i++)
        for (size_t e = 0; e < ENGINES; e++)
            if (harness_turn((unsigned)(i * ENGINES + (e + i) % ENGINES), e == soon[i]))
                check(d, rows[i], engines[e]);
    for (size_t e = 0; (emulated = emulation(e, "nw2,rt1,bk16,qreg0")); e++)
        for (size_t i = 0; i < ROWS; i++)
            if (harness_shares((unsigned)(i + e)))
                check(d, rows[i], emulated);
}

int main(void)
{
    return each_device(test_device);
}
