/* source.c - slots to program text: one fragment per slot, numbers as build options. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/source.h"

#include "problem/mods.h"
#include "problem/gqa.h"
#include "engine/params.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which fragment fills a slot. A new one is one more row: the first row that applies wins. ---- */

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
static bool is_windowed(const clattn_problem *p)
{
    return p->flags & CLATTN_WINDOW;
}
static bool is_causal(const clattn_problem *p)
{
    return p->causal && !is_windowed(p);
}
static bool is_packed(const clattn_problem *p)
{
    return p->flags & (CLATTN_CU_Q | CLATTN_CU_K);
}
static bool has_lengths(const clattn_problem *p)
{
    return p->flags & (CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START);
}
static bool has_lists(const clattn_problem *p)
{
    return is_packed(p) || has_lengths(p);
}
static bool has_softcap(const clattn_problem *p)
{
    return p->softcap > 0;
}
static bool has_mods(const clattn_problem *p)
{
    return p->n_mods;
}
static bool has_alibi(const clattn_problem *p)
{
    return p->flags & CLATTN_ALIBI;
}
static bool has_bias(const clattn_problem *p)
{
    return p->bias_type;
}
static bool has_mask(const clattn_problem *p)
{
    return p->flags & CLATTN_MASK;
}
static bool has_map(const clattn_problem *p)
{
    return p->flags & CLATTN_BLOCK_MAP;
}
static bool has_mask_alone(const clattn_problem *p)
{
    return has_mask(p) && !has_map(p);
}
static bool has_squares(const clattn_problem *p)
{
    return has_bias(p) || has_mask(p);
}
static bool has_sinks(const clattn_problem *p)
{
    return p->flags & CLATTN_SINKS;
}
static const struct choice acc[] = { { "acc_f64.cl", is_f64 }, { "acc_f32.cl", always } };
static const struct choice lengths[] = { { "lengths.cl", has_lists }, { NULL, always } };
static const struct choice kv[] = { { "kv_varlen.cl", is_packed },
                                    { "kv_padded.cl", has_lengths },
                                    { "kv_dense.cl", always } };
static const struct choice bias[] = { { "bias_add.cl", has_bias }, { "bias_none.cl", always } };
static const struct choice sink[] = { { "sink_logit.cl", has_sinks }, { "sink_none.cl", always } };
static const struct choice tanh_[] = { { "tanh_builtin.cl", is_f64 }, { "tanh_poly.cl", always } };

/* ---- Masks and scores: all that apply, in this order. A new one is one more row. ---- */

/* Functions cla_NAME_begin, _end, _next, _full and _drop. */
static const struct mask {
    const char *name, *fragment;
    bool (*applies)(const clattn_problem *);
} masks[] = {
    { "causal", "mask_causal.cl", is_causal },
    { "window", "mask_window.cl", is_windowed },
    { "blocks", "mask_blocks.cl", has_map },
    { NULL, "mask_unmapped.cl", has_mask_alone }, /* no mask of its own: what `bool` asks */
    { "bool", "mask_bool.cl", has_mask },
};
enum { MASKS = sizeof masks / sizeof *masks };

/* A function cla_NAME(e, s, q, k), in natural units. */
static const struct score {
    const char *name, *fragment;   /* fragment NULL: written from the problem */
    const struct choice *function; /* a slot it needs, or NULL */
    bool (*applies)(const clattn_problem *);
} scores[] = {
    { "softcap", "score_softcap.cl", tanh_, has_softcap },
    { "mods", NULL, NULL, has_mods },
    { "alibi", "score_alibi.cl", NULL, has_alibi },
};
enum { SCORES = sizeof scores / sizeof *scores };

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

/* Storage types, each once. */
static void write_types(struct text *to, const struct pass *pass, const struct target *t)
{
    const clattn_problem *const p = t->p;
    (void)pass;
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

static bool has_function(const struct mask *m, const clattn_problem *p)
{
    return m->name && m->applies(p);
}

static void write_masks(struct text *to, const struct pass *pass, const struct target *t)
{
    const clattn_problem *const p = t->p;
    (void)pass;
    for (int i = 0; i < MASKS; i++)
        if (masks[i].applies(p))
            write_fragment(to, masks[i].fragment);
    text_add(to, "#line 1 \"masks\"\n");
    for (int c = 0; c < COMBINATIONS; c++) {
        text_add(to, "CLA_FN %s\n{\n    %s\n", combinations[c].head, combinations[c].from);
        for (int i = 0; i < MASKS; i++)
            if (has_function(&masks[i], p))
                text_add(to, "    %s%s%s\n", combinations[c].before, masks[i].name, combinations[c].after);
        text_add(to, "    %s\n}\n", combinations[c].tail);
    }
    text_add(to, "CLA_FN void cla_mask_drop(const cla_tile *t, const cla_env *e, real *s, int q0, int q1, int k0, int k1, "
                 "int n)\n{\n");
    for (int i = 0; i < MASKS; i++)
        if (has_function(&masks[i], p))
            text_add(to, "    if (!cla_%s_full(e, q0, q1, k0, k1)) cla_%s_drop(t, e, s, k0, n);\n", masks[i].name,
                     masks[i].name);
    text_add(to, "}\n");
}

static void write_scores(struct text *to, const struct pass *pass, const struct target *t)
{
    const clattn_problem *const p = t->p;
    (void)pass;
    for (int i = 0; i < SCORES; i++)
        if (scores[i].applies(p)) {
            if (scores[i].function)
                write_fragment(to, chosen(scores[i].function, p));
            if (scores[i].fragment)
                write_fragment(to, scores[i].fragment);
            else
                mods_write_calls(to, p);
        }
    text_add(to, "#line 1 \"scores\"\n#define CLA_SCORE_DROPS %d\n", p->n_mods ? -1 : 0);
    text_add(to, "CLA_FN real cla_score(const cla_env *e, real s, integer q, integer k)\n{\n");
    for (int i = 0; i < SCORES; i++)
        if (scores[i].applies(p))
            text_add(to, "    s = cla_%s(e, s, q, k);\n", scores[i].name);
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

/* ---- The slots of each pass ---- */

static const char *acc_slot(const struct target *t) { return chosen(acc, t->p); }
static const char *lengths_slot(const struct target *t) { return chosen(lengths, t->p); }
static const char *kv_slot(const struct target *t) { return chosen(kv, t->p); }
static const char *sink_slot(const struct target *t) { return chosen(sink, t->p); }
static const char *bias_slot(const struct target *t) { return chosen(bias, t->p); }
static const char *exp_slot(const struct target *t)
{
    return is_f64(t->p) ? "exp_builtin.cl" : exp2_of(t->config->engine, t->caps);
}
static const char *load_slot(const struct target *t)
{
    const struct engine *const e = t->config->engine;
    return e->load ? e->load(t->p) : NULL;
}
static const char *engine_slot(const struct target *t) { return t->config->engine->fragment; }
static const char *gather_slot(const struct target *t)
{
    return has_squares(t->p) ? t->config->engine->gather : NULL;
}
static const char *total_slot(const struct target *t)
{
    return t->config->engine->total_scalars ? "total_workspace.cl" : "total_private.cl";
}
static const char *exp2_slot(const struct target *t) { return source_exp2(t->exp2); }

static void write_params(struct text *to, const struct pass *pass, const struct target *t)
{
    text_add(to, "#line 1 \"params\"\n");
    params_write(to, pass, t);
}
static void write_mods(struct text *to, const struct pass *pass, const struct target *t)
{
    (void)pass;
    mods_write_texts(to, t->p);
}

const struct slot source_forward[] = {
    { .fragment = "args.h" },
    { .choose = acc_slot },
    { .write = write_types },
    { .fragment = "env.cl" },
    { .fragment = "transpose.cl" },
    { .write = write_params },
    { .fragment = "group.cl" },
    { .choose = lengths_slot },
    { .choose = kv_slot },
    { .choose = sink_slot },
    { .choose = exp_slot },
    { .fragment = "weight.cl" },
    { .choose = load_slot },
    { .choose = engine_slot },
    { .fragment = "tile.cl" },
    { .choose = gather_slot },
    { .write = write_masks },
    { .write = write_scores },
    { .choose = bias_slot },
    { .fragment = "softmax.cl" },
    { .choose = total_slot },
    { .fragment = "total.cl" },
    { .fragment = "forward.cl" },
    { .write = write_mods },
    { NULL, NULL, NULL },
};

const struct slot source_block_map[] = {
    { .fragment = "args.h" },
    { .write = write_params },
    { .fragment = "block_map.cl" },
    { NULL, NULL, NULL },
};

const struct slot source_exp2_test[] = {
    { .fragment = "args.h" },
    { .fragment = "acc_f32.cl" },
    { .fragment = "dtype_f32.cl" },
    { .fragment = "env.cl" },
    { .choose = exp2_slot },
    { .fragment = "exp2_test.cl" },
    { NULL, NULL, NULL },
};

/* ---- Options ---- */

void source_forward_options(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    const struct caps *const caps = t->caps;
    const struct config *const c = t->config;
    const struct engine *e = c->engine;
    text_add(to, " -cl-mad-enable -DCLA_D=%d -DCLA_DV=%d -DCLA_TQ=%s -DCLA_TK=%s -DCLA_TV=%s", (int)p->d, (int)p->dv,
             problem_type_name(p->type), problem_type_name(p->k_type), problem_type_name(p->v_type));
    if (p->bias_type)
        text_add(to, " -DCLA_TB=%s", problem_type_name(p->bias_type));
    text_add(to, " -DCLA_DROPS=%d -DCLA_NATURAL=%d -DCLA_SCALES_LATE=%d -DCLA_DIAGONAL=%d -DCLA_PACKS=%d",
             problem_has_holes(p), problem_changes_scores(p), fabs(p->scale) > 1, is_causal(p) || is_windowed(p),
             gqa_rows(p, e->rows_per_group(&c->tile)).packable);
    text_add(to, " -DCLA_WIDTH=%d", engine_width(e, &c->tile));
    for (int i = 0; e->numbers[i].name; i++) {
        text_add(to, " -DCLA_");
        for (const char *s = e->numbers[i].name; *s; s++)
            text_add(to, "%c", *s - 'a' + 'A');
        text_add(to, "=%d", c->tile.n[i]);
    }
    text_add(to, " -DCLA_FMA=%d -DCLA_SUB_GROUP=%d -DCLA_NV_CC=%d", is_f64(p) ? caps->fma64 : caps->fma,
             caps->sub_group, caps->nv_cc);
    text_add(to, "%s%s", caps->sub_group ? " -cl-intel-256-GRF-per-thread" : "", e->options ? e->options : "");
}

void source_exp2_options(struct text *to, const struct target *t)
{
    (void)t;
    text_add(to, " -cl-mad-enable -DCLA_TQ=f32 -DCLA_TK=f32 -DCLA_TV=f32 -DCLA_WIDTH=4");
}

/* ---- Composing ---- */

static void write_all(struct text *text, struct text *options, const struct pass *pass, const struct target *t)
{
    for (const struct slot *s = pass->slots; s->fragment || s->choose || s->write; s++)
        if (s->write)
            s->write(text, pass, t);
        else
            write_fragment(text, s->fragment ? s->fragment : s->choose(t));
    text_add(options, "-cl-std=CL1.2");
    if (pass->options)
        pass->options(options, t);
    text_add(options, "%s", t->caps->quirk->options);
}

/* Writes twice: first to see how much room it takes. */
cl_int source_compose(struct source *out, int pass, const struct target *t, struct why *why)
{
    struct text text = { NULL, 0, 0 }, options = { NULL, 0, 0 };
    write_all(&text, &options, pass_at(pass), t);
    text.room = text.length + 1;
    options.room = options.length + 1;
    out->text = text.to = malloc(text.room);
    out->options = options.to = malloc(options.room);
    if (!out->text || !out->options) {
        source_free(out);
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a program of %zu bytes", text.room);
    }
    text.length = options.length = 0;
    write_all(&text, &options, pass_at(pass), t);
    return CL_SUCCESS;
}

void source_free(struct source *s)
{
    free(s->text);
    free(s->options);
    s->text = s->options = NULL;
}
