/* problem.c - problem strings: read, print, refuse, count
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"
#include "tests/lib/trial.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>

static cl_int parse(const char *text, clattn_workload *c, char *why, size_t len)
{
    memset(c, 0, sizeof *c);
    c->struct_size = sizeof *c;
    return clattn_workload_parse(text, c, why, len);
}

/* ---- Round trips ---- */

/* In the order of the grammar: printed as they are read. */
static const char *const canonical[] = {
    "f32 b1 h1 q1 k1 d1",
    "f16 b2 h32/8 q2048 k2048 d128 causal",
    "bf16 b0 h1 q0 k0 d576/512",
    "f64 b3 h6/2 q7 k9 d64/32 causal-tl",
    "f32 b1 h2 q3 k4 d5 k:f16",
    "f32 b1 h2 q3 k4 d5 v:bf16",
    "f16 b1 h2 q3 k4 d5 causal k:f32 v:bf16",
    "f32 b1 h2 q3 k4 d5 splits2 invariant seed7 lse",
    "f32 b1 h2 q3 k4 d5 causal off-7",
    "f32 b1 h2 q3 k4 d5 causal off0",
    "f32 b1 h2 q3 k4 d5 bthd",
    "f32 b1 h2 q3 k4 d5 window1073741824,1073741824",
    "f32 b1 h2 q3 k4 d5 scale0.5",
    "f32 b1 h2 q3 k4 d5 scale0",
    "f32 b1 h2 q3 k4 d5 scale-2",
    "f32 b1 h2 q3 k4 d5 scale0.1",
    "f64 b1 h2 q3 k4 d5 scale3e-300",
    "f32 b2 h2 q3 k4 d5 qlen:3,0",
    "f32 b2 h2 q3 k4 d5 kvlen:4,1",
    "f32 b2 h2 q3 k4 d5 kvstart:0,4",
    "f32 b1 h2 q3 k4 d5 seed7",
    "f32 b1 h2 q3 k4 d5 lse",
    "bf16 b2 h8/1 q30 k40 d59/33 causal k:f16 v:f16 off12 bthd scale0.25 qlen:30,1 kvlen:40,2 kvstart:1,0 seed99 lse",
    "f32 b1 h1 q1073741824 k1073741824 d1",
    "f32 b1 h2 q3 k4 d5 window255,0",
    "f32 b1 h2 q3 k4 d5 causal window-1,-1",
    "f32 b1 h2 q3 k4 d5 window7,1073741824 off0",
    "f32 b1 h2 q3 k4 d5 softcap0.5",
    "f32 b1 h2 q3 k4 d5 alibi off-3",
    "f32 b1 h2 q3 k4 d5 bias:bhqk",
    "f32 b1 h2 q3 k4 d5 bias:1111:bf16",
    "f64 b1 h2 q3 k4 d5 bias:b1q1:f64",
    "f32 b1 h2 q3 k4 d5 mask:1h1k",
    "f32 b1 h2 q3 k4 d5 blocks:128,64",
    "f32 b1 h2 q3 k4 d5 sink",
    "f32 b1 h2 q3 k4 d5 mod:alibi",
    "f32 b1 h2 q3 k4 d5 mod:a.b,C-d_9",
    "f32 b3 h2 q30 k40 d5 varlen",
    "f32 b1 h2 q3 k4 d5 page1",
    "f32 b1 h2 q3 k4 d5 page1073741824",
    "f16 b1 h2 q3 k4 d5 causal page16 off0",
    "f32 b1 h2 q3 k4 d5 k:int8",
    "f32 b1 h2 q3 k4 d5 v:int8z",
    "f16 b1 h2 q3 k4 d5 k:int8:1 v:int8:1z",
    "bf16 b1 h2 q3 k4 d80/64 k:int8:16 v:int8:32z",
    "f32 b1 h2 q3 k4 d576 k:int4:560z v:int4:16",
    "f32 b1 h2 q3 k4 d6/4 k:int4 v:int4z",
    "f32 b1 h2 q3 k4 d32/64 k:q8_0 v:q4_0",
    "bf16 b1 h2 q3 k4 d64/5 k:q4_0",
    "f32 b3 h2 q30 k40 d5 varlen k:int8z",
    "f32 b1 h2 q3 k4 d5 o:f16",
    "bf16 b1 h2 q3 k4 d5 o:f32",
    "f32 b1 h2 q3 k4 d5 splits1",
    "f64 b1 h2 q3 k4 d5 page3 splits1024",
    ("f16 b2 h8/2 q3 k4096 d128/64 causal page16 k:int8:32z v:q4_0 o:f32 off5 scale0.5 qlen:1,2 kvlen:4,5 splits7 "
     "seed9 lse"),
    ("bf16 b2 h8/1 q30 k40 d59/33 causal window3,4 softcap5 alibi bias:b11k:f16 mask:11qk blocks:16,16 sink mod:x,y "
     "varlen k:f16 v:f16 off12 scale0.25 qlen:30,1 kvlen:40,2 kvstart:1,0 seed99 lse")
};

static void test_canonical(const char *text)
{
    clattn_workload c, again;
    char printed[512] = "", why[256] = "";
    size_t needed = 0;
    if (!is_int(parse(text, &c, why, sizeof why), CL_SUCCESS, "reads: %s", text)) {
        diag("%s", why);
        return;
    }
    ok(clattn_workload_print(&c, printed, sizeof printed, &needed) == CL_SUCCESS && needed == strlen(printed) + 1,
       "prints, and knows the room: %s", text);
    is_str(printed, text, "prints what was read: %s", text);
    ok(parse(printed, &again, NULL, 0) == CL_SUCCESS && !memcmp(&c, &again, sizeof c), "reads back the same: %s", text);
}

/* Otherwise written: the printed form is a fixed point. */
static const char *const variants[] = { "f32  b1 h4/4 q3 k4 d5/5",
                                        " f32 b1 h2 q3 k4 d5 ",
                                        "f32 b1 h2 q3 k4 d5 lse causal seed3",
                                        "f32 b1 h2 q3 k4 d5 scale5e-1",
                                        "f16 b1 h2 q3 k4 d5 k:f16 v:f16",
                                        "f16 b1 h2 q3 k4 d5 o:f16",
                                        "f16 b1 h2 q3 k4 d64 k:int8:64z v:int8:64",
                                        "f16 b1 h2 q3 k4 d48 k:int8:64",
                                        "f16 b1 h2 q3 k4 d1 k:int8:1",
                                        "f32 b1 h2 q3 k4 d32 splits2 o:f16 v:q8_0 k:q4_0 page7",
                                        "f32 b1 h2 q3 k4 d5 scale0.1000000000000000055",
                                        "f32 b1 h2 q3 k4 d5 seed18446744073709551615",
                                        "f32 b1 h2 q3 k4 d5 seed0" };

static void test_variant(const char *text)
{
    clattn_workload c, again;
    char first[512] = "", second[512] = "";
    if (parse(text, &c, NULL, 0)) { /* may be refused, but then as syntax */
        is_int(parse(text, &c, NULL, 0), CLATTN_ERROR_SYNTAX, "refused as syntax: %s", text);
        return;
    }
    ok(clattn_workload_print(&c, first, sizeof first, NULL) == CL_SUCCESS &&
           parse(first, &again, NULL, 0) == CL_SUCCESS &&
           clattn_workload_print(&again, second, sizeof second, NULL) == CL_SUCCESS && !strcmp(first, second),
       "settles after one print ('%s', '%s'): %s", first, second, text);
}

static void test_fields(void)
{
    clattn_workload c;
    const clattn_problem *p = &c.problem;
    const clattn_sizes *s = &p->sizes;
    int good =
        !parse("bf16 b2 h8/2 q3 k4 d5/6 causal k:f16 off-9 bthd scale0.1 qlen:1,2 kvlen:3,4 kvstart:0,1 seed7 lse", &c,
               NULL, 0);
    ok(good && p->type == CLATTN_BF16 && p->k_type == CLATTN_F16 && (!p->v_type || p->v_type == CLATTN_BF16),
       "types land in their fields");
    ok(s->b == 2 && s->h == 8 && s->hk == 2 && s->nq == 3 && s->nk == 4 && p->d == 5 && p->dv == 6, "sizes do");
    ok(p->causal == 1 && p->align == CLATTN_ALIGN_OFFSET && s->offset == -9, "the diagonal does");
    ok(p->flags == (CLATTN_SCALE | CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START) && p->scale == 0.1,
       "scale, flags do");
    ok(c.q_len[1] == 2 && c.kv_len[0] == 3 && c.kv_start[1] == 1, "lists do");
    ok(c.bthd == 1 && c.lse == 1 && c.seed == 7, "bthd, lse and seed do");
    ok(c.struct_size == sizeof c && p->struct_size == sizeof *p, "struct sizes are set");
}

/* Scale and softcap at the last value that is taken and at the first that is not; f64 takes both. */
static void test_limits(void)
{
    static const struct {
        const char *taken, *refused;
    } rows[] = { { "scale1e38", "scale1.0000001e38" },
                 { "scale-1e38", "scale-1.0000001e38" },
                 { "softcap8e37", "softcap8.0000001e37" },
                 { "softcap1e-37", "softcap9.999999e-38" } };
    static const char *const types[] = { "f32", "f16", "bf16", "f64" };
    for (size_t i = 0; i < 4 * sizeof rows / sizeof *rows; i++) {
        const char *const type = types[i % 4];
        char text[128], beyond[128], why[256] = "";
        clattn_workload c;
        snprintf(text, sizeof text, "%s b1 h2 q3 k4 d5 %s", type, rows[i / 4].taken);
        snprintf(beyond, sizeof beyond, "%s b1 h2 q3 k4 d5 %s", type, rows[i / 4].refused);
        is_int(parse(text, &c, why, sizeof why), CL_SUCCESS, "%s is taken %s", text, why);
        is_int(parse(beyond, &c, why, sizeof why), i % 4 == 3 ? CL_SUCCESS : CLATTN_ERROR_INVALID_ARGUMENT,
               "%s is %s: %s", beyond, i % 4 == 3 ? "taken" : "refused", why);
    }
}

/* Every scale that a problem may have comes back bit by bit. */
static void test_scales(void)
{
    unsigned i, bad = 0, n = 20000;
    for (i = 0; i < n; i++) {
        clattn_workload c, again;
        char printed[256] = "";
        uint64_t bits = trial_hash(11, i, 0);
        double scale;
        if (i % 2) /* ordinary sizes every other time */
            bits = (bits & 0x800fffffffffffffu) | (1023 - 20 + bits % 40) << 52;
        memcpy(&scale, &bits, sizeof scale);
        if (!isfinite(scale) || fabs(scale) > 1e38 || fabs(scale) < (double)FLT_MIN)
            continue;
        if (parse("f32 b1 h2 q3 k4 d5 scale1", &c, NULL, 0))
            bail("a plain scale is refused");
        c.problem.scale = scale;
        if (!clattn_workload_print(&c, printed, sizeof printed, NULL) && !parse(printed, &again, NULL, 0) &&
            !memcmp(&again.problem.scale, &scale, sizeof scale))
            continue;
        if (bad++ < 5)
            diag("%.17g is read as %.17g: %s", scale, again.problem.scale, printed);
    }
    ok(!bad, "%u scales are printed and read back exactly, %u are not", n, bad);
}

/* ---- Refusals ---- */

static const struct {
    cl_int status;
    const char *text, *named; /* `why` names this */
} refusals[] = { { CLATTN_ERROR_SYNTAX, "", NULL },
                 { CLATTN_ERROR_SYNTAX, "f32", NULL },
                 { CLATTN_ERROR_SYNTAX, "f31 b1 h2 q3 k4 d5", "f31" },
                 { CLATTN_ERROR_SYNTAX, "b1 h2 q3 k4 d5", NULL },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4", NULL },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 nonsense", "nonsense" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 causalx", "causalx" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5x", "d5x" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 b2", "b2" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 causal causal", "causal" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 causal causal-tl", "causal" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 seed1 seed2", "seed2" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:f16 k:f16", "k:f16" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:f17", "k:f17" },
                 { CLATTN_ERROR_SYNTAX, "f32 b q3 k4 d5", "b" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2/ q3 k4 d5", "h2/" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 scale", "scale" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 scale1,5", "scale1,5" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 seed-1", "seed-1" },
                 { CLATTN_ERROR_SYNTAX, "f32 b2 h2 q3 k4 d5 qlen:1,", "qlen" },
                 { CLATTN_ERROR_SYNTAX, "f32 b2 h2 q3 k4 d5 qlen:1,x", "qlen" },
                 { CLATTN_ERROR_SYNTAX, "f32 b2 h2 q3 k4 d5 qlen:", "qlen" },
                 { 0, "f32 b2 h2 q3 k4 d5 qlen:1", "qlen" },
                 { 0, "f32 b2 h2 q3 k4 d5 kvlen:1,2,3", "kvlen" },
                 { 0, "f32 b256 h1 q9223372036854775807 k1 d1 varlen", NULL },
                 { 0, "f32 b1 h3/2 q3 k4 d5", NULL },
                 { 0, "f32 b1 h0 q3 k4 d5", NULL },
                 { 0, "f32 b1 h2 q3 k4 d0", NULL },
                 { 0, "f32 b1 h2 q3 k4 d577", NULL },
                 { 0, "f32 b1 h2 q3 k4 d5/577", NULL },
                 { 0, "f32 b-1 h2 q3 k4 d5", NULL },
                 { 0, "f32 b1 h2 q1073741825 k4 d5", NULL },
                 { 0, "f32 b99999999999999999999 h2 q3 k4 d5", NULL },
                 { 0, "f32 b1 h2 q3 k9223372036854775808 d5", NULL },
                 { 0, "f32 b1 h2 q3 k4 d4294967297", NULL },
                 { 0, "f32 b1 h2 q3 k4 d5 causal off99999999999999999999", NULL },
                 { 0, "f32 b1 h2 q3 k4 d5 seed18446744073709551616", NULL },
                 { 0, "f32 b1 h2 q3 k4 d5 scalenan", NULL },
                 { 0, "f32 b1 h2 q3 k4 d5 scaleinf", NULL },
                 { 0, "f32 b1 h2 q3 k4 d5 scale1e999", NULL },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d5 scale1e-44", "subnormal" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "bf16 b1 h2 q3 k4 d5 scale-1.1754942e-38", "subnormal" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f64 b1 h2 q3 k4 d5 scale2.2250738585072009e-308", "subnormal" },
                 { 0, "f32 b2 h2 q3 k4 d5 qlen:1,4294967296", NULL },
                 { 0, "f32 b257 h2 q3 k4 d5 kvlen:1", NULL },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 softcap", "softcap" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 softcap0", "softcap0" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 softcap-1", "softcap-1" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 softcapnan", "softcapnan" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 softcapinf", "softcapinf" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 softcap1e999", "softcap" },
                 { 0, "f32 b1 h2 q3 k4 d5 softcap1e-40", NULL },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 dropout", "dropout" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 dropout0", "dropout0" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 dropout1", "dropout1" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 dropout-0.5", "dropout-0.5" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 dropoutnan", "dropoutnan" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 dropoutinf", "dropoutinf" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 window", "window" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 window5", "window5" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 window5,", "window5," },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 window5,6,7", "window5,6,7" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 window-2,0", "window-2,0" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 window0,-2", "window0,-2" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 window0,1073741825", "window0,1073741825" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 bias:", "bias:" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 bias:11q", "bias:11q" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 bias:11qkk", "bias:11qkk" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 bias:11kq", "bias:11kq" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 bias:bhqk:", "bias:bhqk:" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 bias:bhqk:f12", "bias:bhqk:f12" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 mask:", "mask:" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 mask:bhq", "mask:bhq" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 mask:qk11", "mask:qk11" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 mask:11qk:f16", "mask:11qk:f16" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 blocks:", "blocks:" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 blocks:0,4", "blocks:0,4" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 blocks:4", "blocks:4" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 blocks:4,-1", "blocks:4,-1" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 blocks:4,0", "blocks:4,0" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 mod:", "mod:" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 mod:,a", "mod:,a" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 mod:a,", "mod:a," },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 mod:a,,b", "mod:a,,b" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 mod:a/b", "mod:a/b" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 alibi2", "alibi2" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 sink1", "sink1" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 varlen bthd", "varlen" },
                 { CLATTN_ERROR_NOT_SUPPORTED, "f32 b1 h2 q3 k4 d5 bias:11qk:f64", "f64" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 window1,2 window1,2", "twice" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 page", "page" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 page0", "page0" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 page-1", "page-1" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 page1073741825", "page1073741825" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 page16,2", "page16,2" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 page16 page16", "twice" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d5 varlen page16", "varlen" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 splits", "splits" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 splits0", "splits0" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 splits1025", "splits1025" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 splits2x", "splits2x" },
                 { CLATTN_ERROR_SYNTAX, "int8 b1 h2 q3 k4 d5", "int8" },
                 { CLATTN_ERROR_SYNTAX, "q8_0 b1 h2 q3 k4 d32", "q8_0" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:int7", "int8" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:", "k:" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:z", "k:z" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:int8:", "k:int8:" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:int8:0", "k:int8:0" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:int8:-16", "k:int8:-16" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:int8:577", "k:int8:577" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:int8:16y", "k:int8:16y" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:int8zz", "k:int8zz" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:int8z:16", "k:int8z:16" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 v:int8:16:16", "v:int8:16:16" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 k:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "k:aaa" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d64 k:int8:24", "k_group is 24" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d64 v:int4:2", "v_group is 2" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d5 k:int4", "k in int4 has rows of 5" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d4/5 v:int4", "v in int4 has rows of 5" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d48 k:q8_0", "48" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d32/80 v:q4_0", "80" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d64 k:q8_0:32", "k_group" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d64 v:q4_0z", "v has zero points" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d64 k:f16z", "k has zero points" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d64 v:f16:16", "v_group" },
                 { CLATTN_ERROR_NOT_SUPPORTED, "f64 b1 h2 q3 k4 d64 k:int8", "f64" },
                 { CLATTN_ERROR_NOT_SUPPORTED, "f64 b1 h2 q3 k4 d64 v:q8_0", "f64" },
                 { CLATTN_ERROR_NOT_SUPPORTED, "f64 b1 h2 q3 k4 d5 o:f32", "f64" },
                 { CLATTN_ERROR_NOT_SUPPORTED, "f32 b1 h2 q3 k4 d5 o:f64", "f64" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d64 o:int8", "o_type" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d5 bias:11qk:int8", "bias_type" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 o:", "o:" },
                 { CLATTN_ERROR_NOT_SUPPORTED, "f32 b1 h2 q3 k4 d5 page4 bwd", "paged" },
                 { CLATTN_ERROR_NOT_SUPPORTED, "f32 b1 h2 q3 k4 d5 k:int8 bwd", "quantised" },
                 { CLATTN_ERROR_NOT_SUPPORTED, "f32 b1 h2 q3 k4 d32 v:q4_0 bwd", "quantised" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d5 splits2 bwd", "splits" },
                 { CLATTN_ERROR_INVALID_ARGUMENT, "f32 b1 h2 q3 k4 d5 invariant bwd", "CLATTN_BATCH_INVARIANT" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 bwd bwd", "bwd" },
                 { CLATTN_ERROR_SYNTAX, "f32 b1 h2 q3 k4 d5 bwd1", "bwd1" } };

/* Status 0 in the table: any of the three that clattn_workload_parse() may give. */
static int refused(cl_int got, cl_int want)
{
    return want ? got == want
                : got == CLATTN_ERROR_SYNTAX || got == CLATTN_ERROR_NOT_SUPPORTED ||
                      got == CLATTN_ERROR_INVALID_ARGUMENT;
}

static void test_refusal(const char *text, cl_int want, const char *named)
{
    clattn_workload c, before;
    char why[256] = "";
    cl_int e;
    memset(&c, 0x5a, sizeof c);
    c.struct_size = sizeof c;
    before = c;
    e = clattn_workload_parse(text, &c, why, sizeof why);
    ok(refused(e, want), "refused (%s): %s", clattn_status_string(e), text);
    ok(!memcmp(&c, &before, sizeof c) && *why && (!named || strstr(why, named)), "untouched, with words ('%s'): %s",
       why, text);
}

/* Problems that the grammar has no words for. */
static void test_unspeakable(void)
{
    clattn_workload packed, c;
    char text[256];
    parse("f32 b2 h2 q3 k4 d5 varlen blocks:1,1 mod:a", &packed, NULL, 0);
    is_int(clattn_workload_print(&packed, text, sizeof text, NULL), CL_SUCCESS, "a packed problem is printed");
#define REFUSED(change) \
    c = packed; \
    change; \
    is_int(clattn_workload_print(&c, text, sizeof text, NULL), CLATTN_ERROR_INVALID_ARGUMENT, "not with " #change)
    REFUSED(c.problem.flags &= ~(uint32_t)CLATTN_CU_K);
    REFUSED(c.problem.flags &= ~(uint32_t)CLATTN_CU_Q);
    REFUSED(c.bthd = 1);
    REFUSED(c.problem.sizes.total_q++);
    REFUSED(c.problem.sizes.total_k--);
    REFUSED(c.block_q = 0);
    REFUSED(c.block_k = -1);
    REFUSED(strcpy(c.mods, "a b"));
    REFUSED(strcpy(c.mods, "a,"));
    REFUSED(memset(c.mods, 'a', sizeof c.mods));
#undef REFUSED
}

/* Lists, sequences and words as long as may be, and by one longer. */
static void test_longest(void)
{
    char text[5000], why[256];
    clattn_workload c;
    for (int n = CLATTN_LIST_MAX; n <= CLATTN_LIST_MAX + 1; n++) {
        int at = snprintf(text, sizeof text, "f32 b%d h1 q3 k4 d5 qlen:1", n);
        for (int i = 1; i < n; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, ",1");
        const int most = n == CLATTN_LIST_MAX;
        is_int(parse(text, &c, why, sizeof why), most ? CL_SUCCESS : CLATTN_ERROR_SYNTAX, "a list of %d numbers", n);
        ok(most ? c.q_len[n - 1] == 1 : strstr(why, "more than 256") != NULL, "is what it should be");
        snprintf(text, sizeof text, "f32 b%d h1 q1 k1 d1 varlen", n);
        is_int(parse(text, &c, why, sizeof why), most ? CL_SUCCESS : CLATTN_ERROR_SYNTAX, "%d sequences", n);
    }
    for (int n = 4095; n <= 4097; n++) {
        memcpy(text, "f32 ", 4);
        memset(text + 4, 'x', (size_t)n);
        text[4 + n] = '\0';
        is_int(parse(text, &c, why, sizeof why), CLATTN_ERROR_SYNTAX, "a word of %d letters is refused", n);
        ok(strstr(why, n == 4095 ? "is no word" : "longer than 4095") != NULL, "as %.40s..", why);
    }
}

/* Of a newer header, whose problem, and so the case around it, is longer: all that this library does not know is
 * zero. */
static void test_newer(void)
{
    static struct {
        clattn_workload c;
        unsigned char more[1024];
    } newer;
    char text[128] = "";
    if (parse("f32 b1 h2 q3 k4 d5", &newer.c, NULL, 0))
        bail("no case");
    newer.c.struct_size = sizeof newer;
    newer.c.problem.struct_size += sizeof newer.more;
    is_int(clattn_workload_print(&newer.c, text, sizeof text, NULL), CL_SUCCESS, "a case of a newer header is printed");
    is_str(text, "f32 b1 h2 q3 k4 d5", "as what it is");
    newer.more[1000] = 1;
    is_int(clattn_workload_print(&newer.c, text, sizeof text, NULL), CLATTN_ERROR_UNKNOWN_FIELD,
           "not with a field that this library does not know");
}

static void test_arguments(void)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT, odd;
    char text[128], why[8] = "xxxxxxx";
    size_t needed = 0;
    ok(clattn_workload_parse(NULL, &c, NULL, 0) != CL_SUCCESS, "text NULL is refused");
    ok(clattn_workload_parse("f32 b1 h2 q3 k4 d5", NULL, NULL, 0) != CL_SUCCESS, "out NULL is refused");
    ok(clattn_workload_parse("f32 b1 h2 q3 k4 d5 nonsense", &c, why, 4) != CL_SUCCESS && strlen(why) < 4 &&
           why[4] == 'x',
       "words are cut to their room");
    ok(clattn_workload_parse("nonsense", &c, why, 0) != CL_SUCCESS && why[5] == 'x', "no room, no words");
    is_int(parse("f32 b1 h2 q3 k4 d5", &c, NULL, 0), CL_SUCCESS, "words are not needed");
    ok(clattn_workload_print(NULL, text, sizeof text, NULL) != CL_SUCCESS, "printing NULL is refused");
    clattn_workload_print(&c, text, 5, &needed);
    ok(needed == strlen("f32 b1 h2 q3 k4 d5") + 1 && strlen(text) == 4, "a short room is filled, ended and reported");
    needed = 0;
    clattn_workload_print(&c, NULL, 0, &needed);
    is_int((long long)needed, (long long)strlen("f32 b1 h2 q3 k4 d5") + 1, "room alone can be asked");
    odd = c;
    odd.problem.type = 9;
    ok(clattn_workload_print(&odd, text, sizeof text, NULL) != CL_SUCCESS, "a case that is none is not printed");
    test_unspeakable();
    odd = c;
    odd.struct_size = 0;
    ok(clattn_workload_print(&odd, text, sizeof text, NULL) != CL_SUCCESS, "nor one without struct_size");
}

/* A struct of version 0.1.0, and a problem that says so of itself: what is read into it can be read by it. */
static void test_older(void)
{
    static const char plain[] = "f16 b1 h8/2 q33 k70 d64 causal k:int8 lse";
    static const char *const newer[] = { "f32 b1 h2 q3 k4 d5 page4", "f32 b1 h2 q3 k4 d64 k:int8:16",
                                         "f32 b1 h2 q3 k4 d64 v:int8:1z", "f32 b1 h2 q3 k4 d5 o:f16",
                                         "f32 b1 h2 q3 k4 d5 splits1" };
    enum { PROBLEM = offsetof(clattn_problem, o_type), ALL = offsetof(clattn_workload, problem) + PROBLEM };
    clattn_workload c;
    char text[128] = "", why[256] = "";
    double flops, bytes;
    memset(&c, 0x5a, sizeof c);
    c.struct_size = ALL;
    is_int(clattn_workload_parse(plain, &c, why, sizeof why), CL_SUCCESS, "an older struct is filled (%s)", why);
    ok(c.struct_size == ALL && c.problem.struct_size == PROBLEM && c.problem.o_type == 0x5a5a5a5a,
       "as far as it goes, with a problem of its version");
    is_int(clattn_workload_print(&c, text, sizeof text, NULL), CL_SUCCESS, "and is printed");
    is_str(text, plain, "as what was read");
    is_int(clattn_workload_cost(&c, &flops, &bytes), CL_SUCCESS, "and has a cost");
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        clattn_workload before;
        memset(&c, 0x5a, sizeof c);
        c.struct_size = ALL;
        before = c;
        is_int(clattn_workload_parse(newer[i], &c, why, sizeof why), CLATTN_ERROR_NOT_SUPPORTED,
               "%s does not fit into it: %s", newer[i], why);
        ok(!memcmp(&c, &before, sizeof c), "and nothing is written");
    }
}

/* Sizes that no version had. */
static void test_room(void)
{
    static const char text[] = "bf16 b1 h2 q3 k4 d5 qlen:2 seed7 lse";
    static const size_t sizes[] = { 0, 1, sizeof(size_t) - 1, sizeof(size_t), offsetof(clattn_workload, kv_len),
                                    offsetof(clattn_workload, problem), sizeof(clattn_workload) - 1, SIZE_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        clattn_workload c, before;
        char why[256] = "";
        memset(&c, 0x5a, sizeof c);
        c.struct_size = sizes[i];
        before = c;
        ok(clattn_workload_parse(text, &c, why, sizeof why) == CLATTN_ERROR_INVALID_ARGUMENT &&
               strstr(why, "struct_size"),
           "struct_size %zu is refused: %s", sizes[i], why);
        ok(!memcmp(&c, &before, sizeof c), "untouched");
    }
    struct {
        clattn_workload c;
        char more[16];
    } wide;
    memset(&wide, 0x5a, sizeof wide);
    wide.c.struct_size = sizeof wide;
    ok(!clattn_workload_parse(text, &wide.c, NULL, 0) && wide.c.struct_size == sizeof wide && wide.c.q_len[0] == 2 &&
           wide.more[0] == 0x5a && wide.more[15] == 0x5a,
       "a longer struct keeps its tail");
}

int main(void)
{
    size_t i;
    for (i = 0; i < sizeof canonical / sizeof *canonical; i++)
        test_canonical(canonical[i]);
    for (i = 0; i < sizeof variants / sizeof *variants; i++)
        test_variant(variants[i]);
    test_fields();
    test_scales();
    test_limits();
    for (i = 0; i < sizeof refusals / sizeof *refusals; i++)
        test_refusal(refusals[i].text, refusals[i].status, refusals[i].named);
    test_arguments();
    test_newer();
    test_longest();
    test_older();
    test_room();
    return done_testing();
}
