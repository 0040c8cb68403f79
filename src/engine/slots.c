/* slots.c - what fills slots that several passes have: a fragment, or text for the problem. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/slots.h"

#include "engine/params.h"
#include "problem/feature.h"
#include "problem/mod_grads.h"
#include "problem/mods.h"

#include <string.h>

/* ---- Which fragment fills a slot. A new one is one more row: the first row that applies wins. Masks, scores, bias and
 * sinks are written by slots_features.c. ---- */

struct choice {
    const char *fragment;
    bool (*applies)(const clattn_problem *);
};

static bool always(const clattn_problem *p)
{
    (void)p;
    return true;
}
static bool is_f64(const clattn_problem *p) { return p->type == CLATTN_F64; }
static const struct choice acc[] = { { "acc_f64.cl", is_f64 }, { "acc_f32.cl", always } };
static const struct choice lengths[] = { { "lengths.cl", problem_has_lists }, { NULL, always } };
static const struct choice kv[] = { { "kv_varlen.cl", problem_is_varlen },
                                    { "kv_padded.cl", problem_has_lists },
                                    { "kv_dense.cl", always } };
static bool is_paged(const clattn_problem *p) { return p->page; }
static const struct choice rows[] = { { "rows_paged.cl", is_paged }, { "rows_strided.cl", always } };
static const char *chosen(const struct choice *c, const clattn_problem *p)
{
    while (!c->applies(p))
        c++;
    return c->fragment;
}

/* ---- Storage types ---- */

void slots_write_type(struct text *to, const char *what, int type)
{
    char name[32];
    struct text t = { name, sizeof name, 0 };
    text_add(&t, "%s_%s.cl", what, problem_type_name(type));
    source_write_fragment(to, name);
}

static bool has_nibbles(int type)
{
    const struct problem_type *const t = problem_type_at(type);
    return t->storage == PROBLEM_BLOCKS && t->bits < 8;
}

/* Each once, behind what several share. */
void slots_write_types(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    if (has_nibbles(p->k_type) || has_nibbles(p->v_type))
        source_write_fragment(to, "nibbles.cl");
    const int types[] = { p->type, p->k_type, p->v_type, p->o_type, p->bias_type };
    for (int i = 0; i < 5; i++) {
        bool again = !types[i];
        for (int j = 0; j < i && !again; j++)
            again = types[j] == types[i];
        if (!again)
            slots_write_type(to, "dtype", types[i]);
    }
}

/* ---- Slots ---- */

/* The engine's 2^x, or what takes the place of a device's own. */
static const char *exp2_of(const struct engine *e, const struct caps *caps)
{
    const bool native = !strcmp(e->exp, source_exp2(CAPS_EXP2_NATIVE));
    return native ? source_exp2(__atomic_load_n(&caps->exp2, __ATOMIC_ACQUIRE)) : e->exp;
}

const char *slots_acc(const struct target *t) { return chosen(acc, t->p); }
const char *slots_lengths(const struct target *t) { return chosen(lengths, t->p); }
const char *slots_kv(const struct target *t) { return chosen(kv, t->p); }
const char *slots_rows(const struct target *t) { return chosen(rows, t->p); }
const char *slots_exp(const struct target *t)
{
    return is_f64(t->p) ? "exp_builtin.cl" : exp2_of(t->config->engine, t->caps);
}
const char *slots_prefetch(const struct target *t)
{
    return caps_prefetches(t->caps) ? "prefetch_line.cl" : "prefetch_none.cl";
}
const char *slots_load(const struct target *t)
{
    const struct engine *const e = t->config->engine;
    return e->load ? e->load(t->p) : NULL;
}
void slots_write_unit(struct text *to, const struct target *t)
{
    const struct unit *const unit = t->config->engine->unit;
    for (int i = 0; unit && unit->fragments[i]; i++)
        source_write_fragment(to, unit->fragments[i]);
    source_write_fragment(to, unit ? "mma_unit.cl" : NULL);
    source_write_fragment(to, unit ? unit->operands : NULL);
}
const char *slots_products(const struct target *t) { return t->config->engine->products; }
const char *slots_surfaces(const struct target *t)
{
    const struct unit *const unit = t->config->engine->unit;
    return !unit ? NULL : unit->surfaces ? unit->surfaces(t->caps) : "mma_surfaces_none.cl";
}
const char *slots_gather(const struct target *t)
{
    return feature_any(t->p, FEATURE_GATHERS) ? t->config->engine->gather : NULL;
}
void slots_write_params(struct text *to, const struct target *t)
{
    text_add(to, "#line 1 \"params\"\n");
    params_write(to, t);
}
void slots_write_mods(struct text *to, const struct target *t)
{
    mods_write_texts(to, t->p);
    mod_grads_write_texts(to, t->p, false);
}
