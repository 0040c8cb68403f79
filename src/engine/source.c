/* source.c - slots to program text: one fragment per slot, numbers as build options. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/source.h"

#include "problem/feature.h"
#include "problem/gqa.h"
#include "problem/mods.h"
#include "engine/params.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which fragment fills a slot. A new one is one more row: the first row that applies wins. Masks, scores, bias and
 * sinks are rows of problem/feature.h. ---- */

struct choice {
    const char *fragment;
    bool (*applies)(const clattn_problem *);
};

static bool always(const clattn_problem *p)
{
    (void)p;
    return true;
}
static bool is_f64(const clattn_problem *p)
{
    return p->type == CLATTN_F64;
}
static bool is_packed(const clattn_problem *p)
{
    return p->flags & (CLATTN_CU_Q | CLATTN_CU_K);
}
static bool has_lengths(const clattn_problem *p)
{
    return p->flags & (CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START);
}
static const struct choice acc[] = { { "acc_f64.cl", is_f64 }, { "acc_f32.cl", always } };
static const struct choice kv[] = { { "kv_varlen.cl", is_packed },
                                    { "kv_padded.cl", has_lengths },
                                    { "kv_dense.cl", always } };
static const char *chosen(const struct choice *c, const clattn_problem *p)
{
    while (!c->applies(p))
        c++;
    return c->fragment;
}

static const char *dtype(int type)
{
    static const char *const by_type[] = { [CLATTN_F32] = "dtype_f32.cl",
                                           [CLATTN_F16] = "dtype_f16.cl",
                                           [CLATTN_BF16] = "dtype_bf16.cl",
                                           [CLATTN_F64] = "dtype_f64.cl" };
    return by_type[type];
}

/* ---- Writing ---- */

static const char *fragment_text(const char *name)
{
    const struct fragment *f = fragments;
    while (f->name && strcmp(f->name, name))
        f++;
    return f->text;
}

static void write_fragment(struct text *to, const char *name)
{
    if (!name)
        return;
    const char *body = fragment_text(name);
    text_add(to, "#line 1 \"%s\"\n", name);
    text_add_n(to, body, strlen(body));
}

static void write_feature(struct text *to, const struct feature *f, const clattn_problem *p)
{
    write_fragment(to, f->needs ? f->needs(p) : NULL);
    if (f->write)
        f->write(to, p);
    else
        write_fragment(to, f->fragment);
}

/* The features of a kind, or `none` where the problem asks for none of them. */
static void write_features(struct text *to, enum feature_kind kind, const char *none, const clattn_problem *p)
{
    bool some = false;
    FEATURE_EACH(f)
        if (f->kind == kind && feature_is_compiled(f, p)) {
            write_feature(to, f, p);
            some = true;
        }
    write_fragment(to, some ? NULL : none);
}

/* Storage types, each once. */
static void write_types(struct text *to, const clattn_problem *p)
{
    const int types[] = { p->type, p->k_type, p->v_type, p->bias_type };
    for (int i = 0; i < 4; i++) {
        bool again = !types[i];
        for (int j = 0; j < i && !again; j++)
            again = types[j] == types[i];
        if (!again)
            write_fragment(to, dtype(types[i]));
    }
}

/* How the answers of all masks become one: x starts as `from`, and for each mask x = before cla_NAME_ after. */
static const struct {
    const char *head, *from, *before, *after, *tail;
} combinations[] = {
    { "int cla_mask_begin(const cla_env *e, int q0, int q1)", "int x = 0;", "x = max(x, cla_", "_begin(e, q0, q1));",
      "return x;" },
    { "int cla_mask_end(const cla_env *e, int q0, int q1)", "int x = e->k_end;", "x = min(x, cla_", "_end(e, q0, q1));",
      "return x;" },
    { "int cla_mask_next(const cla_env *e, int q0, int q1, int k, int end)", "", "k = cla_", "_next(e, q0, q1, k, end);",
      "return k;" },
};
enum { COMBINATIONS = sizeof combinations / sizeof *combinations };

static void write_masks(struct text *to, const clattn_problem *p)
{
    write_features(to, FEATURE_MASK, NULL, p);
    text_add(to, "#line 1 \"masks\"\n");
    for (int c = 0; c < COMBINATIONS; c++) {
        text_add(to, "CLA_FN %s\n{\n    %s\n", combinations[c].head, combinations[c].from);
        FEATURE_EACH(f)
            if (f->kind == FEATURE_MASK && feature_is_compiled(f, p))
                text_add(to, "    %s%s%s\n", combinations[c].before, f->name, combinations[c].after);
        text_add(to, "    %s\n}\n", combinations[c].tail);
    }
    text_add(to, "CLA_FN void cla_mask_drop(const cla_tile *t, const cla_env *e, real *s, int q0, int q1, int k0, int k1, "
                 "int n)\n{\n");
    FEATURE_EACH(f)
        if (f->kind == FEATURE_MASK && feature_is_compiled(f, p))
            text_add(to, "    if (!cla_%s_full(e, q0, q1, k0, k1)) cla_%s_drop(t, e, s, k0, n);\n", f->name, f->name);
    text_add(to, "}\n");
}

static void write_scores(struct text *to, const clattn_problem *p)
{
    write_features(to, FEATURE_SCORE, NULL, p);
    text_add(to, "#line 1 \"scores\"\n#define CLA_SCORE_DROPS %d\n",
             -feature_any_compiled(p, FEATURE_SCORE, FEATURE_HAS_HOLES));
    text_add(to, "CLA_FN real cla_score(const cla_env *e, real s, integer q, integer k)\n{\n");
    FEATURE_EACH(f)
        if (f->kind == FEATURE_SCORE && feature_is_compiled(f, p))
            text_add(to, "    s = cla_%s(e, s, q, k);\n", f->name);
    text_add(to, "    return s;\n}\n");
}

const char *source_exp2(int which)
{
    static const char *const names[] = { [CAPS_EXP2_UNTESTED] = "exp_native.cl",
                                         [CAPS_EXP2_NATIVE] = "exp_native.cl",
                                         [CAPS_EXP2_POLY] = "exp_poly.cl",
                                         [CAPS_EXP2_BUILTIN] = "exp_builtin.cl" };
    return names[which];
}

/* The engine's 2^x, or what takes the place of a device's own. */
static const char *exp2_of(const struct engine *e, const struct caps *caps)
{
    const bool native = !strcmp(e->exp, source_exp2(CAPS_EXP2_NATIVE));
    return native ? source_exp2(__atomic_load_n(&caps->exp2, __ATOMIC_ACQUIRE)) : e->exp;
}

/* The whole program: a fragment for each slot, in the order in which one relies on another. */
static void write_text(struct text *to, const clattn_problem *p, const struct caps *caps, const struct engine *e)
{
    write_fragment(to, "args.h");
    write_fragment(to, chosen(acc, p));
    write_types(to, p);
    write_fragment(to, "env.cl");
    write_fragment(to, "transpose.cl");
    text_add(to, "#line 1 \"params\"\n");
    params_write(to, p);
    write_fragment(to, "group.cl");
    write_fragment(to, chosen(kv, p));
    write_features(to, FEATURE_SINK, "sink_none.cl", p);
    write_fragment(to, is_f64(p) ? "exp_builtin.cl" : exp2_of(e, caps));
    write_fragment(to, "weight.cl");
    write_fragment(to, e->load ? e->load(p) : NULL);
    write_fragment(to, e->fragment);
    write_fragment(to, "tile.cl");
    write_fragment(to, feature_any(p, FEATURE_GATHERS) ? e->gather : NULL);
    write_masks(to, p);
    write_scores(to, p);
    write_features(to, FEATURE_BIAS, "bias_none.cl", p);
    write_fragment(to, "softmax.cl");
    write_fragment(to, e->total_scalars ? "total_workspace.cl" : "total_private.cl");
    write_fragment(to, "total.cl");
    write_fragment(to, "forward.cl");
    mods_write_texts(to, p);
}

static void write_options(struct text *to, const clattn_problem *p, const struct caps *caps, const struct config *c)
{
    const struct engine *e = c->engine;
    text_add(to, "-cl-std=CL1.2 -cl-mad-enable -DCLA_D=%d -DCLA_DV=%d -DCLA_TQ=%s -DCLA_TK=%s -DCLA_TV=%s", (int)p->d,
             (int)p->dv, problem_type_name(p->type), problem_type_name(p->k_type), problem_type_name(p->v_type));
    if (p->bias_type)
        text_add(to, " -DCLA_TB=%s", problem_type_name(p->bias_type));
    text_add(to, " -DCLA_DROPS=%d -DCLA_NATURAL=%d -DCLA_SCALES_LATE=%d -DCLA_DIAGONAL=%d -DCLA_PACKS=%d",
             problem_has_holes(p), problem_changes_scores(p), fabs(p->scale) > 1,
             feature_any_compiled(p, FEATURE_MASK, FEATURE_KNOWS_DIAGONAL),
             gqa_rows(p, e->rows_per_group(&c->tile)).packable);
    FEATURE_EACH(f)
        if (f->options && f->applies(p))
            f->options(to, p);
    text_add(to, " -DCLA_WIDTH=%d", engine_width(e, &c->tile));
    for (int i = 0; e->numbers[i].name; i++) {
        text_add(to, " -DCLA_");
        for (const char *s = e->numbers[i].name; *s; s++)
            text_add(to, "%c", *s - 'a' + 'A');
        text_add(to, "=%d", c->tile.n[i]);
    }
    text_add(to, " -DCLA_FMA=%d -DCLA_SUB_GROUP=%d -DCLA_NV_CC=%d", is_f64(p) ? caps->fma64 : caps->fma,
             caps->sub_group, caps->nv_cc);
    text_add(to, "%s%s%s", caps->sub_group ? " -cl-intel-256-GRF-per-thread" : "", e->options ? e->options : "", caps->quirk->options);
}

/* What a program is written from; config NULL: the one that makes block maps or, where `exp2` says which, computes 2^x. */
struct recipe {
    const clattn_problem *p;
    const struct caps *caps;
    const struct config *config;
    int exp2;
};

static void write_exp2(struct text *text, struct text *options, const struct recipe *r)
{
    write_fragment(text, "args.h");
    write_fragment(text, "acc_f32.cl");
    write_fragment(text, "dtype_f32.cl");
    write_fragment(text, "env.cl");
    write_fragment(text, source_exp2(r->exp2));
    write_fragment(text, "exp2_test.cl");
    text_add(options, "-cl-std=CL1.2 -cl-mad-enable -DCLA_TQ=f32 -DCLA_TK=f32 -DCLA_TV=f32 -DCLA_WIDTH=4%s",
             r->caps->quirk->options);
}

static void write_all(struct text *text, struct text *options, const struct recipe *r)
{
    if (r->config) {
        write_text(text, r->p, r->caps, r->config->engine);
        write_options(options, r->p, r->caps, r->config);
    } else if (r->exp2) {
        write_exp2(text, options, r);
    } else {
        write_fragment(text, "args.h");
        write_fragment(text, "block_map.cl");
        text_add(options, "-cl-std=CL1.2%s", r->caps->quirk->options);
    }
}

/* Writes twice: first to see how much room it takes. */
static cl_int compose(struct source *out, const struct recipe *r, struct why *why)
{
    struct text text = { NULL, 0, 0 }, options = { NULL, 0, 0 };
    write_all(&text, &options, r);
    text.room = text.length + 1;
    options.room = options.length + 1;
    out->text = text.to = malloc(text.room);
    out->options = options.to = malloc(options.room);
    if (!out->text || !out->options) {
        source_free(out);
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a program of %zu bytes", text.room);
    }
    text.length = options.length = 0;
    write_all(&text, &options, r);
    return CL_SUCCESS;
}

cl_int source_compose(struct source *out, const clattn_problem *p, const struct caps *caps, const struct config *c,
                      struct why *why)
{
    const struct recipe r = { p, caps, c, 0 };
    return compose(out, &r, why);
}

cl_int source_compose_map(struct source *out, const struct caps *caps, struct why *why)
{
    const struct recipe r = { NULL, caps, NULL, 0 };
    return compose(out, &r, why);
}

cl_int source_compose_exp2(struct source *out, const struct caps *caps, int which, struct why *why)
{
    const struct recipe r = { NULL, caps, NULL, which };
    return compose(out, &r, why);
}

void source_free(struct source *s)
{
    free(s->text);
    free(s->options);
    s->text = s->options = NULL;
}
