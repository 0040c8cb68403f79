/* source.c - programs composed from fragments: complete, named, and with a number for everything
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "../src/source.h"
#include "tap.h"

static clattn_problem problem(const clattn_problem *in)
{
    clattn_problem out;
    struct why why;
    if (problem_read(&out, in, &why))
        bail("%s", why.text);
    return out;
}

static clattn_problem plain(void)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.d = 64;
    p.sizes.b = p.sizes.h = 1;
    p.sizes.nq = p.sizes.nk = 100;
    return p;
}

/* Composes for `in` with configuration `config`; bails out when that fails. */
static struct source compose(const clattn_problem *in, const char *config)
{
    const clattn_problem p = problem(in);
    struct source s = { NULL, NULL };
    struct config c;
    struct caps caps;
    struct why why;
    caps_generic(&caps);
    caps.kind = CAPS_GPU;
    if (tile_config_read(&c, config, &caps, &p, &why) || source_compose(&s, &p, &caps, &c, &why))
        bail("%s", why.text);
    return s;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (text = strstr(text, what); text; text = strstr(text + 1, what))
        n++;
    return n;
}

static int slot(const struct source *s, const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "#line 1 \"%s\"\n", name);
    return count(s->text, line);
}

/* ---- Fragments ---- */

static void test_fragments(void)
{
    const struct fragment *f;
    int bad = 0, n = 0;
    for (f = fragments; f->name; f++, n++) {
        const size_t length = strlen(f->text);
        /* a text without its last newline would run into the next #line */
        if (!length || f->text[length - 1] != '\n' || (n && strcmp(f[-1].name, f->name) >= 0)) {
            diag("%s", f->name);
            bad++;
        }
    }
    ok(n > 10 && !bad, "%d fragments, sorted, each ends with a newline", n);
}

/* ---- One program ---- */

static const char *const engines_to_try[] = { "simt", "cpu", "naive" };

/* Each slot is filled once, in the order of the design. */
static void test_slots(const char *engine)
{
    clattn_problem p = plain();
    struct source s = compose(&p, engine);
    char fragment[64];
    const char *at[4];
    snprintf(fragment, sizeof fragment, "engine_%s.cl", engine);
    ok(slot(&s, "args.h") == 1 && slot(&s, "dtype_f32.cl") == 1 && slot(&s, "softmax.cl") == 1 &&
           slot(&s, "forward.cl") == 1,
       "%s: the fixed slots once each", engine);
    is_int(slot(&s, fragment), 1, "%s: its own fragment", engine);
    is_int(count(s.text, "#line 1 \"engine_"), 1, "%s: no other engine", engine);
    is_int(count(s.text, "#line 1 \"mask_"), 1, "%s: one mask", engine);
    is_int(count(s.text, "#line 1 \"kv_"), 1, "%s: one kv", engine);
    is_int(count(s.text, "#line 1 \"score_"), 1, "%s: one score", engine);
    at[0] = strstr(s.text, "#line 1 \"dtype_");
    at[1] = strstr(s.text, "#line 1 \"kv_");
    at[2] = strstr(s.text, "#line 1 \"mask_");
    at[3] = strstr(s.text, "#line 1 \"engine_");
    ok(at[0] && at[0] < at[1] && at[1] < at[2] && at[2] < at[3], "%s: in order", engine);
    is_int(count(s.text, "__kernel"), 1, "%s: one kernel", engine);
    source_free(&s);
    ok(!s.text && !s.options, "%s: freed", engine);
}

static void test_choices(void)
{
    clattn_problem p = plain();
    struct source s = compose(&p, NULL);
    ok(slot(&s, "mask_none.cl") && slot(&s, "kv_dense.cl"), "plain: no mask, dense");
    source_free(&s);
    p.causal = 1;
    s = compose(&p, NULL);
    ok(slot(&s, "mask_causal.cl") && slot(&s, "kv_dense.cl"), "causal: its mask, dense");
    source_free(&s);
    p.flags = CLATTN_KV_START;
    s = compose(&p, NULL);
    ok(slot(&s, "mask_causal.cl") && slot(&s, "kv_padded.cl"), "lengths: padded");
    source_free(&s);
}

static void test_types(void)
{
    clattn_problem p = plain();
    struct source s;
    p.type = CLATTN_F16;
    p.k_type = CLATTN_F32;
    p.v_type = CLATTN_BF16;
    s = compose(&p, NULL);
    ok(slot(&s, "dtype_f16.cl") == 1 && slot(&s, "dtype_f32.cl") == 1 && slot(&s, "dtype_bf16.cl") == 1,
       "three types, three fragments");
    ok(strstr(s.options, "-DCLA_TQ=f16") && strstr(s.options, "-DCLA_TK=f32") && strstr(s.options, "-DCLA_TV=bf16"),
       "and each its tensor");
    source_free(&s);
    p.k_type = p.v_type = CLATTN_F16;
    s = compose(&p, NULL);
    is_int(count(s.text, "#line 1 \"dtype_"), 1, "one type, one fragment");
    source_free(&s);
    p.k_type = p.v_type = CLATTN_BF16;
    s = compose(&p, NULL);
    is_int(count(s.text, "#line 1 \"dtype_"), 2, "K and V share theirs");
    source_free(&s);
    p.type = p.k_type = p.v_type = CLATTN_F64;
    s = compose(&p, NULL);
    ok(slot(&s, "acc_f64.cl") == 1 && slot(&s, "acc_f32.cl") == 0, "f64 computes in f64");
    source_free(&s);
}

/* Lengths and strides are arguments: another size, the same program. */
static void test_sizes_do_not_matter(void)
{
    clattn_problem p = plain(), other = plain();
    struct source s, t;
    other.sizes.nk = 12345;
    other.sizes.b = 7;
    other.sizes.h = 6;
    other.sizes.hk = 2;
    s = compose(&p, "simt");
    t = compose(&other, "simt");
    ok(!strcmp(s.text, t.text) && !strcmp(s.options, t.options), "other sizes, the same program");
    source_free(&t);
    other = plain();
    other.scale = 0.3;
    other.sizes.offset = 5;
    t = compose(&other, "simt");
    ok(!strcmp(s.text, t.text) && !strcmp(s.options, t.options), "another scale, the same program");
    source_free(&t);
    other.d = 65;
    other.dv = 64;
    t = compose(&other, "simt");
    ok(strcmp(s.options, t.options) != 0, "another width, another program");
    source_free(&t);
    source_free(&s);
}

static void test_options(void)
{
    clattn_problem p = plain();
    struct source s = compose(&p, "naive wg32,bk8");
    ok(strstr(s.options, "-DCLA_D=64") && strstr(s.options, "-DCLA_DV=64") && strstr(s.options, "-DCLA_WG=32") &&
           strstr(s.options, "-DCLA_BK=8"),
       "numbers by -D: %s", s.options);
    ok(strstr(s.options, "-cl-mad-enable") && !strstr(s.options, "fast-relaxed") && !strstr(s.options, "finite-math"),
       "nothing that breaks the logic of -inf");
    source_free(&s);
}

int main(void)
{
    size_t i;
    test_fragments();
    for (i = 0; i < sizeof engines_to_try / sizeof *engines_to_try; i++)
        test_slots(engines_to_try[i]);
    test_choices();
    test_types();
    test_sizes_do_not_matter();
    test_options();
    return done_testing();
}
