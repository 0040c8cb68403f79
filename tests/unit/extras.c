/* extras.c - seeded biases, masks, blocks, sequences and score_mods
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/mods.h"
#include "tests/lib/tap.h"

#include "tools/oracle/extras.h"
#include "tools/oracle/score_mods.h"

#include <math.h>

/* The extras of a problem; bails out when there are none. */
static clattn_workload fill(const char *text, struct extras *x)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char why[200] = "";
    const char *words = "";
    if (clattn_workload_parse(text, &c, why, sizeof why) != CL_SUCCESS)
        bail("%s: %s", text, why);
    if (extras_fill(&c, x, &words) != 0)
        bail("%s: %s", text, words);
    return c;
}

static int64_t volume(const int64_t shape[4])
{
    return shape[0] * shape[1] * shape[2] * shape[3];
}

static int is_shape(const int64_t shape[4], int64_t b, int64_t h, int64_t q, int64_t k)
{
    return shape[0] == b && shape[1] == h && shape[2] == q && shape[3] == k;
}

static void check_bias(void)
{
    struct extras x, y;
    double sum = 0, square = 0;
    int dropped = 0;
    fill("f32 b2 h4 q60 k70 d8 bias:b1qk:bf16 seed3", &x);
    fill("f32 b2 h4 q60 k70 d8 bias:b1qk:bf16 seed3", &y);
    const int64_t n = volume(x.bias_shape);
    ok(is_shape(x.bias_shape, 2, 1, 60, 70) && memcmp(x.bias, y.bias, (size_t)n * sizeof *x.bias) == 0,
       "one seed gives one bias, of the axes named");
    for (int64_t i = 0; i < n; i++) {
        dropped += x.bias[i] == -INFINITY;
        sum += isinf(x.bias[i]) ? 0 : x.bias[i];
        square += isinf(x.bias[i]) ? 0 : x.bias[i] * x.bias[i];
    }
    ok(fabs(sum / (double)n) < 0.2 && fabs(sqrt(square / (double)n) - 2) < 0.2 && dropped > 50 && dropped < 400,
       "of deviation 2 (%g), with some cells of -inf (%d)", sqrt(square / (double)n), dropped);
    ok(!x.mask && !x.block_map && !x.slopes && !x.sinks && !x.cu_q && !x.n_mods && !x.n_aux, "and nothing else");
    extras_free(&x);
    extras_free(&y);
}

static void check_mask(void)
{
    struct extras x;
    int kept = 0, empty = 0, bytes[256] = { 0 }, kinds = 0;
    fill("f32 b1 h4 q100 k50 d8 mask:1hqk", &x);
    ok(is_shape(x.mask_shape, 1, 4, 100, 50), "the shape of a mask");
    for (int row = 0; row < 400; row++) {
        int here = 0;
        for (int k = 0; k < 50; k++) {
            here += x.mask[row * 50 + k] != 0;
            bytes[x.mask[row * 50 + k]]++;
        }
        kept += here;
        empty += here == 0;
    }
    for (int i = 0; i < 256; i++)
        kinds += bytes[i] > 0;
    ok(empty > 5 && empty < 80 && abs(kept - (400 - empty) * 50 * 3 / 4) < 500,
       "keeps 3 of 4 cells (%d), but none in some rows (%d)", kept, empty);
    ok(kinds > 200, "any byte keeps that is not 0");
    extras_free(&x);
}

static void check_blocks(void)
{
    struct extras x;
    int whole = 0, thinned = 0, empty = 0, filled = 0;
    fill("f32 b1 h1 q64 k160 d8 blocks:8,10 mask:11qk", &x);
    ok(is_shape(x.block_shape, 1, 1, 8, 16) && !x.block_map && x.block_q == 8 && x.block_k == 10,
       "with a mask the map is left to be made");
    for (int at = 0; at < 8 * 16; at++) {
        int kept = 0;
        for (int cell = 0; cell < 80; cell++)
            kept += x.mask[(at / 16 * 8 + cell / 10) * 160 + at % 16 * 10 + cell % 10] != 0;
        whole += kept == 80;
        empty += kept == 0;
        thinned += kept > 0 && kept < 80;
    }
    ok(empty == 8 * 14 && whole + thinned == 16 && whole > 2 && thinned > 2, "7 of 8 blocks of the mask are empty");
    extras_free(&x);
    fill("f32 b2 h3 q64 k160 d8 blocks:8,10", &x);
    for (int64_t i = 0; i < volume(x.block_shape); i++)
        filled += x.block_map[i] != 0;
    ok(is_shape(x.block_shape, 2, 3, 8, 16) && filled == 2 * 3 * 16, "without one 7 of 8 blocks of the map are");
    extras_free(&x);
}

static void check_lists(void)
{
    struct extras x;
    int good = 1;
    const clattn_workload c = fill("f32 b3 h4 q10 k20 d8 alibi sink varlen seed1", &x);
    for (int i = 0; i < 12; i++)
        good = good && x.slopes[i] >= 0.0625 && x.slopes[i] < 0.3125 && x.slopes[i] == (double)(float)x.slopes[i];
    for (int h = 0; h < 4; h++)
        good = good && fabs(x.sinks[h]) < 8 && x.sinks[h] == (double)(float)x.sinks[h];
    ok(good && x.slopes_b == 3, "slopes and sinks");
    ok(x.cu_q[0] == 0 && x.cu_q[1] == 4 && x.cu_q[2] == 11 && x.cu_q[3] == 21 && c.problem.sizes.total_q == 21 &&
           x.cu_k[3] == 7 + 14 + 20, "sequences");
    extras_free(&x);
    fill("f32 b3 h4 q10 k20 d8 alibi seed2", &x);
    is_int(x.slopes_b, 1, "an even seed gives every batch entry the same slopes");
    extras_free(&x);
}

/* ---- Score_mods ---- */

static void check_mods(void)
{
    struct extras x;
    const clattn_workload c = fill("f32 b2 h3 q10 k20 d8 mod:pair_bias,softcap,relative_bias,tanh_gate", &x);
    const clattn_problem *p = &c.problem;
    ok(p->mods == x.mods && p->n_mods == 4 && p->aux == x.aux_names && p->n_aux == 5, "four texts and their buffers");
    ok(x.mods[1].flags == CLATTN_MOD_VECTOR && x.mods[0].flags == 0 && strcmp(x.mods[1].name, "softcap.cl") == 0,
       "the first line of a text says whether it is width-generic");
    ok(strcmp(x.aux[0].name, "kind") == 0 && x.aux[0].type == CLATTN_U8 && x.aux[0].count == 30 &&
           strcmp(x.aux[1].name, "table") == 0 && x.aux[1].type == CLATTN_F32 && x.aux[1].count == 96,
       "sizes as declared; one buffer for two texts");
    int good = 1;
    for (int i = 0; i < 30; i++)
        good = good && ((const unsigned char *)x.aux[0].data)[i] < 4;
    ok(good && ((const float *)x.aux[1].data)[0] != 0, "contents");

    int known = 0, all = 0;
    for (const struct mod_text *t = mod_texts; t->name; t++, all++) {
        struct extras one = { .n_mods = 1, .mods = { { t->text, t->name, 0 } } };
        double s = 1;
        known += mods_reference(&one, &s, (const unsigned char *)"\1", 0, 0, 0, 1) == 0;
    }
    ok(all > 7 && known == all, "all %d texts are known to the reference", all);
    extras_free(&x);
}

static void check_declarations(void)
{
    static const struct {
        const char *line;
        long long count; /* of a buffer, b 2, h 3, q 5, k 7; -1: refused */
    } rows[] = {
        { "q", 5 },           { "q + k", 12 },   { "h*32", 96 },          { "b * h * q + k*4 + 3", 61 },
        { "2*3*4", 24 },      { "0", 1 },        { "q+", -1 },            { "", -1 },
        { "n", -1 },          { "q k", -1 },     { "9999999999", -1 },    { "999999999*9", -1 },
        { "-1", -1 },         { "q / 2", -1 },
    };
    const clattn_sizes z = { .b = 2, .h = 3, .nq = 5, .nk = 7 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct extras x = { 0 };
        char text[80];
        const char *why = "";
        snprintf(text, sizeof text, "// clattn: aux int name[%s]\n", rows[i].line);
        const int status = score_mods_declare(text, &z, &x, &why);
        is_int(status == 0 ? (long long)x.aux[0].count : -1, rows[i].count, "[%s]", rows[i].line);
        extras_free(&x);
    }
    struct extras x = { 0 };
    const char *why = "";
    ok(score_mods_declare("// clattn: aux double x[q]\n", &z, &x, &why) == -1 && strstr(why, "none of float"),
       "no double");
    ok(score_mods_declare("s += 1;\n// clattn: aux double x[q]\n", &z, &x, &why) == 0 && x.n_aux == 0,
       "only the first lines count");
    ok(score_mods_declare("// clattn: aux int x[q]\n// clattn: aux int x[k]\n", &z, &x, &why) == 0 && x.n_aux == 1 &&
           x.aux[0].count == 7, "the larger size counts");
    ok(score_mods_declare("// clattn: aux float x[q]\n", &z, &x, &why) == -1 && strstr(why, "types"), "one type");
    extras_free(&x);
    is_int(score_mods_flags("// clattn: vector\r\ns = 1;"), CLATTN_MOD_VECTOR, "a mark with another end of line");
    is_int(score_mods_flags("// clattn: vectorial\n"), 0, "another word is no mark");
    is_int(score_mods_flags("\n// clattn: vector\n"), 0, "a mark in the second line is none");

    clattn_workload c = CLATTN_WORKLOAD_INIT;
    if (clattn_workload_parse("f32 b1 h1 q1 k1 d8 mod:causal,nonsense", &c, NULL, 0) != CL_SUCCESS)
        bail("a name that nobody knows is no matter of the parser");
    ok(extras_fill(&c, &x, &why) == -1 && strstr(why, "no such score_mod"), "an unknown name is refused");
    extras_free(&x);
}

int main(void)
{
    check_bias();
    check_mask();
    check_blocks();
    check_lists();
    check_mods();
    check_declarations();
    return done_testing();
}
