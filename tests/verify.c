/* verify.c - the judge judged, and the small parts of the tools: seeded inputs, JSON
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tap.h"

#include "../tools/inputs.h"
#include "../tools/json.h"
#include "../tools/reference.h"
#include "../tools/verify.h"

#include <math.h>

enum { B = 2, H = 4, HK = 2, NQ = 6, NK = 9, D = 5, DV = 3 };
static double q[B * H * NQ * D], k[B * HK * NK * D], v[B * HK * NK * DV], o[B * H * NQ * DV], lse[B * H * NQ];

static clattn_case make_case(void)
{
    clattn_case c;
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    c.seed = 7;
    c.problem.struct_size = sizeof c.problem;
    c.problem.d = D;
    c.problem.dv = DV;
    c.problem.causal = 1;
    c.problem.flags = CLATTN_KV_LEN | CLATTN_KV_START;
    c.problem.sizes = (clattn_sizes){ B, H, HK, NQ, NK, 0 };
    c.kv_len[0] = 8;
    c.kv_len[1] = 4; /* causal leaves its first two queries nothing */
    c.kv_start[0] = 1;
    return c;
}

/* O and LSE as they should be. */
static void answer(const clattn_case *c)
{
    const struct reference r = { B, H, HK, NQ, NK, D, DV, 1 / sqrt(D), 1, 0, 0, NULL, c->kv_len, c->kv_start, NULL };
    double a;
    if (reference_forward(&r, q, k, v, o, lse, &a) != 0)
        bail("no memory");
}

/* Puts `x` at `*at`, and says whether that is found right, or puts it back. */
static int accepts(const clattn_case *c, const struct setup_inputs *in, double *at, double x)
{
    const double before = *at;
    struct verdict verdict;
    *at = x;
    const int status = verify(c, in, o, lse, &verdict);
    *at = before;
    return status == 0 && verdict.good;
}

static void check_verify(void)
{
    const clattn_case c = make_case();
    struct setup_inputs in = { q, k, v, 0, NULL, NULL, NULL, NULL, 1 };
    struct verdict verdict;
    inputs_fill(&c, q, k, v);
    for (int i = 0; i < DV; i++) /* padding: beyond kv_len, before kv_start */
        v[8 * DV + i] = v[i] = NAN;
    v[(HK * NK + 4) * DV] = 1e30;
    answer(&c);
    ok(verify(&c, &in, o, lse, &verdict) == 0 && verdict.good && verdict.error_o == 0 && verdict.error_lse == 0,
       "the right answer is right");
    ok(verdict.bound_o > 0 && verdict.bound_o < 1e-4, "what padding holds does not widen the bound");
    double *last = &o[B * H * NQ * DV - 1];
    ok(accepts(&c, &in, last, *last + 0.9 * verdict.bound_o) && !accepts(&c, &in, last, *last + 1.1 * verdict.bound_o),
       "an error of O is held against the bound");
    ok(!accepts(&c, &in, last, NAN) && !accepts(&c, &in, last, INFINITY), "NaN and inf in O are found");
    ok(accepts(&c, &in, &lse[5], lse[5] + 0.9 * verdict.bound_lse) &&
           !accepts(&c, &in, &lse[5], lse[5] + 1.1 * verdict.bound_lse),
       "an error of LSE too");
    const int empty = H * NQ; /* the first row of the second entry sees nothing */
    ok(lse[empty] == -INFINITY && !accepts(&c, &in, &lse[empty], -1e30) && !accepts(&c, &in, &lse[empty], INFINITY),
       "a row that sees nothing has LSE = -inf and nothing else");
    ok(!accepts(&c, &in, &o[empty * DV], NAN) && !accepts(&c, &in, &o[empty * DV], 1e-3), "and O = 0");

    v[7 * DV + 1] = INFINITY; /* the last key of entry 0, head 0: only its last query keeps it */
    answer(&c);
    ok(isinf(o[(NQ - 1) * DV + 1]) && !isinf(o[1]) && verify(&c, &in, o, lse, &verdict) == 0 && verdict.good,
       "an infinite value shows where it is kept");
    ok(accepts(&c, &in, &o[1], NAN) && accepts(&c, &in, &o[(NQ - 1) * DV + 1], NAN), "it may reach the rows beside it");
    ok(!accepts(&c, &in, &o[0], NAN) && !accepts(&c, &in, &o[2 * NQ * DV + 1], NAN),
       "but no other column, and no head that reads other keys");
    ok(!accepts(&c, &in, &o[(NQ - 1) * DV + 1], 1), "and it must not vanish");

    double *const places[] = { &q[(H * NQ - 1) * D],
                               &k[7 * D] }; /* kept: the last query of entry 0, and its last key */
    for (int i = 0; i < 2; i++) {
        inputs_fill(&c, q, k, v);
        *places[i] = INFINITY;
        answer(&c);
        ok(verify(&c, &in, o, lse, &verdict) == 0 && verdict.good && verdict.bound_o < 1e-4 && verdict.bound_lse < 1e-2,
           "inf in %s does not widen the bounds", i ? "K" : "Q");
        ok(!accepts(&c, &in, last, *last + 1e-2) && !accepts(&c, &in, last, NAN) &&
               !accepts(&c, &in, &lse[B * H * NQ - 1], 0),
           "nor excuse an error elsewhere");
    }
}

static void check_shared(void)
{
    clattn_case c = make_case();
    struct setup_inputs in = { q, k, v, 1, NULL, NULL, NULL, NULL, 0 };
    struct verdict verdict;
    inputs_fill(&c, q, k, v);
    memcpy(k + HK * NK * D, k, sizeof k / 2);
    memcpy(v + HK * NK * DV, v, sizeof v / 2);
    answer(&c);
    for (size_t i = HK * NK * D; i < sizeof k / sizeof *k; i++)
        k[i] = NAN;
    ok(verify(&c, &in, o, NULL, &verdict) == 0 && verdict.good, "keys shared by the batch");
}

static void check_inputs(void)
{
    const char *text = "bf16 b2 h8/2 q300 k200 d64/32 k:f16 seed3";
    clattn_case c;
    struct counts n;
    char why[200] = "";
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    if (clattn_case_parse(text, &c, why, sizeof why) != CL_SUCCESS)
        bail("%s: %s", text, why);
    ok(inputs_count(&c, &n) == 0 && n.q == 307200 && n.k == 51200 && n.v == 25600 && n.o == 153600 && n.lse == 4800,
       "counts");
    double *x = malloc((n.q + n.k + n.v) * sizeof *x), *y = malloc((n.q + n.k + n.v) * sizeof *y), sum = 0, square = 0;
    if (!x || !y)
        bail("no memory");
    inputs_fill(&c, x, x + n.q, x + n.q + n.k);
    inputs_fill(&c, y, y + n.q, y + n.q + n.k);
    ok(memcmp(x, y, (n.q + n.k + n.v) * sizeof *x) == 0, "one seed gives one set of inputs");
    for (size_t row = 0; row < 150; row++) {
        double s = 0;
        for (int i = 0; i < 64; i++)
            s += x[row * 64 + i] * x[n.q + row * 64 + i] / 8;
        sum += s;
        square += s * s;
    }
    ok(fabs(sum / 150) < 1 && fabs(sqrt(square / 150) - 3) < 0.7, "logits deviate by about 3 (%g)", sqrt(square / 150));
    inputs_round(CLATTN_BF16, y, n.q);
    inputs_round(CLATTN_F16, y + n.q, n.k);
    ok(memcmp(x, y, (n.q + n.k) * sizeof *x) == 0, "values are exact in their storage types");
    c.seed++;
    inputs_fill(&c, y, y + n.q, y + n.q + n.k);
    ok(memcmp(x, y, n.q * sizeof *x) != 0 && memcmp(x + n.q, y + n.q, n.k * sizeof *x) != 0,
       "another seed gives others");
    free(x);
    free(y);
    c.problem.sizes.nq = INT64_MAX / 8;
    is_int(inputs_count(&c, &n), -1, "sizes that overflow are found");
}

static void check_json(void)
{
    static const struct {
        const char *from, *to;
    } strings[] = {
        { "plain", "\"plain\"" },
        { NULL, "null" },
        { "a\"b\\c\n\x7f", "\"a\\\"b\\\\c\\u000a\\u007f\"" },
        { "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"" },
        { "\xff\xc0\xaf\xed\xa0\x80\xe2\x82", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"" },
    };
    char text[JSON_NUMBER];
    is_str(json_number(text, -1.5e-7, 9), "-1.5e-07", "a number");
    is_str(json_number(text, NAN, 9), "null", "NaN is null");
    is_str(json_number(text, -INFINITY, 9), "null", "infinity is null");
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        char got[200] = "";
        FILE *f = tmpfile();
        if (!f)
            bail("no temporary file");
        json_string(f, strings[i].from);
        rewind(f);
        got[fread(got, 1, sizeof got - 1, f)] = '\0';
        fclose(f);
        is_str(got, strings[i].to, "string %zu", i);
    }
}

int main(void)
{
    check_verify();
    check_shared();
    check_inputs();
    check_json();
    return done_testing();
}
