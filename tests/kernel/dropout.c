/* dropout.c - which weights are dropped: as clattn.h says, by every engine and tile, forward and backward, at random
 * SPDX-License-Identifier: Apache-2.0
 *
 * With Q = 0 all weights of a row are 1 / nk. V is the identity, and so is dO: O[q] has the row's weights as they are
 * multiplied with V, and dV[k] those of a column. So every decision can be read from results, and is held to Philox as
 * tools/oracle writes it, which known answers pin. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/emulations.h"
#include "tests/lib/graded.h"
#include "problem/dropout.h"
#include "tools/oracle/reference_dropout.h"

#include <math.h>

enum { N = 75, HEADS = 6 }; /* queries, keys and columns; of all entries */
static const double p = 0.3;
static const char words[] = "b2 h3 q75 k75 d8/75 dropout0.3 lse";

/* ---- The generator ---- */

/* Those that Random123 1.14 is tested with, kat_vectors. */
static void test_known_answers(void)
{
    static const struct {
        uint32_t counter[4];
        uint64_t key;
        int rounds;
        uint32_t words[4];
    } known[] = {
        { { 0, 0, 0, 0 }, 0, 7, { 0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48 } },
        { { ~0u, ~0u, ~0u, ~0u }, ~UINT64_C(0), 7, { 0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662 } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, UINT64_C(0x299f31d0a4093822), 7,
          { 0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a } },
        { { 0, 0, 0, 0 }, 0, 10, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { ~0u, ~0u, ~0u, ~0u }, ~UINT64_C(0), 10, { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, UINT64_C(0x299f31d0a4093822), 10,
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int bad = 0;
        for (int w = 0; w < 4; w++)
            bad += reference_philox(known[i].counter, known[i].key, known[i].rounds, w) != known[i].words[w];
        ok(!bad, "known answer %zu of Philox4x32, %d rounds", i, known[i].rounds);
    }
}

/* What is below it is left out: as many words as the probability says, rounded up. */
static void test_threshold(void)
{
    const double some[] = { 0x1p-32, 1.5 * 0x1p-32, 0.1, 0.25, 0.3, 0.5, 1 - 1.5 * 0x1p-32, 1 - 0x1p-32 };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        is_int(dropout_threshold(some[i]), (int64_t)ceil(ldexp(some[i], 32)), "the threshold of %.12g", some[i]);
}

/* ---- One element, at the word that decides ---- */

static uint32_t word_of(const struct trial *t)
{
    const uint32_t counter[4] = { 0, 0, 0, (uint32_t)t->x.dropout_offset };
    return reference_philox(counter, t->x.dropout_seed, 7, 0);
}

/* A weight whose word is w, with p = (w + more) / 2^32: left out by one more than by w itself. */
static void check_word(const struct device *d, const char *config, int more)
{
    static const char text[] = "f32 b1 h1 q1 k1 d8 dropout0.5 lse seed1";
    char why[1024] = "";
    clattn_workload c = each_case(text);
    clattn_plan plan = NULL;
    struct trial t;
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    const uint32_t word = word_of(&t);
    const struct dropout host = { ldexp((double)word + more, -32), t.x.dropout_seed, (uint32_t)t.x.dropout_offset };
    t.c.problem.dropout_p = host.p;
    e = e ? e : harness_plan(d, &t.c.problem, config, &plan, why, sizeof why);
    const int ran = !e && harness_fetch(d, &t, plan, why, sizeof why);
    int zeros = 0;
    for (int64_t i = 0; i < t.dv && ran; i++)
        zeros += t.o.value[i] == 0;
    ok(ran && zeros == (more ? t.dv : 0) && (dropout_factor(&host, 0, 0, 0) == 0) == more,
       "%s, %s: a word of %u with p of %u / 2^32 is %s", d->name, config, word, word + (uint32_t)more,
       more ? "left out" : "kept");
    if (!ran)
        diag("%s %s", clattn_status_string(e), why);
    trial_free(&t);
}

/* ---- Decisions of one call ---- */

struct decisions {
    unsigned char kept[HEADS][N][N];
};

static struct decisions expected(const struct trial *t)
{
    const struct reference r = trial_problem(t);
    struct decisions all;
    for (int i = 0; i < HEADS * N * N; i++) {
        const struct reference_line at = { .b = i / N / N / 3, .h = i / N / N % 3, .q = i / N % N };
        all.kept[i / N / N][at.q][i % N] = reference_factor(&r, &at, i % N) != 0;
    }
    return all;
}

/* Whether each element is 0 or 1 / nk / (1 - p), which is stored in few bits, as it should be. */
static int agree(const struct decisions *want, const struct tensor *x, int by_key, int type)
{
    const double most = type == CLATTN_BF16 ? 0.02 : 0.004, whole = 1 / (1 - p) / N;
    int bad = 0;
    for (int i = 0; i < HEADS * N * N; i++) {
        const int head = i / N / N, row = i / N % N, column = i % N;
        const int kept = by_key ? want->kept[head][column][row] : want->kept[head][row][column];
        bad += !(fabs(tensor_row(x, head / 3, head % 3, row)[column] - kept * whole) <= kept * whole * most);
    }
    return !bad;
}

static void fill(struct trial *t)
{
    for (int i = 0; i < HEADS * N; i++) {
        const int b = i / N / 3, h = i / N % 3, row = i % N;
        memset(tensor_row(&t->q, b, h, row), 0, (size_t)t->d * sizeof(double));
        for (int c = 0; c < N; c++)
            tensor_row(&t->v, b, h, row)[c] = c == row;
    }
}

/* `x`: where the decisions of a call on t show, if it ran; e and why: how that went. */
static void conclude(const struct device *d, const char *config, const char *text, cl_int e, int ran,
                     const char *why, const struct trial *t, const struct tensor *x, int by_key)
{
    if (e == CLATTN_ERROR_NOT_SUPPORTED) {
        skip("%s, %s: %s", d->name, config, why);
        return;
    }
    const struct decisions want = expected(t);
    const int good = ran && agree(&want, x, by_key, x->type);
    ok(good, "%s, %s drops what it should: %s", d->name, config, text);
    if (!good)
        diag("%s %s", clattn_status_string(e), why);
}

static void check_forward(const struct device *d, const char *type, const char *config)
{
    char text[128], why[1024] = "";
    struct trial t;
    clattn_plan plan = NULL;
    snprintf(text, sizeof text, "%s %s", type, words);
    const clattn_workload c = each_case(text);
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    if (!e) {
        fill(&t);
        e = trial_upload_inputs(&t, d->queue);
    }
    e = e ? e : harness_plan(d, &t.c.problem, config, &plan, why, sizeof why);
    const int ran = !e && harness_fetch(d, &t, plan, why, sizeof why);
    conclude(d, config, text, e, ran, why, &t, &t.o, 0);
    trial_free(&t);
}

static void check_backward(const struct device *d, const char *type, const char *config)
{
    char text[128], why[1024] = "";
    struct graded g;
    clattn_plan plan = NULL;
    snprintf(text, sizeof text, "%s %s bwd", type, words);
    const clattn_workload c = each_case(text);
    cl_int e = graded_make(&g, d->cl.context, d->queue, &c, PADDED, GRADED_ALL);
    if (!e) {
        fill(&g.t);
        for (int i = 0; i < HEADS * N; i++)
            for (int column = 0; column < N; column++)
                tensor_row(&g.x[GRADED_DOUT], i / N / 3, i / N % 3, i % N)[column] = column == i % N;
        e = trial_upload_inputs(&g.t, d->queue);
    }
    e = e ? e : graded_upload(&g, GRADED_DOUT, d->queue);
    e = e ? e : graded_truth(&g, d->queue);
    e = e ? e : harness_plan(d, &g.t.c.problem, config, &plan, why, sizeof why);
    e = e ? e : graded_run(&g, plan, d->queue);
    const int ran = !e && graded_fetch(&g, d->queue, why, sizeof why);
    conclude(d, config, text, e, ran, why, &g.t, &g.x[GRADED_DV], 1);
    graded_free(&g);
}

/* ---- Arguments ---- */

static cl_int run_with(const struct fixture *f, uint64_t seed, uint64_t offset)
{
    clattn_forward_args a = f->t.args;
    a.dropout_seed = seed;
    a.dropout_offset = offset;
    const cl_int e = clattn_enqueue_forward(f->plan, f->d->queue, &a, 0, NULL, NULL);
    clFinish(f->d->queue);
    return e;
}

static void test_arguments(const struct device *d)
{
    struct fixture with, without;
    each_open(&with, d, "f32 b1 h1 q3 k9 d8 dropout0.5", PLAIN);
    each_open(&without, d, "f32 b1 h1 q3 k9 d8", PLAIN);
    is_int(run_with(&with, UINT64_MAX, UINT32_MAX), CL_SUCCESS, "the largest seed and offset are taken");
    is_int(run_with(&with, 0, (uint64_t)UINT32_MAX + 1), CLATTN_ERROR_INVALID_ARGUMENT, "an offset of 2^32 is refused");
    is_int(run_with(&without, 1, UINT64_MAX), CL_SUCCESS, "without dropout neither matters");
    fixture_close(&with);
    fixture_close(&without);
}

/* ---- At random ---- */

/* How far a number of successes is off what is expected, in standard deviations. */
static double deviation(double successes, double trials, double chance)
{
    return fabs(successes - trials * chance) / sqrt(trials * chance * (1 - chance));
}

/* Over all (b, h, q, k): as often as asked for, and whatever happens to the element beside, in each axis, to that of
 * the next seed, and to that of the next offset. */
static void test_rate(double rate)
{
    enum { B = 2, H = 4, ROWS = 128, FAR = 6 };
    static const char *const beside[] = { "alone", "key", "query", "head", "entry", "seed", "offset" };
    for (size_t which = 0; which < sizeof beside / sizeof *beside; which++) {
        struct reference r = { .h = H, .dropout_seed = 7, .dropout_offset = 11 }, other = r;
        double n = 0, all = 0;
        r.p.dropout_p = other.p.dropout_p = rate;
        other.dropout_seed += which == 5;
        other.dropout_offset += which == 6;
        for (int i = 0; i < B * H * ROWS * ROWS; i++) {
            const int head = i / ROWS / ROWS;
            const struct reference_line at = { .b = head / H, .h = head % H, .q = i / ROWS % ROWS };
            struct reference_line next = at;
            next.b += which == 4;
            next.h += which == 3;
            next.q += which == 2;
            if (next.h == H)
                continue;
            const int dropped = reference_factor(&r, &at, i % ROWS) == 0;
            n += dropped && (!which || reference_factor(&other, &next, i % ROWS + (which == 1)) == 0);
            all++;
        }
        const double off = deviation(n, all, which ? rate * rate : rate);
        ok(off < FAR, "dropout %g, %s: %.2f standard deviations off", rate, beside[which], off);
    }
}

/* ---- All ---- */

/* Every engine, and every tile that it has by default. */
static void test_device(const struct device *d)
{
    static const char *const types[] = { "f32", "f16", "bf16", "f64" };
    const char *emulated;
    char config[128], text[128];
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        snprintf(text, sizeof text, "%s %s", types[i], words);
        if (harness_may_refuse_text(d, text, NULL)) {
            skip("%s has no %s", d->name, types[i]);
            continue;
        }
        for (unsigned e = 0; each_engine(d, types[i], words, e, config, sizeof config); e++)
            if (harness_turn(e + i, i == 0)) {
                check_forward(d, types[i], config);
                if (strcmp(config, "naive") && strcmp(config, "row"))
                    check_backward(d, types[i], config);
            }
        for (unsigned e = 0; i % 3 && (emulated = emulation(e, "nw1,rt1,bk16,qreg1")); e++)
            if (harness_turn(i + e, i == 1)) {
                check_forward(d, types[i], emulated);
                check_backward(d, types[i], emulated);
            }
    }
    for (unsigned e = 0; each_engine(d, "f32", words, e, config, sizeof config); e++) {
        check_word(d, config, 0);
        check_word(d, config, 1);
    }
    test_arguments(d);
    for (size_t i = 0; harness_config(d, "f32 b2 h3 q75 k75 d8/75 dropout0.3 lse", i, config, sizeof config); i++)
        if (harness_turn((unsigned)i, i % 8 == 0))
            check_forward(d, "f32", config);
}

int main(void)
{
    test_known_answers();
    test_threshold();
    test_rate(0.1);
    test_rate(0.5);
    return each_device(test_device);
}
