/* varlen.c - varlen sequences at their edges: half packed, cut off, and lists that lie
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/convert.h"
#include "tests/lib/each.h"
#include "tests/lib/graded.h"

/* Only the queries are packed, or only the keys; the others, which the flag says, are padded. */
static clattn_workload half_packed(const char *text, uint32_t flag)
{
    clattn_workload c = each_case(text);
    c.problem.flags &= ~flag;
    *(flag == CLATTN_CU_Q ? &c.problem.sizes.total_q : &c.problem.sizes.total_k) = 0;
    return c;
}

static void test_half(const struct device *d, const char *text, uint32_t flag, enum layout layout)
{
    const clattn_workload c = half_packed(text, flag);
    struct trial t;
    const cl_int e = trial_make(&t, d->cl.context, &c, layout);
    each_judge(d, &t, e, flag == CLATTN_CU_Q ? "only keys packed" : "only queries packed", text);
}

static void test_halves(const struct device *d)
{
    static const char *const text[] = { "f32 b4 h4/2 q21 k39 d16 varlen lse",
                                        "f32 b4 h4/2 q21 k39 d16 varlen causal lse",
                                        "f32 b4 h4/2 q21 k39 d16 varlen alibi bias:bhqk lse",
                                        "f32 b4 h2 q21 k39 d16 varlen causal qlen:21,3,0,9 kvlen:1,39,20,5 lse" };
    size_t i;
    for (i = 0; i < sizeof text / sizeof *text; i++) {
        const enum layout layout = i % 2 ? UNEVEN : PADDED;
        test_half(d, text[i], CLATTN_CU_Q, layout);
        test_half(d, text[i], CLATTN_CU_K, layout);
    }
}

static void test_half_gradients(const struct device *d, const char *text, const char *config, uint32_t flag,
                                enum layout layout)
{
    enum { ALL = 1 << GRADED_DLSE | 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV | GRADED_OTHERS };
    const clattn_workload c = half_packed(text, flag);
    struct graded g;
    char why[1024] = "";
    cl_int e = graded_make(&g, d->cl.context, d->queue, &c, layout, ALL);
    const clattn_plan plan = each_plan(d, config, &g.t.c.problem, text);
    e = e ? e : graded_run(&g, plan, d->queue);
    ok(!e && graded_verify(&g, d->queue, why, sizeof why), "%s: gradients, only %s packed, %s: %s (%s %s)",
       d->name, flag == CLATTN_CU_Q ? "keys" : "queries", layout_name(layout), text, clattn_status_string(e), why);
    graded_free(&g);
}

/* Padded keys may be those of all sequences, packed ones never are. make check has one row. */
static void test_halves_of_gradients(const struct device *d)
{
    static const enum layout layouts[] = { PLAIN, PADDED, UNEVEN, SHARED };
    static const struct {
        const char *text, *config;
    } rows[] = {
        { "f32 b4 h4/2 q21 k39 d16 varlen causal bias:1hqk lse bwd", NULL },
        { "f32 b3 h2 q39 k21 d9/16 varlen alibi sink lse bwd", NULL },
        { "f32 b4 h4/2 q21 k39 d16 varlen causal alibi sink lse bwd", "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0" },
    };
    harness_unoptimised();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
            if (harness_turn(i, i == 1)) {
                test_half_gradients(d, rows[i].text, rows[i].config, CLATTN_CU_Q, layouts[l]);
                test_half_gradients(d, rows[i].text, rows[i].config, CLATTN_CU_K, layouts[l]);
            }
}

/* A sequence of more rows than the call says the longest has: what is beyond is neither read nor written. */
static void test_cut_off(const struct device *d, const char *text)
{
    const clattn_workload c = each_case(text);
    struct trial t;
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    int i;
    if (!e) { /* one head: the values stay where they are */
        t.sizes.nq = t.q.n[2] = t.o.n[2] = t.lse.n[2] -= 3;
        t.sizes.nk = t.k.n[2] = t.v.n[2] -= 7;
        trial_fill_lengths(&t);
        e = trial_find_kept(&t);
    }
    if (!e) {
        trial_store_inputs(&t);
        e = trial_reset(&t, d->queue);
    }
    for (i = 0; i < 3 && !e; i++)
        e = image_write(&t.image[i], d->queue);
    each_judge(d, &t, e, "sequences longer than the longest are cut off", text);
}

/* ---- Lists that lie ---- */

static cl_int write_list(const struct device *d, struct image *im, size_t offset, const int32_t *list, size_t n)
{
    memcpy(im->byte + offset * sizeof *list, list, n * sizeof *list);
    return image_write(im, d->queue);
}

/* 1 when nothing but packed rows differs from the image. */
static int rows_alone(const struct device *d, const struct tensor *x)
{
    unsigned char *now = image_read(x->image, d->queue);
    const size_t size = convert_size(x->type);
    int64_t h, n;
    int good;
    if (!now)
        return 0;
    for (h = 0; h < x->n[1]; h++)
        for (n = 0; n < x->total; n++) {
            const size_t at = (x->offset + (size_t)(h * x->stride[1] + n * x->stride[2])) * size;
            memcpy(x->image->byte + at, now + at, (size_t)x->width * size);
        }
    good = !memcmp(x->image->byte, now, x->image->size);
    free(now);
    return good;
}

/* Whatever the lists hold, nothing outside the packed rows is written, and the plan works on. */
static void test_lies(const struct device *d)
{
    static const char text[] = "f32 b4 h2 q9 k20 d16 varlen causal lse";
    static const int32_t lies[][5] = { { 0, 1000000000, 3, -5, 23 },          { -1000000000, 5, 5, 5, 1000000000 },
                                       { 23, 20, 10, 5, 0 },                   { 100, 100, 100, 100, 100 },
                                       { INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN },
                                       { -7, -6, -5, -4, -3 },                 { 0, 23, 0, 23, 0 } };
    size_t i;
    for (i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct fixture f;
        each_open(&f, d, text, PADDED);
        cl_int e = write_list(d, &f.t.list[CU_Q], f.t.args.cu_q.offset, lies[i], 5);
        e = e ? e : write_list(d, &f.t.list[CU_K], f.t.args.cu_k.offset, lies[(i + 2) % 7], 5);
        e = e ? e : trial_run(&f.t, f.plan, d->queue);
        ok(!e && rows_alone(d, &f.t.o) && rows_alone(d, &f.t.lse),
           "%s: beginnings that lie, %zu, write nothing elsewhere (%s): %s", d->name, i, clattn_status_string(e), text);
        fixture_close(&f);
    }
}

static void test_device(const struct device *d)
{
    test_halves(d);
    test_cut_off(d, "f32 b1 h1 q21 k39 d16 varlen lse");
    test_cut_off(d, "f32 b1 h1 q21 k39 d16 varlen causal lse");
    test_cut_off(d, "f32 b1 h1 q21 k39 d16 varlen causal qlen:20 kvlen:37 kvstart:2 lse");
    test_lies(d);
    test_halves_of_gradients(d); /* last, as it says */
}

int main(void)
{
    return each_device(test_device);
}
