/* quantised.c - K and V in int8, int4 and GGUF's types: every engine, every pair of types, groups of all kinds
 * SPDX-License-Identifier: Apache-2.0
 *
 * Against float64 on the values that the codes stand for. make check runs engines cpu, row and naive on some pairs and
 * groups, and simt, whose kernels are long, once; CLATTN_PART=1: all on all. */
#include "config.h"

#include "tests/lib/each.h"
#include "tools/oracle/convert.h"

/* One in so many of what takes turns, of which simulators have fewer: they are slow. */
static unsigned one_in(unsigned n)
{
    return harness_flag("CLATTN_QUICK") ? (3 * n + 1) / 2 : n;
}

/* Whether number i of an engine is run, of which make check has one in n, and of engine simt none. */
static int is_due(const char *engine, unsigned i, unsigned n)
{
    const int none = !strcmp(engine, "simt") && !harness_flag("CLATTN_QUICK");
    return harness_turn(i, !none && i % one_in(n) == 0);
}

static void check(const struct device *d, const char *engine, clattn_plan plan, const clattn_workload *c, int padded,
                  const struct caching *how, const char *text)
{
    char why[512] = "";
    struct trial t;
    if (trial_make_caches(&t, d->cl.context, c, padded ? UNEVEN : PLAIN, how))
        bail("%s: no buffers", text);
    ok(harness_run(d, &t, plan, why, sizeof why), "%s, %s%s%s, scales once along %d: %s %s", d->name, engine,
       padded ? ", padded" : "", how->subnormal ? ", subnormal" : "", how->once, text, why);
    trial_free(&t);
}

static clattn_workload read_case(const char *text)
{
    static const int32_t lengths[] = { 37, 0, 61, 1000000 };
    clattn_workload c = each_case(text);
    c.seed = 13;
    if (harness_flag("CLATTN_QUICK"))
        each_shorten(&c);
    memcpy(c.kv_len, lengths, sizeof lengths);
    return c;
}

/* Calls of one plan with scales along all axes, along some, along none; with gaps and without. */
static void test_problem(const struct device *d, const char *engine, unsigned n, const char *text)
{
    const clattn_workload c = read_case(text);
    const clattn_plan plan = each_plan(d, engine, &c.problem, text);
    for (unsigned i = 0; i < 16 && plan; i++) {
        const struct caching how = {
            .once = (int)i, .page = (int32_t)(1 + 5 * i % 23), .shared = i % 3 == 0, .bad = i % 2
        };
        if (i == 0 || harness_more() || (i + n) % one_in(16) == 0)
            check(d, engine, plan, &c, (i ^ i >> 1 ^ i >> 2) & 1, &how, text);
    }
}

/* ---- What is run ---- */

/* Every pair of storage types, of which one at least is quantised. */
static void test_pairs(const struct device *d, const char *engine, unsigned n)
{
    enum { PLAIN_TYPES = 3, MOST = 32 };
    const char *types[MOST] = { "f32", "f16", "bf16" };
    unsigned n_types = PLAIN_TYPES;
    for (int type = 0; n_types < MOST - 2 && (type = convert_next(type, 1));)
        types[n_types++] = convert_type(type)->name;
    types[n_types++] = "int8:16z";
    types[n_types++] = "int4:32z";
    for (unsigned k = 0; k < n_types; k++)
        for (unsigned v = 0; v < n_types; v++) {
            char text[128];
            if ((k < PLAIN_TYPES && v < PLAIN_TYPES) ||
                !is_due(engine, k * 4 + v + n, harness_flag("CLATTN_QUICK") ? 32 : 64))
                continue;
            snprintf(text, sizeof text, "%s b4 h4/2 q3 k64 d64%s%s k:%s v:%s kvlen:9,9,9,9%s lse",
                     types[(k + v) % PLAIN_TYPES], v % 3 ? "" : "/96", k % 2 ? "" : " page8", types[k], types[v],
                     v % 2 ? " causal" : "");
            test_problem(d, engine, k + v, text);
        }
}

/* Widths that fill no vector, groups that are not whole, a scale for each element, varlen sequences, many rows. */
static void test_rest(const struct device *d, const char *engine, unsigned n)
{
    static const char *const texts[] = {
        "f32 b4 h2/1 q3 k64 d40 k:int8:16z v:int8:32 kvlen:9,9,9,9 lse",
        "f32 b4 h2/1 q3 k64 d72/20 k:int4:16 v:int4:16z kvlen:9,9,9,9 causal lse",
        "f32 b4 h2/1 q3 k64 d20/72 k:int4z v:int8:64 page8 kvlen:9,9,9,9 lse",
        "f32 b4 h2/1 q3 k64 d40 k:int8:1z v:int4:1 kvlen:9,9,9,9 lse",
        "f16 b4 h2/1 q3 k64 d36/33 k:int4:1z v:int8:1 page8 kvlen:9,9,9,9 lse",
        "bf16 b4 h2 q3 k64 d9/7 k:int8 v:int8:1z kvlen:9,9,9,9 lse",
        "f32 b4 h2 q3 k64 d6/2 k:int4:1 v:int4z page8 kvlen:9,9,9,9 lse",
        "f32 b4 h2/1 q3 k64 d128/576 k:int8:48 v:int4:64z kvlen:9,9,9,9 lse",
        "f32 b4 h4/2 q3 k64 d32 k:int8:16z v:q4_0 causal varlen lse",
        "f32 b2 h2/1 q35 k80 d64 k:q8_0 v:int8 softcap5 causal lse",
        "f16 b2 h2/1 q70 k140 d64 k:int4:32z v:q4_0 page8 causal lse",
        "bf16 b2 h4/2 q35 k80 d64/32 k:q5_1 v:q4_1 softcap5 causal lse",
        "f32 b2 h1 q3 k0 d8 k:int8 v:int4 lse", "f32 b0 h1 q3 k5 d32 k:q8_0 v:int8 page4 lse",
    };
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        if (is_due(engine, i + n, 8))
            test_problem(d, engine, i + n, texts[i]);
}

/* Scales below the smallest normal number of their type, f16 or f32: they count as clattn.h says. */
static void test_subnormal(const struct device *d, const char *engine, unsigned n)
{
    static const struct {
        const char *text;
        int halves; /* of scales in f16 */
    } rows[] = {
        { "f32 b2 h2/1 q3 k40 d64 k:q8_0 v:q4_0 scale10000 lse", 1 },
        { "f32 b2 h2/1 q3 k40 d32/96 k:q4_0 v:q8_0 scale10000 lse", 1 },
        { "f32 b2 h2/1 q3 k40 d96/32 k:q4_1 v:q5_0 scale10000 lse", 1 },
        { "f32 b2 h2/1 q3 k40 d64 k:q5_0 v:q5_1 scale10000 lse", 1 },
        { "f32 b2 h2/1 q3 k40 d40 k:int8:16z v:int4 scale1e36 lse", 0 },
        { "f32 b2 h2/1 q3 k40 d36/24 k:int4:1 v:int8:16z scale1e36 lse", 0 },
    };
    cl_device_fp_config fp = 0;
    clGetDeviceInfo(d->cl.device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof fp, &fp, NULL);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_due(engine, i + n, 4))
            continue;
        const clattn_workload c = read_case(rows[i].text);
        const struct caching how = { .subnormal = 1 };
        if (!rows[i].halves && !(fp & CL_FP_DENORM)) {
            skip("%s: this device may take subnormal numbers in f32 for 0", rows[i].text);
            continue;
        }
        const clattn_plan plan = each_plan(d, engine, &c.problem, rows[i].text);
        if (plan)
            check(d, engine, plan, &c, 0, &how, rows[i].text);
    }
}

/* Vectors shorter than those of wide CPUs begin within blocks and groups, too. Rows with gaps do not begin at multiples
 * of four bytes, and are read byte by byte. */
static void test_begins(const struct device *d)
{
    static const struct {
        const char *engine, *text;
    } rows[] = {
        { "row w4,nr2,rk2,rd2,bk16", "f32 b4 h4/2 q3 k64 d64/96 k:q4_0 v:q8_0 kvlen:9,9,9,9 lse" },
        { "row w8,nr1,rk4,rd4,bk16", "f16 b4 h4/2 q3 k64 d96/64 page8 k:q8_0 v:q4_0 kvlen:9,9,9,9 causal lse" },
        { "row w4,nr2,rk2,rd2,bk16", "f32 b4 h4/2 q3 k64 d64/44 k:int4:32z v:int8:16 kvlen:9,9,9,9 lse" },
        { "row w4,nr2,rk2,rd2,bk16", "f32 b4 h4/2 q3 k64 d64/96 k:q5_1 v:q4_1 kvlen:9,9,9,9 lse" },
        { "row w8,nr1,rk4,rd4,bk16", "f16 b4 h4/2 q3 k64 d96/64 page8 k:q4_1 v:q5_0 kvlen:9,9,9,9 causal lse" },
        { "simt", "f32 b4 h2/1 q3 k64 d40/36 k:int8:16 v:int8 kvlen:9,9,9,9 lse" },
        { "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", "f32 b4 h2/1 q3 k64 d40/36 k:int4 v:int4:16z kvlen:9,9,9,9 lse" },
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (each_is_chosen(rows[i].engine) && is_due(rows[i].engine, i, i < 5 ? 2 : 4))
            test_problem(d, rows[i].engine, 15, rows[i].text); /* without gaps and with them */
}

static void test_device(const struct device *d)
{
    const char *engine;
    harness_unoptimised();
    for (unsigned e = 0; (engine = harness_engine(e)); e++) {
        if (!each_is_chosen(engine))
            continue;
        test_pairs(d, engine, e);
        test_rest(d, engine, e);
        test_subnormal(d, engine, e);
    }
    test_begins(d);
}

int main(void)
{
    return each_device(test_device);
}
