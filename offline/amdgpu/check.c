/* check.c - findings told, with where they happened
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "inside.h"

/* Fills in where it happened and tells; after kinds that say so the launch ends. */
static void tell(struct wave *w, const struct op *o, uint64_t lanes, struct finding *f)
{
    struct worker *worker = w->worker;
    const struct launch *launch = worker->launch;
    const struct amdgpu_launch *l = launch->asked;
    char text[160];
    const uint32_t item = w->index * w->n + (lanes ? lowest_lane(lanes) : 0);
    finding_copy_line(launch->kernel->module->text + o->at, text, sizeof text);
    f->kernel = launch->kernel->name;
    f->line = (int)o->line;
    f->text = text;
    f->lanes = lanes;
    for (int i = 0; i < 3; i++)
        f->group[i] = worker->group[i];
    f->thread[0] = item % l->block[0];
    f->thread[1] = item / l->block[0] % l->block[1];
    f->thread[2] = item / l->block[0] / l->block[1];
    worker->stats.findings[f->kind]++;
    if (launch_tell(worker->launch, o, f))
        worker->stop = 1;
}

void check_touch(const struct touch *t, enum finding_kind kind, int64_t other)
{
    struct finding f;
    touch_finding(t, kind, other, &f);
    tell((struct wave *)(void *)t->warp, t->op, (uint64_t)1 << t->lane, &f);
}

void check_lanes(struct wave *w, const struct op *o, enum finding_kind kind, uint64_t lanes)
{
    struct finding f;
    memset(&f, 0, sizeof f);
    f.kind = kind;
    f.buffer = -1;
    tell(w, o, lanes, &f);
}

/* A register becomes an address or is stored: was it written? Once told it counts as written. */
void check_address(struct wave *w, const struct op *o, const struct operand *a, unsigned words, uint64_t mask)
{
    uint64_t missing = 0;
    if (!a->kind || a->kind == OPERAND_CONST || !mask)
        return;
    for (unsigned k = 0; k < words; k++) {
        const uint64_t here = mask & ~fetch_defined(w, a, k);
        missing |= here;
        if (here && a->kind == OPERAND_VECTOR)
            w->defined[a->reg + k] |= here;
        else if (here && a->kind == OPERAND_SCALAR)
            w->s_defined[a->reg + k] = ~0u;
    }
    if (missing)
        check_lanes(w, o, FOUND_READ_REGISTER, missing);
}

void check_end(struct wave *w, const struct op *o, enum finding_kind kind, uint64_t lanes)
{
    check_lanes(w, o, kind, lanes);
    launch_end(w->worker->launch);
    w->worker->stop = 1;
}
