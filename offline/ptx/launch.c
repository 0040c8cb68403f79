/* launch.c - arguments checked, memory laid out, host threads started
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "offline/frame/crew.h"

enum { MAX_THREADS = 1024, ALIGNMENT = 64 };

/* What workers share, under the lock. */
struct state {
    pthread_mutex_t lock;
    uint64_t next; /* group of the schedule */
    enum ptx_status status;
    struct ptx_stats stats;
    unsigned char *told; /* per instruction and kind */
};

void launch_lock(struct launch *launch)
{
    if (launch->threaded)
        pthread_mutex_lock(&launch->state->lock);
}

void launch_unlock(struct launch *launch)
{
    if (launch->threaded)
        pthread_mutex_unlock(&launch->state->lock);
}

int launch_tell(struct launch *launch, const struct op *o, struct finding *f)
{
    const struct ptx_launch *asked = launch->asked;
    struct state *s = launch->state;
    int stop = f->kind == FOUND_DIVERGED || f->kind == FOUND_NO_PROGRESS;
    launch_lock(launch);
    unsigned char *told = &s->told[o->index * FOUND_KINDS + f->kind];
    if (!*told && asked->report && asked->report(f, asked->context))
        stop = 1;
    *told = 1;
    if (stop)
        s->status = PTX_STOPPED;
    launch_unlock(launch);
    return stop;
}

/* ---- does the launch fit the kernel? ---- */

static enum ptx_status check_arg(const struct ptx_launch *l, const struct ptx_param *p, size_t i, char *why,
                                 size_t size)
{
    const char *const fault =
        launch_arg_fault(&l->args[i], p->kind, p->size, l->buffers, l->n_buffers, 1 << VAR_SHIFT);
    if (!fault)
        return PTX_OK;
    say_why(why, size, "argument %zu does not fit %s: it %s", i, p->name, fault);
    return PTX_INVALID;
}

static enum ptx_status check_block(const struct ptx_kernel *k, const struct ptx_launch *l, char *why, size_t size)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        const uint32_t n = l->block[i], required = k->info.reqntid[i];
        threads = n > MAX_THREADS ? MAX_THREADS + 1 : threads * n;
        if (!n || threads > MAX_THREADS) {
            say_why(why, size, "a group must have 1 to %d threads", MAX_THREADS);
            return PTX_INVALID;
        }
        if (required && n != required) {
            say_why(why, size, "the kernel wants %u threads in dimension %d (.reqntid), not %u", required, i, n);
            return PTX_INVALID;
        }
    }
    const uint32_t *most = k->info.maxntid;
    if (most[0] && threads > (uint64_t)most[0] * most[1] * most[2]) {
        say_why(why, size, "the kernel allows fewer threads (.maxntid)");
        return PTX_INVALID;
    }
    return PTX_OK;
}

static enum ptx_status check_launch(const struct ptx_kernel *k, const struct ptx_launch *l, char *why, size_t size)
{
    enum ptx_status status = check_block(k, l, why, size);
    if (!status && !launch_check_grid(l->grid, why, size))
        status = PTX_INVALID;
    if (!status && l->n_args != k->info.n_params) {
        say_why(why, size, "%zu arguments where the kernel has %zu", l->n_args, k->info.n_params);
        status = PTX_INVALID;
    }
    if (!status && !launch_check_buffers(l->buffers, l->n_buffers, BUFFER_SHIFT, why, size))
        status = PTX_INVALID;
    for (size_t i = 0; !status && i < l->n_args; i++)
        status = check_arg(l, &k->info.params[i], i, why, size);
    return status;
}

/* ---- memory of the launch ---- */

static void *zeros(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

static size_t round_up(size_t x, size_t to)
{
    return (x + to - 1) / to * to;
}

/* The kernel's shared arrays, then those of arguments. */
static int lay_out_shared(struct launch *launch)
{
    const struct ptx_kernel *k = launch->kernel;
    const struct ptx_launch *l = launch->asked;
    launch->shared = zeros(k->n_shared + l->n_args, sizeof *launch->shared);
    if (!launch->shared)
        return 0;
    for (size_t i = 0; i < k->n_shared; i++) {
        launch->shared[i] = k->shared[i];
        launch->shared[i].at = round_up(launch->shared_bytes, k->shared[i].align < 16 ? 16 : k->shared[i].align);
        launch->shared_bytes = launch->shared[i].at + k->shared[i].size;
    }
    launch->n_shared = k->n_shared;
    for (size_t i = 0; i < l->n_args; i++) {
        if (l->args[i].kind != ARG_SHARED)
            continue;
        struct variable *v = &launch->shared[launch->n_shared++];
        v->name = k->params[i].name;
        v->size = l->args[i].size;
        v->at = round_up(launch->shared_bytes, 128);
        launch->shared_bytes = v->at + v->size;
    }
    launch->shared_bytes = round_up(launch->shared_bytes, 16);
    return 1;
}

static uint64_t pointer_of(const struct launch_arg *a, size_t *n_shared)
{
    switch (a->kind) {
    case ARG_BUFFER: return ((uint64_t)(a->buffer + 1) << BUFFER_SHIFT) + a->offset;
    case ARG_SHARED: return (uint64_t)++*n_shared << VAR_SHIFT;
    default: return 0;
    }
}

static int lay_out_params(struct launch *launch)
{
    const struct ptx_kernel *k = launch->kernel;
    const struct ptx_launch *l = launch->asked;
    size_t n_shared = k->n_shared;
    launch->params = zeros(k->param_bytes + 16, 1);
    launch->param_regions = zeros(k->info.n_params, sizeof *launch->param_regions);
    if (!launch->params || !launch->param_regions)
        return 0;
    for (size_t i = 0; i < k->info.n_params; i++) {
        struct region *region = &launch->param_regions[i];
        unsigned char *to = launch->params + k->param_at[i];
        region->space = SPACE_PARAM;
        region->base = (uint64_t)(i + 1) << VAR_SHIFT;
        region->size = k->params[i].size;
        region->data = to;
        region->name = k->params[i].name;
        region->buffer = -1;
        if (l->args[i].kind == ARG_VALUE) {
            memcpy(to, l->args[i].value, l->args[i].size);
        } else {
            const uint64_t address = pointer_of(&l->args[i], &n_shared);
            memcpy(to, &address, sizeof address);
        }
    }
    return 1;
}

static int lay_out_buffers(struct launch *launch)
{
    const struct ptx_module *m = launch->kernel->module;
    const struct ptx_launch *l = launch->asked;
    launch->buffers = zeros(l->n_buffers, sizeof *launch->buffers);
    launch->tables = zeros(m->n_tables, sizeof *launch->tables);
    if (!launch->buffers || !launch->tables)
        return 0;
    for (size_t i = 0; i < l->n_buffers; i++) {
        const int shared = launch->checked && launch->n_groups > 1 && launch_uses(l->args, l->n_args, i);
        const size_t cells = shared ? l->buffers[i].size / (size_t)launch->kernel->global_grain + 1 : 0;
        if (!region_of_buffer(&launch->buffers[i], &l->buffers[i], i, BUFFER_SHIFT, launch->checked, cells))
            return 0;
    }
    for (size_t i = 0; i < m->n_tables; i++) {
        struct region *region = &launch->tables[i];
        region->space = SPACE_CONST;
        region->base = (uint64_t)(MAX_BUFFERS + i + 1) << BUFFER_SHIFT;
        region->size = m->tables[i].size;
        region->data = (unsigned char *)(uintptr_t)m->tables[i].init; /* never written */
        region->name = m->tables[i].name;
        region->buffer = -1;
    }
    return 1;
}

/* Registers that have a value from the beginning. */
static int lay_out_defined(struct launch *launch)
{
    const struct ptx_kernel *k = launch->kernel;
    launch->defined = zeros(k->n_slots, sizeof *launch->defined);
    if (!launch->defined)
        return 0;
    for (size_t i = 0; i < k->n_constants; i++)
        launch->defined[k->constants[i].slot] = ~0u;
    for (int i = 0; i < N_SPECIAL; i++)
        if (k->special[i])
            launch->defined[k->special[i] - 1] = ~0u;
    return 1;
}

static int lay_out(struct launch *launch, struct state *state)
{
    const struct ptx_launch *l = launch->asked;
    launch->checked = !l->unchecked;
    launch->limit = l->limit ? l->limit : (uint64_t)1 << 32;
    launch->n_threads = l->block[0] * l->block[1] * l->block[2];
    launch->n_warps = (launch->n_threads + LANES - 1) / LANES;
    launch->n_groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    launch->threaded = l->threads > 1 && launch->n_groups > 1;
    launch->work_dim = l->work_dim ? l->work_dim : 3;
    const int whole = l->total_grid[0] || l->total_grid[1] || l->total_grid[2];
    for (int i = 0; i < 3; i++)
        launch->total_grid[i] = whole ? l->total_grid[i] : l->group_offset[i] + l->grid[i];
    launch->order = group_order(l->schedule, l->seed, launch->n_groups);
    launch->state = state;
    state->told = zeros(launch->kernel->n_ops, FOUND_KINDS);
    return state->told && lay_out_shared(launch) && lay_out_params(launch) && lay_out_buffers(launch) &&
           lay_out_defined(launch);
}

static void tear_down(struct launch *launch)
{
    for (size_t i = 0; launch->buffers && i < launch->asked->n_buffers; i++)
        free(launch->buffers[i].grid);
    free(launch->buffers);
    free(launch->tables);
    free(launch->params);
    free(launch->param_regions);
    free(launch->shared);
    free(launch->defined);
    free(launch->state->told);
}

/* ---- workers ---- */

static void worker_free(void *blob)
{
    struct worker *const worker = blob;
    if (!worker)
        return;
    free(worker->warps);
    free(worker->shared);
    free(worker->local);
    free(worker->registers);
    free(worker->shared_data);
    free(worker->local_data);
    free(worker->local_written);
    free(worker->defined);
    free(worker->stamps);
    free(worker);
}

/* Of shared memory. */
static size_t grains(const struct launch *launch)
{
    return launch->shared_bytes / (size_t)launch->kernel->shared_grain + 1;
}

static void place_shared(struct worker *worker)
{
    const struct launch *launch = worker->launch;
    for (size_t i = 0; i < launch->n_shared; i++) {
        struct region *region = &worker->shared[i];
        region->space = SPACE_SHARED;
        region->base = (uint64_t)(i + 1) << VAR_SHIFT;
        region->size = launch->shared[i].size;
        region->data = worker->shared_data + launch->shared[i].at;
        region->name = launch->shared[i].name;
        region->buffer = -1;
        if (worker->stamps) {
            const size_t n = grains(launch);
            region->stamps.write = worker->stamps + launch->shared[i].at / (size_t)launch->kernel->shared_grain;
            region->stamps.read = region->stamps.write + n;
            region->stamps.read2 = region->stamps.read + n;
        }
    }
}

static void place_local(struct worker *worker, struct warp *w)
{
    const struct ptx_kernel *k = worker->launch->kernel;
    const size_t stride = round_up(k->local_bytes, 16), first = w->index * LANES * stride;
    for (size_t i = 0; i < k->n_local; i++) {
        struct region *region = &w->local[i];
        region->space = SPACE_LOCAL;
        region->base = (uint64_t)(i + 1) << VAR_SHIFT;
        region->size = k->local[i].size;
        region->data = worker->local_data + first + k->local[i].at;
        region->written = worker->local_written ? worker->local_written + first + k->local[i].at : NULL;
        region->stride = stride;
        region->name = k->local[i].name;
        region->buffer = -1;
    }
}

static void fill_constants(const struct ptx_kernel *k, struct warp *w)
{
    for (size_t i = 0; i < k->n_constants; i++) {
        const struct constant *c = &k->constants[i];
        for (int lane = 0; lane < LANES; lane++)
            if (c->width == 8)
                ((lane_u64 *)reg_u32(w, c->slot))[lane] = c->value;
            else
                reg_u32(w, c->slot)[lane] = (uint32_t)c->value;
    }
}

static void place_warps(struct worker *worker)
{
    const struct launch *launch = worker->launch;
    const struct ptx_kernel *k = launch->kernel;
    const size_t misaligned = (uintptr_t)worker->registers % ALIGNMENT;
    unsigned char *registers = worker->registers + (misaligned ? ALIGNMENT - misaligned : 0);
    for (uint32_t i = 0; i < launch->n_warps; i++) {
        struct warp *w = &worker->warps[i];
        w->index = i;
        w->order.warp = i;
        w->order.lanes = LANES;
        w->worker = worker;
        w->approximate = (launch->asked->approximate > 0) - (launch->asked->approximate < 0);
        w->regs = (lane_u32 *)(void *)(registers + (size_t)i * k->n_slots * LANES * 4);
        w->defined = worker->defined + (size_t)i * k->n_slots;
        w->local = worker->local + (size_t)i * k->n_local;
        place_local(worker, w);
        fill_constants(k, w);
    }
}

static void *worker_new(void *blob, uint64_t number)
{
    struct launch *const launch = blob;
    const struct ptx_kernel *k = launch->kernel;
    const size_t n_warps = launch->n_warps, local = n_warps * LANES * round_up(k->local_bytes, 16);
    struct worker *worker = zeros(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->launch = launch;
    worker->random = launch->asked->seed ^ (number << 32);
    worker->last_epoch = 1;
    worker->warps = zeros(n_warps, sizeof *worker->warps);
    worker->shared = zeros(launch->n_shared, sizeof *worker->shared);
    worker->local = zeros(n_warps * k->n_local, sizeof *worker->local);
    worker->registers = zeros(n_warps * k->n_slots * LANES * 4 + ALIGNMENT, 1);
    worker->shared_data = zeros(launch->shared_bytes + 16, 1);
    worker->local_data = zeros(local, 1);
    worker->defined = zeros(n_warps * k->n_slots, sizeof *worker->defined);
    int whole = worker->warps && worker->shared && worker->local && worker->registers && worker->shared_data &&
                worker->local_data && worker->defined;
    if (launch->checked) {
        worker->local_written = zeros(local, 1);
        worker->stamps = zeros(3 * grains(launch), sizeof *worker->stamps);
        whole = whole && worker->local_written && worker->stamps;
    }
    if (!whole) {
        worker_free(worker);
        return NULL;
    }
    place_shared(worker);
    place_warps(worker);
    return worker;
}

/* False: there is no group left. */
static int next_group(struct worker *worker)
{
    struct launch *launch = worker->launch;
    struct state *s = launch->state;
    launch_lock(launch);
    const int more = s->status == PTX_OK && s->next < launch->n_groups;
    const uint64_t k = more ? s->next++ : 0;
    launch_unlock(launch);
    if (!more)
        return 0;
    worker->group_linear = group_at(&launch->order, k, launch->asked->grid, worker->group);
    return 1;
}

static void add_stats(struct ptx_stats *to, const struct ptx_stats *from)
{
    to->instructions += from->instructions;
    to->thread_instructions += from->thread_instructions;
    for (int i = 0; i < FOUND_KINDS; i++)
        to->findings[i] += from->findings[i];
}

static void worker_loop(void *blob)
{
    struct worker *const worker = blob;
    struct launch *launch = worker->launch;
    while (!worker->stop && next_group(worker))
        worker_group(worker);
    launch_lock(launch);
    add_stats(&launch->state->stats, &worker->stats);
    launch_unlock(launch);
}

enum ptx_status ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *asked, char *why, size_t why_size)
{
    static const struct crew crew = { worker_new, worker_loop, worker_free };
    struct launch launch;
    struct state state;
    memset(&launch, 0, sizeof launch);
    memset(&state, 0, sizeof state);
    say_why(why, why_size, "%s", "");
    const enum ptx_status status = check_launch(kernel, asked, why, why_size);
    if (status || !asked->grid[0] || !asked->grid[1] || !asked->grid[2])
        return status;
    launch.kernel = kernel;
    launch.asked = asked;
    if (pthread_mutex_init(&state.lock, NULL)) {
        say_why(why, why_size, "out of memory");
        return PTX_NO_MEMORY;
    }
    if (!lay_out(&launch, &state) ||
        !crew_run(&crew, &launch, launch.threaded ? asked->threads : 1, launch.n_groups))
        state.status = PTX_NO_MEMORY;
    tear_down(&launch);
    pthread_mutex_destroy(&state.lock);
    if (asked->stats)
        add_stats(asked->stats, &state.stats);
    if (state.status == PTX_NO_MEMORY)
        say_why(why, why_size, "out of memory");
    else if (state.status == PTX_STOPPED)
        say_why(why, why_size, "the launch ended early");
    return state.status;
}
