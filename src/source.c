/* source.c - slots to program text: one fragment per slot, numbers as build options. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "source.h"

#include <stdlib.h>
#include <string.h>

/* ---- Which fragment fills a slot. A new mask, score or kv is one more row: the first row that applies wins. ---- */

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
static bool is_causal(const clattn_problem *p)
{
    return p->causal;
}
static bool has_lengths(const clattn_problem *p)
{
    return p->flags & (CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START);
}

static const struct choice acc[] = { { "acc_f64.cl", is_f64 }, { "acc_f32.cl", always } };
static const struct choice kv[] = { { "kv_padded.cl", has_lengths }, { "kv_dense.cl", always } };
static const struct choice mask[] = { { "mask_causal.cl", is_causal }, { "mask_none.cl", always } };
static const struct choice score[] = { { "score_none.cl", always } };

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

/* The fragments of a program in order; a storage type that several tensors share stands there once. */
enum { SLOTS_MAX = 16 };
static size_t list_slots(const char *slots[SLOTS_MAX], const clattn_problem *p, const struct engine *e)
{
    size_t n = 0;
    slots[n++] = "args.h";
    slots[n++] = chosen(acc, p);
    slots[n++] = dtype(p->type);
    if (p->k_type != p->type)
        slots[n++] = dtype(p->k_type);
    if (p->v_type != p->type && p->v_type != p->k_type)
        slots[n++] = dtype(p->v_type);
    slots[n++] = "env.cl";
    slots[n++] = chosen(kv, p);
    slots[n++] = chosen(mask, p);
    slots[n++] = chosen(score, p);
    slots[n++] = is_f64(p) ? "exp_builtin.cl" : e->exp;
    if (e->load(p))
        slots[n++] = e->load(p);
    slots[n++] = e->fragment;
    slots[n++] = "softmax.cl";
    slots[n++] = "forward.cl";
    return n;
}

static const char *fragment_text(const char *name)
{
    const struct fragment *f = fragments;
    while (f->name && strcmp(f->name, name))
        f++;
    return f->text;
}

static void write_text(struct text *to, const char *const *slots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *body = fragment_text(slots[i]);
        text_add(to, "#line 1 \"%s\"\n", slots[i]);
        text_add_n(to, body, strlen(body));
    }
}

static void write_options(struct text *to, const clattn_problem *p, const struct caps *caps, const struct config *c)
{
    const struct engine *e = c->engine;
    text_add(to, "-cl-std=CL1.2 -cl-mad-enable -DCLA_D=%d -DCLA_DV=%d -DCLA_TQ=%s -DCLA_TK=%s -DCLA_TV=%s", (int)p->d,
             (int)p->dv, problem_type_name(p->type), problem_type_name(p->k_type), problem_type_name(p->v_type));
    text_add(to, " -DCLA_WIDTH=%d", e->width ? e->width : c->tile.n[0]);
    for (int i = 0; e->numbers[i]; i++) {
        text_add(to, " -DCLA_");
        for (const char *s = e->numbers[i]; *s; s++)
            text_add(to, "%c", *s - 'a' + 'A');
        text_add(to, "=%d", c->tile.n[i]);
    }
    text_add(to, "%s", caps->quirk->options);
}

cl_int source_compose(struct source *out, const clattn_problem *p, const struct caps *caps, const struct config *c,
                      struct why *why)
{
    const char *slots[SLOTS_MAX];
    const size_t n = list_slots(slots, p, c->engine);
    struct text text = { NULL, 0, 0 }, options = { NULL, 0, 0 };
    write_text(&text, slots, n);
    write_options(&options, p, caps, c);
    text.room = text.length + 1;
    options.room = options.length + 1;
    out->text = text.to = malloc(text.room);
    out->options = options.to = malloc(options.room);
    if (!out->text || !out->options) {
        source_free(out);
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a program of %zu bytes", text.room);
    }
    text.length = options.length = 0;
    write_text(&text, slots, n);
    write_options(&options, p, caps, c);
    return CL_SUCCESS;
}

void source_free(struct source *s)
{
    free(s->text);
    free(s->options);
    s->text = s->options = NULL;
}
