/* class.c - classes of problems that are tuned as one. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/class.h"

#include "base/checked.h"
#include "problem/feature.h"
#include "problem/problem_key.h"

#include <stdlib.h>
#include <string.h>

/* ---- What a number is rounded up to; ends with 0, and what is beyond counts as the last ---- */

static const int64_t widths[] = { 32, 64, 80, 96, 128, 192, 256, 320, 512, D_MAX, 0 };
static const int64_t queries[] = { 1, 4, 8, 16, 128, 1024, 4096, 0 }, keys[] = { 256, 1024, 4096, 16384, 65536, 0 };
static const int64_t ratios[] = { 1, 4, 8, 16, 0 }, heads[] = { 1, 8, 32, 0 };
static const int64_t groups[] = { 1, 32, 64, 128, 0 }, splits[] = { 1, 8, 64, 0 };
/* Stands for every page size: how large a page is hardly changes what is fast. */
enum { PAGE = 16 };

static int64_t round_up(int64_t x, const int64_t *to)
{
    while (x > *to && to[1])
        to++;
    return *to;
}

/* b h up to 3 do not fill a device, from 16 on they do. */
static int64_t head_bucket(const clattn_sizes *s)
{
    int64_t bh;
    if (!checked_mul(s->b, s->h, &bh) || bh > 15)
        return heads[2];
    return bh > 3 ? heads[1] : heads[0];
}

/* Every query head has a key head of its own, or shares it with `ratio` - 1 others. */
static void set_heads(clattn_sizes *s, int64_t h, int64_t ratio)
{
    s->b = 1;
    s->h = h > ratio ? h : round_up(ratio, heads);
    s->hk = s->h / ratio;
}

static void set_rows(clattn_problem *p, int64_t nq, int64_t nk)
{
    p->sizes.nq = nq;
    p->sizes.nk = nk;
    p->sizes.total_q = p->flags & CLATTN_CU_Q ? nq : 0;
    p->sizes.total_k = p->flags & CLATTN_CU_K ? nk : 0;
}

/* A problem that says nothing of its sizes stands in the middle. */
static void set_sizes(clattn_problem *to, const clattn_sizes *s)
{
    const bool unknown = !s->h && !s->nq && !s->nk;
    set_heads(&to->sizes, unknown ? heads[1] : head_bucket(s),
              unknown || !s->hk ? 1 : round_up(s->h / s->hk, ratios));
    set_rows(to, unknown ? 1024 : round_up(s->nq, queries), unknown ? 1024 : round_up(s->nk, keys));
}

/* ---- Features ---- */

/* What stands for the features that go at a later step than `lost`. */
static void set_features(clattn_workload *c, const clattn_problem *p, enum feature_step lost)
{
    FEATURE_EACH(f)
        if (f->represent && f->step > lost && feature_applies(f, p))
            f->represent(c, p);
    if (FEATURE_STEP_ROWS > lost && p->page) /* with varlen Q, too: a problem string cannot say both */
        c->problem.page = PAGE;
    else if (FEATURE_STEP_ROWS > lost && p->flags & (CLATTN_CU_Q | CLATTN_CU_K))
        c->problem.flags |= CLATTN_CU_Q | CLATTN_CU_K;
}

/* The group of a row whose width has been rounded; 0: the whole row. */
static int32_t group_of(int32_t group, int32_t width, int32_t rounded)
{
    const int64_t x = group && group < width ? round_up(group, groups) : 0;
    return x < rounded ? (int32_t)x : 0;
}

static int storage_of(int type, const clattn_problem *p, enum feature_step lost)
{
    return problem_type_is_quantised(type) && lost >= FEATURE_STEP_QUANTISED ? p->type : type;
}

/* What goes with the first step: how quantised storage is scaled, what O is stored in, and splits. Where a caller
 * forces their number, it is the number that decides how many rows and keys a work-group should have; else the plan
 * finds it, from the configuration among other things. */
static void set_details(clattn_problem *to, const clattn_problem *p)
{
    to->o_type = p->o_type;
    to->k_group = group_of(p->k_group, p->d, to->d);
    to->v_group = group_of(p->v_group, p->dv, to->dv);
    to->flags |= p->flags & (CLATTN_K_ZERO | CLATTN_V_ZERO);
    to->splits = p->splits ? (int32_t)round_up(p->splits, splits) : 0;
}

/* Types and widths. */
static void set_shape(clattn_workload *c, const clattn_problem *p, enum feature_step lost)
{
    const clattn_workload init = CLATTN_WORKLOAD_INIT;
    clattn_problem *to = &c->problem;
    *c = init;
    to->flags = p->flags & CLATTN_BACKWARD;
    to->type = to->o_type = p->type;
    to->k_type = storage_of(p->k_type, p, lost);
    to->v_type = storage_of(p->v_type, p, lost);
    to->d = (int32_t)round_up(p->d, widths);
    to->dv = (int32_t)round_up(p->dv, widths);
    if (lost < FEATURE_STEP_DETAILS)
        set_details(to, p);
}

void class_of(clattn_workload *out, const clattn_problem *p)
{
    set_shape(out, p, FEATURE_STEP_NONE);
    set_features(out, p, FEATURE_STEP_NONE);
    set_sizes(&out->problem, &p->sizes);
}

/* ---- Text ---- */

/* Digest of the texts of score_mods, in 16 hex digits. Without memory for it, of their length: the class only has to
 * differ. */
static void add_mods(struct text *to, const clattn_problem *p)
{
    unsigned char digest[DIGEST_BYTES];
    char hex[DIGEST_HEX];
    (void)problem_key_digest(digest, p, problem_key_write_mods);
    digest_hex(hex, digest);
    text_add(to, " mod:#%.16s", hex);
}

void class_print(const clattn_workload *c, const clattn_problem *p, struct text *to)
{
    struct why why;
    if (to->room)
        to->to[0] = '\0';
    (void)workload_print(c, to, &why); /* what class_of() makes can be printed */
    if (p && p->n_mods)
        add_mods(to, p);
}

/* ---- Neighbours: features go one after the other, and at each step other sizes are looked at ---- */

/* One step down and one up from where x stands; x where there is none. */
static int64_t step(int64_t x, const int64_t *list, int by)
{
    int i = 0;
    while (list[i] && list[i] != x)
        i++;
    return !list[i] || i + by < 0 || !list[i + by] ? x : list[i + by];
}

enum { SIZES = 9 };
static void resize(clattn_workload *c, int way)
{
    clattn_sizes *s = &c->problem.sizes;
    const int64_t ratio = s->h / s->hk, h = s->h;
    switch (way) {
    case 1: set_heads(s, step(h, heads, 1), ratio); break;
    case 2: set_heads(s, step(h, heads, -1), ratio); break;
    case 3: set_rows(&c->problem, s->nq, step(s->nk, keys, -1)); break;
    case 4: set_rows(&c->problem, s->nq, step(s->nk, keys, 1)); break;
    case 5: set_rows(&c->problem, step(s->nq, queries, 1), s->nk); break;
    case 6: set_rows(&c->problem, step(s->nq, queries, -1), s->nk); break;
    case 7: set_heads(s, h, 1); break;
    case 8:
        set_heads(s, heads[1], 1);
        set_rows(&c->problem, 1024, 1024);
        break;
    default: break;
    }
}

bool class_near(clattn_workload *out, const clattn_workload *c, size_t n)
{
    if (n >= FEATURE_STEPS * SIZES)
        return false;
    const enum feature_step lost = (enum feature_step)(n / SIZES);
    set_shape(out, &c->problem, lost);
    set_features(out, &c->problem, lost);
    out->problem.sizes = c->problem.sizes;
    set_rows(&out->problem, c->problem.sizes.nq, c->problem.sizes.nk);
    resize(out, (int)(n % SIZES));
    return true;
}

/* ---- The common ones ---- */

/* Prompts, short ones, decoding, and gradients, each in all types and widths, without a mask and causal. The record of
 * h8 q1024 k1024 serves gradients of all other sizes (class_near()). */
static const struct {
    int64_t nq, nk, h, hk;
    bool backward, only_causal;
} kinds[] = {
    { 1024, 1024, 8, 8, false, false }, { 4096, 4096, 32, 32, false, false }, { 128, 256, 32, 32, false, false },
    { 1, 4096, 32, 32, false, false },  { 1024, 1024, 8, 8, true, false },    { 4096, 4096, 32, 8, true, true },
};

bool class_common(clattn_workload *out, size_t n)
{
    static const int types[] = { CLATTN_F32, CLATTN_F16, CLATTN_BF16 }, ds[] = { 64, 128 };
    enum { TYPES = 3, WIDTHS = 2, MASKS = 2, KINDS = sizeof kinds / sizeof *kinds };
    clattn_problem p = CLATTN_PROBLEM_INIT;
    size_t kind = 0, of_kind;
    for (; kind < KINDS && n >= (of_kind = TYPES * WIDTHS * (kinds[kind].only_causal ? 1 : MASKS)); kind++)
        n -= of_kind;
    if (kind == KINDS)
        return false;
    p.type = p.k_type = p.v_type = p.o_type = types[n % TYPES];
    n /= TYPES;
    p.d = p.dv = ds[n % WIDTHS];
    p.causal = kinds[kind].only_causal || n / WIDTHS;
    p.flags = kinds[kind].backward ? CLATTN_BACKWARD : 0;
    p.sizes.b = 1;
    p.sizes.h = kinds[kind].h;
    p.sizes.hk = kinds[kind].hk;
    p.sizes.nq = kinds[kind].nq;
    p.sizes.nk = kinds[kind].nk;
    class_of(out, &p);
    return true;
}
