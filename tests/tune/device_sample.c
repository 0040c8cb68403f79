/* device_sample.c - what the library sees of a kernel whose outputs and inputs are changed behind its back
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every call is right, and is changed when it is over. So each test says exactly what a look has to find, and where.
 * make check has some of the problems, in which each type and kind of input is; CLATTN_PART=1: all. */
#include "config.h"

#include "src/api/handle.h"
#include "src/judge/judge.h"
#include "tests/tune/bed.h"

/* ---- Calls that are changed afterwards ---- */

static struct {
    cl_mem mem; /* NULL: nothing is changed */
    size_t at, n;
    unsigned char bytes[8];
    int from, calls; /* the calls from the from-th on are changed */
    bool of_lse;     /* of a merge, what is changed */
    enum { ALL, NO_LSE, NOTHING } writes;
    clattn_sizes sizes;
    size_t k_offset, v_offset, scale_offset;
} fault; /* and what the last call was given */

static void change(cl_command_queue queue)
{
    if (++fault.calls >= fault.from && fault.mem &&
        (clFinish(queue) ||
         clEnqueueWriteBuffer(queue, fault.mem, CL_TRUE, fault.at, fault.n, fault.bytes, 0, NULL, NULL)))
        bail("a buffer cannot be changed");
}

cl_int __real_launch_run(struct launch *, const struct operation *, cl_command_queue, const void *args,
                         const struct waits *, struct why *);
cl_int __wrap_launch_run(struct launch *l, const struct operation *what, cl_command_queue queue, const void *args,
                         const struct waits *waits, struct why *why);

static cl_int run_forward(struct launch *l, cl_command_queue queue, const clattn_forward_args *args,
                          const struct waits *waits, struct why *why)
{
    clattn_forward_args a = *args;
    cl_int status;
    if (fault.writes == NO_LSE)
        a.lse.mem = NULL;
    if (fault.writes == NOTHING)
        status = clEnqueueMarkerWithWaitList(queue, 0, NULL, waits->event);
    else
        status = __real_launch_run(l, &launch_forward, queue, &a, waits, why);
    fault.sizes = *args->sizes;
    fault.k_offset = args->k.offset;
    fault.v_offset = args->v.offset;
    fault.scale_offset = args->k_scale.offset;
    if (!status)
        change(queue);
    return status;
}

static cl_int run_block_map(struct launch *l, cl_command_queue queue, const clattn_forward_args *args,
                            const struct waits *waits, struct why *why)
{
    const cl_int status = __real_launch_run(l, &launch_block_map, queue, args, waits, why);
    if (!status) {
        fault.mem = fault.n ? args->block_map.mem : NULL;
        change(queue);
    }
    return status;
}

static cl_int run_merge(struct launch *l, cl_command_queue queue, const clattn_merge_args *args,
                        const struct waits *waits, struct why *why)
{
    const cl_int status = __real_launch_run(l, &launch_merge, queue, args, waits, why);
    if (!status) {
        fault.mem = !fault.n ? NULL : fault.of_lse ? args->lse.mem : args->o.mem;
        change(queue);
    }
    return status;
}

static cl_int run_scores(struct launch *l, cl_command_queue queue, const clattn_scores_args *args,
                         const struct waits *waits, struct why *why)
{
    const cl_int status = __real_launch_run(l, &launch_scores, queue, args, waits, why);
    if (!status) {
        fault.mem = fault.n ? args->scores.mem : NULL;
        change(queue);
    }
    return status;
}

cl_int __wrap_launch_run(struct launch *l, const struct operation *what, cl_command_queue queue, const void *args,
                         const struct waits *waits, struct why *why)
{
    return what == &launch_forward ? run_forward(l, queue, args, waits, why)
           : what == &launch_merge ? run_merge(l, queue, args, waits, why)
           : what == &launch_scores ? run_scores(l, queue, args, waits, why)
                                    : run_block_map(l, queue, args, waits, why);
}

static void arm(cl_mem mem, size_t at, const void *bytes, size_t n, int from)
{
    memset(&fault, 0, sizeof fault);
    fault.mem = mem;
    fault.at = at;
    fault.n = n;
    fault.from = from;
    memcpy(fault.bytes, bytes, n);
}
static void disarm(void)
{
    arm(NULL, 0, "", 0, 1);
}

/* ---- Beds ---- */

static double *want, *bound, *scratch; /* a row's */

static void *room(size_t n)
{
    void *const p = calloc(n + 1, sizeof(double));
    if (!p)
        bail("no memory");
    return p;
}

/* By engine naive: it is compiled fastest. mod: NULL for none. */
static void open_place(struct place *x, const struct device *d, const char *text, const clattn_score_mod *mod,
                       int64_t copies)
{
    clattn_workload c = each_case(text);
    c.problem.n_mods = mod != NULL;
    c.problem.mods = mod;
    disarm();
    place_build(x, d, text, &c.problem, "naive");
    place_open_bed(x, copies);
    want = room((size_t)x->sample.p.dv);
    bound = room((size_t)x->sample.p.dv);
    scratch = room(SAMPLE_SCRATCH * (size_t)x->sample.p.sizes.nk);
}

static void close_place(struct place *x)
{
    disarm();
    device_sample_close(&x->bed);
    launch_clear(&x->launch);
    free(want);
    free(bound);
    free(scratch);
}

/* Bytes before each output, and of all of it. */
static size_t guard_of(const struct place *x)
{
    return x->bed.args.lse.offset * sizeof(float);
}
static size_t size_of(cl_mem mem)
{
    size_t n = 0;
    if (clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof n, &n, NULL))
        bail("a buffer without a size");
    return n;
}

static unsigned char get_byte(const struct place *x, cl_mem mem, size_t at)
{
    unsigned char byte;
    if (clEnqueueReadBuffer(x->bed.queue, mem, CL_TRUE, at, 1, &byte, 0, NULL, NULL))
        bail("a buffer cannot be read");
    return byte;
}
static void put_byte(const struct place *x, cl_mem mem, size_t at, unsigned char byte)
{
    if (clEnqueueWriteBuffer(x->bed.queue, mem, CL_TRUE, at, 1, &byte, 0, NULL, NULL))
        bail("a buffer cannot be changed");
}

/* ---- Outside the outputs ---- */

static void test_guards(struct place *x)
{
    const cl_mem mem[] = { x->bed.o, x->bed.lse };
    int good = 0;
    for (int i = 0; i < 2; i++) {
        const size_t guard = guard_of(x), size = size_of(mem[i]);
        const size_t at[] = { 0, guard - 1, size - guard, size - 1 };
        for (int k = 0; k < 4; k++) {
            const unsigned char was = get_byte(x, mem[i], at[k]);
            arm(mem[i], at[k], "\0", 1, 1);
            good += place_judged(x, 1, true, k < 2 ? "before its output" : "behind its output");
            put_byte(x, mem[i], at[k], was);
        }
    }
    disarm();
    is_int(good, 8, "a byte before or behind O or LSE is seen: %s", x->text);
    ok(place_judged(x, 1, true, NULL), "and where there is none, all is right");
}

static void test_inputs(struct place *x)
{
    int good = 0, n = 0;
    for (int what = 0; what < SAMPLES; what++)
        for (int end = 0; end < 2 && x->bed.mem[what]; end++, n++) {
            const cl_mem mem = x->bed.mem[what];
            const size_t at = end ? size_of(mem) - 1 : 0;
            const unsigned char was = get_byte(x, mem, at), other = was ^ 1;
            arm(mem, at, &other, 1, 1);
            good += place_judged(x, 1, true, "changes its inputs");
            put_byte(x, mem, at, was);
        }
    disarm();
    ok(n >= 6 && good == n, "the first and the last byte of an input: of %d changes %d are seen: %s", n, good, x->text);
}

/* ---- Rows ---- */

static void say_where(char words[64], const int64_t at[3])
{
    snprintf(words, 64, "row %d of head %d, entry %d", (int)at[2], (int)at[1], (int)at[0]);
}

/* Element c of row i, or its LSE where c is dv: a little too far off, and not quite. */
static int element_is_seen(struct place *x, const int64_t at[3], int64_t c, double want, double bound)
{
    const bool is_o = c < x->sample.p.dv;
    const int type = is_o ? x->sample.p.o_type : CLATTN_F32;
    const size_t size = convert_size(type);
    const int64_t row = is_o ? sample_row(&x->sample, at[0], at[1], at[2]) * x->sample.p.dv + c
                             : sample_lse(&x->sample, at[0], at[1], at[2]);
    const size_t place = guard_of(x) + (size_t)row * size;
    unsigned char bytes[8];
    char words[64];
    say_where(words, at);
    if (isinf(want)) {
        arm(x->bed.lse, place, "\0\0\0", size, 1);
        return place_judged(x, 1, false, words);
    }
    store_near(type, want, bound, true, c & 1, bytes);
    arm(is_o ? x->bed.o : x->bed.lse, place, bytes, size, 1);
    const int seen = place_judged(x, 1, false, words);
    store_near(type, want, bound, false, c & 1, bytes);
    arm(is_o ? x->bed.o : x->bed.lse, place, bytes, size, 1);
    return seen && place_judged(x, 1, false, NULL);
}

static void place_of(const struct place *x, int64_t i, int64_t at[3])
{
    const clattn_sizes *z = &x->sample.p.sizes;
    at[0] = i / z->nq / z->h;
    at[1] = i / z->nq % z->h;
    at[2] = i % z->nq;
}
static int64_t count_rows(const struct place *x)
{
    const clattn_sizes *z = &x->sample.p.sizes;
    return z->b * z->h * z->nq;
}

/* Of a row all of them, or the first, the last and LSE. */
static void test_elements(struct place *x, bool all)
{
    const int64_t last = x->sample.p.dv - 1;
    int good = 0, n = 0;
    for (int64_t i = 0; i < count_rows(x); i++) {
        int64_t at[3];
        place_of(x, i, at);
        if (sample_row(&x->sample, at[0], at[1], at[2]) < 0)
            continue;
        const struct answer a = sample_answer(&x->sample, at[0], at[1], at[2], want, bound, scratch);
        for (int64_t c = 0; c <= last + 1; c += all || c >= last || !last ? 1 : last, n++)
            good += c <= last ? element_is_seen(x, at, c, want[c], bound[c])
                              : element_is_seen(x, at, c, a.lse, a.lse_bound);
    }
    ok(n > 20 && good == n, "of %d elements each is seen that is just too far off, and passes just before: %d: %s", n,
       good, x->text);
}

/* Every third row, the first of all among them. */
static void test_steps(struct place *x)
{
    const size_t size = convert_size(x->sample.p.o_type);
    const double much = 1000;
    int good = 0, n = 0;
    unsigned char bytes[8];
    convert_store(x->sample.p.o_type, &much, bytes, 1);
    for (int64_t i = 0; i < count_rows(x); i++) {
        int64_t at[3];
        char words[64];
        place_of(x, i, at);
        say_where(words, at);
        const int64_t row = sample_row(&x->sample, at[0], at[1], at[2]);
        if (row < 0)
            continue;
        arm(x->bed.o, guard_of(x) + (size_t)(row * x->sample.p.dv) * size, bytes, size, 1);
        good += place_judged(x, 3, false, i % 3 ? NULL : words);
        n++;
    }
    is_int(good, n, "every third row is looked at: %s", x->text);
}

/* What no comparison may let pass: no number, and what was never written, though it was the time before. */
static void test_poison(struct place *x)
{
    static const unsigned char poison[] = { 255, 255, 255, 255, 255, 255, 255, 255 };
    const double nan = (double)NAN;
    const size_t size = convert_size(x->sample.p.o_type), last = (size_t)x->sample.p.dv - 1;
    const char *const where = "row 0 of head 0, entry 0";
    unsigned char bytes[8];
    convert_store(x->sample.p.o_type, &nan, bytes, 1);
    arm(x->bed.o, guard_of(x), bytes, size, 1);
    int good = place_judged(x, 1, false, x->sample.p.n_mods ? NULL : where);
    arm(x->bed.o, guard_of(x) + last * size, poison, size, 1);
    good += place_judged(x, 1, false, where);
    arm(x->bed.lse, guard_of(x), poison, sizeof(float), 1);
    good += place_judged(x, 1, false, where);
    disarm();
    good += place_judged(x, 1, false, NULL);
    memcpy(bytes, x->bed.seen_lse + guard_of(x), sizeof(float));
    fault.writes = NO_LSE;
    good += place_judged(x, 1, false, where);
    arm(x->bed.lse, guard_of(x), bytes, sizeof(float), 1); /* of the first row LSE alone is there */
    fault.writes = NOTHING;
    good += place_judged(x, 1, false, where);
    disarm();
    is_int(good, 6, "what is not written is seen, NaN only where the answer is known: %s", x->text);
}

/* ---- Twice ---- */

static void test_repeat(struct place *x)
{
    const cl_mem mem[] = { x->bed.o, x->bed.lse };
    int good = 0;
    for (int i = 0; i < 4; i++) {
        const size_t at = i % 2 ? size_of(mem[i / 2]) - guard_of(x) - 1 : guard_of(x);
        const unsigned char other = (unsigned char)((i / 2 ? x->bed.seen_lse : x->bed.seen)[at] ^ 1);
        arm(mem[i / 2], at, &other, 1, 2);
        good += place_judged(x, 1, true, "a second run gives other bits") && fault.calls == 2;
        arm(mem[i / 2], at, &other, 1, 2);
        good += place_judged(x, 1, false, NULL) && fault.calls == 1;
    }
    is_int(good, 8, "a bit that differs the second time is seen, if there is one: %s", x->text);
}

/* ---- Copies, and calls of fewer rows ---- */

static void test_copies(const struct device *d)
{
    enum { COPIES = 3 };
    struct place x;
    int good = 0;
    open_place(&x, d, "f32 b2 h2 q3 k7 d32/5 k:int8:16", NULL, COPIES);
    const size_t k = (size_t)sample_count(&x.sample, SAMPLE_K), v = (size_t)sample_count(&x.sample, SAMPLE_V);
    for (size_t i = 1; i <= 2 * COPIES; i++)
        good += place_judged(&x, 1, false, NULL) && fault.k_offset == i % COPIES * k &&
                fault.v_offset == i % COPIES * v && fault.scale_offset == i % COPIES * k / 16;
    is_int(good, 2 * COPIES, "copies of K and V, and of scales, are used in turn, and are alike");
    close_place(&x);
}

/* Rows of every head that are right, after a call of the first so many; -1 where another one was written. */
static int count_right(struct place *x, int64_t rows)
{
    static const unsigned char poison[] = { 255, 255, 255, 255 };
    const size_t bytes = x->bed.o_bytes, width = (size_t)x->sample.p.dv;
    unsigned char *const seen = room(bytes);
    int right = 0;
    if (clEnqueueReadBuffer(x->bed.queue, x->bed.o, CL_TRUE, guard_of(x), bytes, seen, 0, NULL, NULL))
        bail("O cannot be read");
    for (int64_t i = 0; i < count_rows(x) && right >= 0; i++) {
        int64_t at[3];
        place_of(x, i, at);
        const unsigned char *const got = seen + (size_t)sample_row(&x->sample, at[0], at[1], at[2]) * width * 4;
        sample_answer(&x->sample, at[0], at[1], at[2], want, bound, scratch);
        int good = 1;
        for (size_t c = 0; c < width; c++)
            good = good && (at[2] < rows ? fabs(sample_load(CLATTN_F32, got + 4 * c) - want[c]) <= bound[c]
                                         : !memcmp(got + 4 * c, poison, 4));
        right = !good ? -1 : right + (at[2] < rows);
    }
    free(seen);
    return right;
}

static void test_rows(const struct device *d)
{
    enum { NQ = 5 };
    struct place x;
    struct why why = { "" };
    double seconds, event;
    open_place(&x, d, "f32 b2 h2 q5 k7 d6/5", NULL, 1);
    for (int64_t rows = 0; rows <= NQ + 1; rows++) {
        const unsigned char poison = 255;
        const int64_t want = rows && rows < NQ ? rows : NQ;
        if (clEnqueueFillBuffer(x.bed.queue, x.bed.o, &poison, 1, guard_of(&x), x.bed.o_bytes, 0, NULL, NULL))
            bail("O cannot be filled");
        const cl_int status = device_sample_run(&x.bed, &x.launch, rows, &seconds, &event, &why);
        ok(!status && fault.sizes.nq == want && count_right(&x, want) == 4 * want,
           "a call on %d of %d rows of each sequence finds them, and leaves the others (%s)", (int)rows, NQ, why.text);
    }
    close_place(&x);
}

/* ---- Block maps ---- */

static void test_map(const struct device *d)
{
    struct place x;
    struct why why = { "" };
    open_place(&x, d, "f32 b1 h1 q40 k70 d4 mask:11qk blocks:32,32", NULL, 1);
    const int64_t n = sample_count(&x.sample, SAMPLE_MAP);
    ok(!judge_pass(PASS_BLOCK_MAP, &x.sample, &x.launch, 1, false, &why), "a block map is made right");
    int good = 0;
    for (int64_t i = 0; i < n; i++) {
        const unsigned char other = (unsigned char)((sample_map_of_mask(&x.sample, i) + 1) % 3);
        char words[32];
        snprintf(words, sizeof words, "block %d", (int)i);
        arm(NULL, (size_t)i, &other, 1, 1);
        const cl_int status = judge_pass(PASS_BLOCK_MAP, &x.sample, &x.launch, 1, false, &why);
        good += status == CLATTN_ERROR_WRONG_RESULT && strstr(why.text, words) != NULL;
    }
    ok(n == 6 && good == n, "each of its %d blocks that is made wrong is seen: %d", (int)n, good);
    close_place(&x);
}

/* ---- Merging ---- */

/* Every number that is merged wrong. */
static void test_merge(const struct device *d)
{
    enum { DV = 5, ROWS = 15 }; /* as many as judge_merge.c has */
    struct place x;
    struct why why = { "" };
    int good = 0, n = 0;
    open_place(&x, d, "f16 b1 h2 q3 k40 d6/5 o:f32", NULL, 1);
    ok(!judge_pass(PASS_MERGE, &x.sample, &x.launch, 1, false, &why), "partial results are merged right: %s", why.text);
    for (int of_lse = 0; of_lse < 2; of_lse++)
        for (int i = 0; i < (of_lse ? ROWS : ROWS * DV); i++, n++) {
            const float wrong = 9;
            arm(NULL, (size_t)i * sizeof wrong, &wrong, sizeof wrong, 1);
            fault.of_lse = of_lse;
            const cl_int status = judge_pass(PASS_MERGE, &x.sample, &x.launch, 1, false, &why);
            good += status == CLATTN_ERROR_WRONG_RESULT && strstr(why.text, "merges");
        }
    is_int(good, n, "each of %d numbers that is merged wrong is seen", n);
    close_place(&x);
}

/* ---- Scores ---- */

/* Every element of every stage that is written wrong, those too where a row has no score; guards; and what is known
 * where a caller's text changes scores. */
static void test_scores(const struct device *d)
{
    static const char text[] = "f32 b2 h2/1 q3 k9 d6/3 causal kvlen:9,4 sink dropout0.3 lse";
    static const clattn_score_mod half = { "s = s * 0.5f;", NULL, 0 };
    enum { N = 2 * 2 * 3 * 9, FIRST = 2 }; /* behind the forward call */
    for (int modded = 0; modded < 2; modded++) {
        clattn_workload c = each_case(text);
        struct place x;
        struct why why = { "" };
        int good = 0, n = 0, seen = 0;
        c.problem.flags |= CLATTN_SCORES;
        c.problem.n_mods = modded;
        c.problem.mods = modded ? &half : NULL;
        disarm();
        place_build(&x, d, text, &c.problem, "naive");
        place_open_bed(&x, 1);
        ok(!judge_pass(PASS_SCORES, &x.sample, &x.launch, 1, true, &why), "scores are written right: %s", why.text);
        for (int i = 0; i < 4 * N; i++) {
            const float wrong = 0.7f;
            char words[16];
            snprintf(words, sizeof words, "stage %d", i / N);
            arm(NULL, DEVICE_SAMPLE_GUARD + (size_t)(i % N) * sizeof wrong, &wrong, sizeof wrong, FIRST + i / N);
            const cl_int status = judge_pass(PASS_SCORES, &x.sample, &x.launch, 1, false, &why);
            n += !modded || i < N;
            good += status == CLATTN_ERROR_WRONG_RESULT && strstr(why.text, words) != NULL;
        }
        is_int(good, n, "each of %d elements that is written wrong is seen%s", n, modded ? ", before the mod" : "");
        for (int i = 0; i < 4 * N; i++) {
            const unsigned char blank[4] = { DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_POISON,
                                             DEVICE_SAMPLE_POISON };
            arm(NULL, DEVICE_SAMPLE_GUARD + (size_t)(i % N) * sizeof blank, blank, sizeof blank, FIRST + i / N);
            seen += judge_pass(PASS_SCORES, &x.sample, &x.launch, 1, false, &why) == CLATTN_ERROR_WRONG_RESULT;
        }
        is_int(seen, 4 * N, "each that is not written is seen");
        for (int behind = 0; behind < 2; behind++) {
            arm(NULL, DEVICE_SAMPLE_GUARD + (behind ? N * sizeof(float) : (size_t)-1), "x", 1, FIRST);
            is_int(judge_pass(PASS_SCORES, &x.sample, &x.launch, 1, false, &why), CLATTN_ERROR_WRONG_RESULT,
                   "a byte %s them is seen: %s", behind ? "behind" : "before", why.text);
        }
        arm(NULL, DEVICE_SAMPLE_GUARD + 8, "x", 1, FIRST + 1); /* of the first stage */
        is_int(judge_pass(PASS_SCORES, &x.sample, &x.launch, N, true, &why), CLATTN_ERROR_WRONG_RESULT,
               "other bits in a second run are seen: %s", why.text);
        disarm();
        device_sample_close(&x.bed);
        launch_clear(&x.launch);
    }
}

static void test_device(const struct device *d)
{
    static const char *const texts[] = {
        "f32 b2 h2/1 q4 k7 d6/3 causal lse",
        "bf16 b2 h2 q3 k9 d5 lse",
        "f16 b3 h2/1 q4 k9 d4/6 varlen causal sink lse",
        "f32 b2 h4/2 q3 k9 d6/4 page4 kvlen:5,8 lse",
        "f16 b2 h4/2 q2 k9 d32/16 page4 k:q8_0 v:int4z kvlen:5,8 o:f32 lse",
        "f32 b3 h4/2 q3 k9 d8/20 varlen k:int8:1z v:int8:16 lse",
        "f32 b2 h2 q3 k9 d4 qlen:2,1 kvlen:5,6 kvstart:1,2 alibi bias:bhqk:f16 mask:bhqk blocks:32,32 sink lse",
    };
    static const clattn_score_mod half = { "s = s * 0.5f;", NULL, 0 };
    struct place x;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!harness_turn((unsigned)i, i == 0 || i == 2 || i == 4 || i == 6))
            continue;
        open_place(&x, d, texts[i], NULL, 1);
        test_guards(&x);
        test_inputs(&x);
        test_elements(&x, i == 0);
        test_steps(&x);
        test_poison(&x);
        test_repeat(&x);
        close_place(&x);
    }
    open_place(&x, d, texts[0], &half, 1);
    test_guards(&x);
    test_poison(&x);
    close_place(&x);
    test_copies(d);
    test_rows(d);
    test_map(d);
    test_merge(d);
    test_scores(d);
}

int main(void)
{
    return each_device(test_device);
}
