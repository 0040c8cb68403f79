/* check.c - findings told, and what barriers bring in order
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "inside.h"

/* ---- findings ---- */

static const char *file_of(const struct ptx_module *m, uint32_t number)
{
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].number == number)
            return m->files[i].name;
    return NULL;
}

/* The instruction's text up to its end, blanks made one. */
static void copy_text(const struct ptx_module *m, const struct op *o, char *to, size_t size)
{
    size_t n = 0;
    for (const char *p = m->text + o->at; *p && *p != ';' && *p != '\n' && n + 1 < size; p++) {
        const char c = *p == '\t' || *p == '\r' ? ' ' : *p;
        if (c != ' ' || (n && to[n - 1] != ' '))
            to[n++] = c;
    }
    to[n] = 0;
}

/* Fills in where it happened and tells; after kinds that say so the launch ends. */
static void tell(struct warp *w, const struct op *o, uint32_t lanes, struct finding *f)
{
    struct worker *worker = w->worker;
    const struct launch *launch = worker->launch;
    const struct ptx_launch *l = launch->asked;
    char text[160];
    uint32_t lane = 0;
    while (lane < LANES - 1 && !(lanes >> lane & 1))
        lane++;
    const uint32_t thread = w->index * LANES + lane;
    copy_text(launch->kernel->module, o, text, sizeof text);
    f->kernel = launch->kernel->name;
    f->line = (int)o->line;
    f->text = text;
    f->file = o->file_line ? file_of(launch->kernel->module, o->file) : NULL;
    f->file_line = (int)o->file_line;
    f->lanes = lanes;
    for (int i = 0; i < 3; i++)
        f->group[i] = worker->group[i] + l->group_offset[i];
    f->thread[0] = thread % l->block[0];
    f->thread[1] = thread / l->block[0] % l->block[1];
    f->thread[2] = thread / l->block[0] / l->block[1];
    worker->stats.findings[f->kind]++;
    if (launch_tell(worker->launch, o, f))
        worker->stop = 1;
}

void check_touch(const struct touch *t, enum finding_kind kind, int64_t other)
{
    struct finding f;
    touch_finding(t, kind, other, &f);
    tell(t->warp, t->op, 1u << t->lane, &f);
}

void check_registers(struct warp *w, const struct op *o, uint32_t missing)
{
    struct finding f;
    memset(&f, 0, sizeof f);
    f.kind = FOUND_READ_REGISTER;
    f.buffer = -1;
    tell(w, o, missing, &f);
}

void check_end(struct warp *w, const struct op *o, enum finding_kind kind, uint32_t lanes)
{
    struct finding f;
    memset(&f, 0, sizeof f);
    f.kind = kind;
    f.buffer = -1;
    tell(w, o, lanes, &f);
    w->worker->stop = 1;
}

/* ---- order ---- */

void check_fence(struct warp *w)
{
    order_fence(&w->order);
    memset(w->recent, 0, sizeof w->recent);
}

void check_barrier(struct worker *worker, uint32_t warps)
{
    struct warp_order *came[MAX_WARPS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < worker->launch->n_warps; i++)
        if (warps >> i & 1)
            came[n++] = &worker->warps[i].order;
    order_barrier(came, n);
    for (uint32_t i = 0; i < worker->launch->n_warps; i++)
        if (warps >> i & 1)
            memset(worker->warps[i].recent, 0, sizeof worker->warps[i].recent);
}
