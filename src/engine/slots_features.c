/* slots_features.c - what fills the slots of masks, scores, weights, bias and sinks: problem/feature.h has their rows.
 * Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/slots_features.h"

#include "engine/source.h"
#include "problem/feature.h"

static void write_feature(struct text *to, const struct feature *f, const clattn_problem *p)
{
    source_write_fragment(to, f->needs ? f->needs(p) : NULL);
    if (f->write)
        f->write(to, p);
    else
        source_write_fragment(to, f->fragment);
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
    source_write_fragment(to, some ? NULL : none);
}

/* How the answers of all masks become one: x starts as `from`, and for each mask x = before cla_NAME_ after. */
static const struct {
    const char *head, *from, *before, *after, *tail;
} combinations[] = {
    { "int cla_mask_begin(const cla_env *e, int q0, int q1)", "int x = 0;", "x = max(x, cla_", "_begin(e, q0, q1));",
      "return x;" },
    { "int cla_mask_end(const cla_env *e, int q0, int q1)", "int x = e->k_end;", "x = min(x, cla_", "_end(e, q0, q1));",
      "return x;" },
    { "int cla_mask_next(const cla_env *e, int q0, int q1, int k, int end)", "", "k = cla_",
      "_next(e, q0, q1, k, end);", "return k;" },
};
enum { COMBINATIONS = sizeof combinations / sizeof *combinations };

void slots_features_masks(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    write_features(to, FEATURE_MASK, NULL, p);
    text_add(to, "#line 1 \"masks\"\n");
    for (int c = 0; c < COMBINATIONS; c++) {
        text_add(to, "CLA_FN %s\n{\n    %s\n", combinations[c].head, combinations[c].from);
        FEATURE_EACH(f)
            if (f->kind == FEATURE_MASK && feature_is_compiled(f, p))
                text_add(to, "    %s%s%s\n", combinations[c].before, f->name, combinations[c].after);
        text_add(to, "    %s\n}\n", combinations[c].tail);
    }
    text_add(to, "CLA_FN void cla_mask_drop(const cla_tile *t, const cla_env *e, real *s, int q0, int q1, int k0, "
                 "int k1, int at, int n)\n{\n");
    FEATURE_EACH(f)
        if (f->kind == FEATURE_MASK && feature_is_compiled(f, p))
            text_add(to, "    if (!cla_%s_full(e, q0, q1, k0, k1)) cla_%s_drop(t, e, s, at, n);\n", f->name, f->name);
    text_add(to, "}\n");
}

void slots_features_scores(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    write_features(to, FEATURE_SCORE, NULL, p);
    text_add(to, "#line 1 \"scores\"\n#define CLA_SCORE_DROPS %d\n",
             -feature_any_compiled(p, FEATURE_SCORE, FEATURE_HAS_HOLES));
    text_add(to, "CLA_FN real cla_score(const cla_env *e, real s, integer q, integer k)\n{\n");
    FEATURE_EACH(f)
        if (f->kind == FEATURE_SCORE && feature_is_compiled(f, p))
            text_add(to, "    s = cla_%s(e, s, q, k);\n", f->name);
    text_add(to, "    return s;\n}\n");
}

static bool has_gradient(const struct feature *f)
{
    return f->gradient || f->write_gradient;
}

/* Back through what was done to a score: every change of it that is not a sum of the score and something else has a
 * fragment for that, which has the score before the change. */
void slots_features_gradients(struct text *to, const struct target *t)
{
    const struct feature *changes[FEATURE_PLACES];
    int n = 0, needed = 0;
    FEATURE_EACH(f)
        if (f->kind == FEATURE_SCORE && feature_is_compiled(f, t->p)) {
            changes[n++] = f;
            if (has_gradient(f))
                needed = n;
            source_write_fragment(to, f->gradient);
            if (f->write_gradient)
                f->write_gradient(to, t->p);
        }
    text_add(to, "#line 1 \"gradients\"\n#define CLA_CURVED %d\n", needed > 0);
    text_add(to, "CLA_FN real cla_score_grad(const cla_env *e, real s0, real ds, integer q, integer k)\n{\n");
    for (int i = 0; i + 1 < needed; i++)
        text_add(to, "    const real s%d = cla_%s(e, s%d, q, k);\n", i + 1, changes[i]->name, i);
    for (int i = needed; i--;)
        if (has_gradient(changes[i]))
            text_add(to, "    ds = cla_%s_grad(e, s%d, ds, q, k);\n", changes[i]->name, i);
    text_add(to, "    return ds;\n}\n");
}

static bool is_taken(const struct feature *f, const clattn_problem *p)
{
    return f->taken && feature_is_compiled(f, p) && (!f->takes || f->takes(p));
}

/* What takes dS for gradients of its own: fragments, and for each of their functions one that calls them all. */
void slots_features_taken(struct text *to, const struct target *t)
{
    static const struct {
        const char *head, *name, *call;
    } functions[] = {
        { "void cla_begin_gradients(const cla_env *e)", "begin", "(e);" },
        { "void cla_clear_gradients(const cla_tile *t, const cla_env *e)", "clear", "(t, e);" },
        { "void cla_open_gradients(cla_tile *t, const cla_env *e, int q0)", "open", "(t, e, q0);" },
        { "void cla_take_gradients(cla_tile *t, cla_env *e, const real *s, const real *raw, int k0, int n)", "take",
          "(t, e, s, raw, k0, n);" },
        { "void cla_close_gradients(cla_tile *t, const cla_env *e, int q0)", "close", "(t, e, q0);" },
    };
    bool some = false;
    FEATURE_EACH(f)
        if (is_taken(f, t->p)) {
            source_write_fragment(to, f->taken);
            some = true;
        }
    text_add(to, "#line 1 \"taken\"\n#define CLA_TAKES %d\n", some);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        text_add(to, "CLA_FN %s\n{\n", functions[i].head);
        FEATURE_EACH(f)
            if (is_taken(f, t->p))
                text_add(to, "    cla_%s_%s%s\n", f->name, functions[i].name, functions[i].call);
        text_add(to, "}\n");
    }
}

void slots_features_sink(struct text *to, const struct target *t)
{
    write_features(to, FEATURE_SINK, "sink_none.cl", t->p);
}

void slots_features_weights(struct text *to, const struct target *t)
{
    write_features(to, FEATURE_WEIGHT, "dropout_none.cl", t->p);
}

void slots_features_bias(struct text *to, const struct target *t)
{
    write_features(to, FEATURE_BIAS, "bias_none.cl", t->p);
}
