/* engine.c - what all engines are asked in the same way. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine.h"

#include "engine/engine_list.h"
#include "engine/params.h"

#include <string.h>

const struct engine *engine_at(size_t i)
{
    return engine_list[i];
}

const struct engine *engine_find(const char *name, size_t length)
{
    for (size_t i = 0; engine_list[i]; i++)
        if (strlen(engine_list[i]->name) == length && !strncmp(engine_list[i]->name, name, length))
            return engine_list[i];
    return NULL;
}

void engine_names(struct text *to)
{
    for (size_t i = 0, n = 0; engine_list[i]; i++)
        if (engine_list[i]->rank)
            text_add(to, "%s%s", n++ ? ", " : "", engine_list[i]->name);
}

/* ---- Verdicts ---- */

static size_t place_of(const struct engine *e)
{
    size_t i = 0;
    while (engine_list[i] != e)
        i++;
    return i;
}

int engine_verdict(const struct engine *e, const struct caps *caps)
{
    return e->wants_selftest ? __atomic_load_n(&caps->selftest[place_of(e)], __ATOMIC_ACQUIRE) : CAPS_PASSED;
}

void engine_set_verdict(const struct engine *e, struct caps *caps, int verdict)
{
    __atomic_store_n(&caps->selftest[place_of(e)], verdict, __ATOMIC_RELEASE);
}

/* ---- What fits ---- */

static cl_int check_numbers(const struct engine *e, const struct tile *t, struct why *why)
{
    for (int i = 0; e->numbers[i].name; i++) {
        const struct tile_number *const x = &e->numbers[i];
        if (t->n[i] < x->least || t->n[i] > x->most)
            REFUSE("%s is %d, outside %d to %d", x->name, t->n[i], x->least, x->most);
    }
    const int w = engine_width(e, t);
    if (w != 1 && w != 2 && w != 4 && w != 8 && w != 16)
        REFUSE("%s is %d, none of 2, 4, 8, 16", e->numbers[e->width_at].name, w);
    return CL_SUCCESS;
}

static cl_int check_device(const struct engine *e, const struct tile *t, const struct caps *caps,
                           const clattn_problem *p, struct why *why)
{
    const int items = e->items_per_group(e, t);
    const int64_t bytes = e->local_bytes ? e->local_bytes(e, t, p) : 0;
    if ((uint64_t)items > caps->max_group)
        REFUSE("needs work-groups of %d items, device has %zu", items, caps->max_group);
    if ((uint64_t)bytes > caps->local_bytes)
        REFUSE("needs %.1f KiB of local memory, device has %.1f", (double)bytes / 1024,
               (double)caps->local_bytes / 1024);
    return CL_SUCCESS;
}

/* Only everything at once, with many captured buffers, is too much. Pass scores takes a little more than forward. */
static cl_int check_parameters(const struct engine *e, const struct tile *t, const struct caps *caps,
                               const clattn_problem *p, struct why *why)
{
    const struct config config = { .engine = e, .tile = *t };
    const int pass = pass_applies(PASS_SCORES, p, e) ? PASS_SCORES : pass_main(p);
    const struct target target = { .pass = pass, .p = p, .caps = caps, .config = &config };
    struct params params;
    params_find(&params, &target);
    const size_t bytes = params_bytes(&params);
    if (bytes > PARAMS_PROMISED)
        REFUSE("its kernel would have %zu bytes of parameters, OpenCL promises %d", bytes, PARAMS_PROMISED);
    return CL_SUCCESS;
}

int engine_shares(const struct unit *u, const clattn_problem *p)
{
    return u->widest_sum && p->dv > u->widest_sum ? 2 : 1;
}
static cl_int check_shares(const struct engine *e, const struct tile *t, const clattn_problem *p, struct why *why)
{
    const int waves = e->unit ? e->items_per_group(e, t) / e->unit->wave : 1;
    if (e->unit && waves % engine_shares(e->unit, p))
        REFUSE("a group has %d waves: two share rows, since V is wider than %d", waves, e->unit->widest_sum);
    return CL_SUCCESS;
}

cl_int engine_fits(const struct engine *e, const struct tile *t, const struct caps *caps, const clattn_problem *p,
                   struct why *why)
{
    cl_int status;
    if (p->flags & CLATTN_BACKWARD && !e->backward)
        REFUSE("has no backward pass");
    if (p->aux_grads && !e->look_ups)
        REFUSE("has no gradients of captured buffers");
    if (e->suits && (status = e->suits(caps, p, why)))
        return status;
    if (engine_verdict(e, caps) == CAPS_FAILED)
        REFUSE("failed its test on this device");
    if ((status = check_numbers(e, t, why)) || (e->fits && (status = e->fits(t, caps, p, why))) ||
        (status = check_shares(e, t, p, why)) ||
        (status = check_parameters(e, t, caps, p, why)))
        return status;
    return check_device(e, t, caps, p, why);
}

/* ---- Widths ---- */

int engine_width(const struct engine *e, const struct tile *t)
{
    return e->width ? e->width : t->n[e->width_at];
}

/* Vectors have 16 bytes at least. */
int engine_least_lanes(const clattn_problem *p)
{
    return p->type == CLATTN_F64 ? 2 : 4;
}
int engine_lanes(const struct caps *caps, const clattn_problem *p)
{
    const int w = (int)caps->float_width / (p->type == CLATTN_F64 ? 2 : 1);
    return w >= 16 ? 16 : w >= 8 ? 8 : w >= 4 ? 4 : engine_least_lanes(p);
}

/* An item goes through what as many others look up as share a table with it: few are fast, many take less room. */
int engine_tables(const struct engine *e, const struct tile *t)
{
    enum { SHARERS = 32 };
    const int items = e->items_per_group(e, t);
    return items % SHARERS ? 1 : items / SHARERS;
}

bool engine_vectors_are_fast(const struct caps *caps)
{
    return caps->kind == CAPS_CPU && !caps->quirk->compiles_vectors_slowly;
}

/* ---- Ranking ---- */

static int rank_of(const struct engine *e, const struct caps *caps, const clattn_problem *p)
{
    return e->rank && engine_verdict(e, caps) == CAPS_PASSED ? e->rank(caps, p) : 0;
}

static bool stands_before(size_t i, size_t j, const struct caps *caps, const clattn_problem *p)
{
    const int a = rank_of(engine_list[i], caps, p), b = rank_of(engine_list[j], caps, p);
    return a > b || (a == b && i < j);
}

const struct engine *engine_ranked(const struct caps *caps, const clattn_problem *p, size_t n)
{
    for (size_t i = 0; engine_list[i]; i++) {
        size_t before = 0;
        for (size_t j = 0; engine_list[j]; j++)
            before += stands_before(j, i, caps, p);
        if (before == n)
            return rank_of(engine_list[i], caps, p) ? engine_list[i] : NULL;
    }
    return NULL;
}

const struct engine *engine_last_resort(const struct caps *caps, const clattn_problem *p)
{
    const struct engine *e, *last = NULL;
    for (size_t n = 0; (e = engine_ranked(caps, p, n)); n++)
        last = e;
    return last;
}
