/* check.c - findings told, with where they happened
 * SPDX-License-Identifier: Apache-2.0 */
#include "inside.h"

/* Fills in where it happened and tells; after kinds that say so the launch ends. */
static void tell(struct thread *t, const struct op *o, uint32_t lanes, struct finding *f)
{
    struct worker *worker = t->worker;
    const struct launch *launch = worker->launch;
    const struct gen_launch *l = launch->asked;
    char text[160];
    const uint32_t item = t->index * launch->kernel->info.simd + (lanes ? lowest_lane(lanes) : 0);
    finding_copy_line(launch->kernel->text + o->at, text, sizeof text);
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

void check_touch(const struct touch *touch, enum finding_kind kind, int64_t other)
{
    struct finding f;
    touch_finding(touch, kind, other, &f);
    tell((struct thread *)(void *)touch->warp, touch->op, (uint32_t)1 << ((touch->lane + touch->op->first) % 32), &f);
}

void check_lanes(struct thread *t, const struct op *o, enum finding_kind kind, uint32_t lanes)
{
    struct finding f;
    memset(&f, 0, sizeof f);
    f.kind = kind;
    f.buffer = -1;
    tell(t, o, lanes, &f);
}

void check_end(struct thread *t, const struct op *o, enum finding_kind kind, uint32_t lanes)
{
    check_lanes(t, o, kind, lanes);
    launch_end(t->worker->launch);
    t->worker->stop = 1;
}
