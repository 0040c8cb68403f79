/* begin.c - what a wave finds in its registers, and a kernel in its arguments
 * SPDX-License-Identifier: Apache-2.0
 *
 * As the "User Guide for AMDGPU Backend" of LLVM has it ("Initial Kernel Execution State", "Code Object Metadata"). */
#include <string.h>

#include "inside.h"

/* ---- arguments ---- */

static uint64_t hidden_value(const struct launch *launch, const struct hidden *h)
{
    const struct amdgpu_launch *l = launch->asked;
    const unsigned d = h->dimension;
    switch (h->kind) {
    case HIDDEN_BLOCKS: return l->grid[d];
    case HIDDEN_GROUP_SIZE: return l->block[d];
    case HIDDEN_OFFSET: return l->global_offset[d];
    case HIDDEN_DIMS: return launch->work_dim;
    case HIDDEN_SHARED_SIZE: return launch->shared_bytes - launch->kernel->info.shared;
    case HIDDEN_PRIVATE_BASE: return APERTURE_SCRATCH >> 32;
    case HIDDEN_SHARED_BASE: return APERTURE_SHARED >> 32;
    default: return 0; /* no remainder: all groups are whole */
    }
}

static size_t round_up(size_t x, size_t to)
{
    return (x + to - 1) / to * to;
}

/* Lays LDS of arguments out behind the kernel's own. */
static uint64_t argument(struct launch *launch, const struct launch_arg *a)
{
    if (a->kind == ARG_BUFFER)
        return ((uint64_t)(a->buffer + 1) << BUFFER_SHIFT) + a->offset;
    if (a->kind != ARG_SHARED)
        return 0;
    const size_t at = round_up(launch->shared_bytes, 16);
    launch->shared_bytes = at + a->size;
    return at;
}

void begin_kernarg(struct launch *launch)
{
    const struct amdgpu_kernel *k = launch->kernel;
    const struct amdgpu_launch *l = launch->asked;
    launch->shared_bytes = k->info.shared;
    for (size_t i = 0; i < l->n_args; i++) {
        const struct amdgpu_param *p = &k->params[i];
        const uint64_t x = argument(launch, &l->args[i]);
        if (l->args[i].kind == ARG_VALUE)
            memcpy(launch->kernarg + p->offset, l->args[i].value, p->size);
        else
            memcpy(launch->kernarg + p->offset, &x, p->size);
    }
    for (size_t i = 0; i < k->n_hidden; i++) {
        const struct hidden *h = &k->hidden[i];
        const uint64_t x = hidden_value(launch, h);
        if (h->size <= sizeof x && h->offset + h->size <= k->info.kernarg)
            memcpy(launch->kernarg + h->offset, &x, h->size);
    }
    uint16_t block[3], setup = (uint16_t)launch->work_dim;
    uint32_t items[3];
    const uint64_t kernarg = OWN_ADDRESS(OWN_KERNARG);
    for (int i = 0; i < 3; i++) {
        block[i] = (uint16_t)l->block[i];
        items[i] = l->grid[i] * l->block[i];
    }
    memcpy(launch->packet + 2, &setup, sizeof setup);
    memcpy(launch->packet + 4, block, sizeof block);
    memcpy(launch->packet + 12, items, sizeof items);
    memcpy(launch->packet + 40, &kernarg, sizeof kernarg);
}

/* ---- registers ---- */

struct filling {
    struct wave *w;
    uint32_t next;
};

static void put(struct filling *f, uint32_t x)
{
    if (f->next >= REG_VCC)
        return;
    f->w->s[f->next] = x;
    f->w->s_defined[f->next++] = ~0u;
}

static void put_if(struct filling *f, int enabled, uint64_t x)
{
    if (!enabled)
        return;
    put(f, (uint32_t)x);
    put(f, (uint32_t)(x >> 32));
}

static void put_user(struct filling *f)
{
    const struct launch *launch = f->w->worker->launch;
    const struct setup *s = &launch->kernel->setup;
    if (s->private_buffer) { /* its base; the rest does not matter here */
        put(f, 0);
        put(f, (uint32_t)(APERTURE_SCRATCH >> 32));
        put(f, 0);
        put(f, 0);
    }
    put_if(f, s->dispatch, OWN_ADDRESS(OWN_PACKET));
    put_if(f, s->queue, 0);
    put_if(f, s->kernarg, OWN_ADDRESS(OWN_KERNARG));
    put_if(f, s->dispatch_id, 0);
    put_if(f, s->flat_scratch, 0);
    if (s->private_size)
        put(f, (uint32_t)launch->kernel->info.scratch);
    for (uint32_t i = 0; i < s->preload_length; i++) {
        uint32_t x = 0;
        const size_t at = 4 * ((size_t)s->preload_offset + i);
        if (at + 4 <= launch->kernel->info.kernarg)
            memcpy(&x, launch->kernarg + at, 4);
        put(f, x);
    }
    if (f->next < s->user_sgprs)
        f->next = s->user_sgprs;
}

static void put_group(struct filling *f)
{
    const struct worker *worker = f->w->worker;
    const struct amdgpu_kernel *k = worker->launch->kernel;
    const struct setup *s = &k->setup;
    const uint32_t *g = worker->group;
    struct wave *w = f->w;
    w->s[REG_TTMP + 9] = g[0];
    w->s[REG_TTMP + 7] = (g[1] & 0xffff) | g[2] << 16;
    w->s_defined[REG_TTMP + 9] = w->s_defined[REG_TTMP + 7] = ~0u;
    for (int i = 0; i < 3; i++)
        if (s->group_id[i] && k->module->generation < 12)
            put(f, g[i]);
    if (k->module->generation == 12 && !k->module->image) /* text alone: ours to say */
        for (int i = 0; i < 3; i++)
            put(f, g[i]);
    if (s->group_info)
        put(f, 0);
    if (s->private_offset)
        put(f, 0);
}

static void put_items(struct wave *w)
{
    const struct launch *launch = w->worker->launch;
    const struct setup *s = &launch->kernel->setup;
    const uint32_t *block = launch->asked->block;
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t t = w->index * w->n + i;
        const uint32_t at[3] = { t % block[0], t / block[0] % block[1], t / (block[0] * block[1]) };
        if (s->packed_item)
            vector_of(w, 0)[i] = at[0] | at[1] << 10 | at[2] << 20;
        for (uint32_t d = 0; !s->packed_item && d <= s->work_item && d < 3; d++)
            vector_of(w, d)[i] = at[d];
    }
    for (uint32_t d = 0; d <= (s->packed_item ? 0u : s->work_item) && d < 3; d++)
        w->defined[d] = w->existing;
}

void begin_wave(struct wave *w)
{
    const struct launch *launch = w->worker->launch;
    const uint32_t n_vectors = launch->kernel->module->n_vectors, left = launch->n_items - w->index * w->n;
    struct filling f = { w, 0 };
    memset(w->defined, 0, n_vectors * sizeof *w->defined);
    memset(w->pending, 0, 2 * n_vectors * sizeof *w->pending);
    memset(w->s, 0, sizeof w->s);
    memset(w->s_defined, 0, sizeof w->s_defined);
    memset(w->s_pending, 0, sizeof w->s_pending);
    memset(w->issued, 0, sizeof w->issued);
    memset(w->complete, 0, sizeof w->complete);
    w->stores = 0;
    w->scc = w->scc_defined = 0;
    w->existing = left >= w->n ? all_lanes(w) : ((uint64_t)1 << left) - 1;
    w->s[REG_EXEC] = (uint32_t)w->existing;
    w->s[REG_EXEC + 1] = (uint32_t)(w->existing >> 32);
    w->s_defined[REG_EXEC] = w->s_defined[REG_EXEC + 1] = w->s_defined[REG_NULL] = w->s_defined[REG_NULL + 1] = ~0u;
    w->s_defined[REG_FLAT_SCRATCH] = w->s_defined[REG_FLAT_SCRATCH + 1] = ~0u;
    w->s_defined[REG_XNACK] = w->s_defined[REG_XNACK + 1] = ~0u;
    w->s_defined[REG_M0] = ~0u;
    w->pc = launch->kernel->first;
    w->ended = w->signalled = w->waits = 0;
    w->indexed = 0;
    w->flush = launch->kernel->setup.flush;
    put_user(&f);
    put_group(&f);
    put_items(w);
}
