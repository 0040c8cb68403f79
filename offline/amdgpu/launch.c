/* launch.c - arguments checked, memory laid out, host threads started
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "offline/frame/crew.h"

enum { MAX_ITEMS = 1024, ALIGNMENT = 64 };

/* What workers share, under the lock. */
struct state {
    pthread_mutex_t lock;
    uint64_t next; /* group of the schedule */
    enum amdgpu_status status;
    struct amdgpu_stats stats;
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
    const struct amdgpu_launch *asked = launch->asked;
    struct state *s = launch->state;
    int stop = 0;
    launch_lock(launch);
    unsigned char *told = &s->told[o->index * FOUND_KINDS + f->kind];
    if (!*told && asked->report && asked->report(f, asked->context))
        stop = 1;
    *told = 1;
    if (stop)
        s->status = AMDGPU_STOPPED;
    launch_unlock(launch);
    return stop;
}

void launch_end(struct launch *launch)
{
    launch_lock(launch);
    launch->state->status = AMDGPU_STOPPED;
    launch_unlock(launch);
}

/* ---- does the launch fit the kernel? ---- */

static enum amdgpu_status check_arg(const struct amdgpu_launch *l, const struct amdgpu_param *p, size_t i, char *why,
                                    size_t size)
{
    const char *const fault =
        launch_arg_fault(&l->args[i], p->kind, p->size, l->buffers, l->n_buffers, MAX_SHARED);
    if (!fault)
        return AMDGPU_OK;
    say_why(why, size, "argument %zu (%s) does not fit: it %s", i, p->name, fault);
    return AMDGPU_INVALID;
}

static enum amdgpu_status check_block(const struct amdgpu_kernel *k, const struct amdgpu_launch *l, char *why,
                                      size_t size)
{
    uint64_t items = 1;
    for (int i = 0; i < 3; i++) {
        const uint32_t n = l->block[i], required = k->info.required[i];
        items = n > MAX_ITEMS ? MAX_ITEMS + 1 : items * n;
        if (!n || items > MAX_ITEMS) {
            say_why(why, size, "a group must have 1 to %d work-items", MAX_ITEMS);
            return AMDGPU_INVALID;
        }
        if (required && n != required) {
            say_why(why, size, "the kernel wants %u work-items in dimension %d, not %u", required, i, n);
            return AMDGPU_INVALID;
        }
    }
    if (k->info.max_work_group && items > k->info.max_work_group) {
        say_why(why, size, "the kernel allows groups of %u work-items", k->info.max_work_group);
        return AMDGPU_INVALID;
    }
    return AMDGPU_OK;
}

static enum amdgpu_status check_launch(const struct amdgpu_kernel *k, const struct amdgpu_launch *l, char *why,
                                       size_t size)
{
    enum amdgpu_status status = check_block(k, l, why, size);
    if (!status && !launch_check_grid(l->grid, why, size))
        status = AMDGPU_INVALID;
    if (!status && l->n_args != k->info.n_params) {
        say_why(why, size, "%zu arguments where the kernel has %zu", l->n_args, k->info.n_params);
        status = AMDGPU_INVALID;
    }
    if (!status && !launch_check_buffers(l->buffers, l->n_buffers, BUFFER_SHIFT, why, size))
        status = AMDGPU_INVALID;
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

static int lay_out_buffers(struct launch *launch)
{
    const struct amdgpu_launch *l = launch->asked;
    launch->buffers = zeros(l->n_buffers, sizeof *launch->buffers);
    if (!launch->buffers)
        return 0;
    for (size_t i = 0; i < l->n_buffers; i++) {
        const int shared = launch->checked && launch->n_groups > 1 && launch_uses(l->args, l->n_args, i);
        const size_t cells = shared ? (l->buffers[i].size >> launch->kernel->global_shift) + 1 : 0;
        if (!region_of_buffer(&launch->buffers[i], &l->buffers[i], i, BUFFER_SHIFT, launch->checked, cells))
            return 0;
    }
    return 1;
}

static void lay_out_own(struct launch *launch)
{
    const struct amdgpu_kernel *k = launch->kernel;
    const struct region own[N_OWN] = {
        [OWN_IMAGE] = { SPACE_CONST, OWN_ADDRESS(OWN_IMAGE), k->module->image_size, k->module->image, 0, NULL, NULL,
                        { NULL, NULL, NULL }, "the code object", -1 },
        [OWN_KERNARG] = { SPACE_PARAM, OWN_ADDRESS(OWN_KERNARG), k->info.kernarg, launch->kernarg, 0, NULL, NULL,
                          { NULL, NULL, NULL }, "arguments", -1 },
        [OWN_PACKET] = { SPACE_PARAM, OWN_ADDRESS(OWN_PACKET), sizeof launch->packet, launch->packet, 0, NULL, NULL,
                         { NULL, NULL, NULL }, "the dispatch packet", -1 },
    };
    memcpy(launch->own, own, sizeof own);
}

static int lay_out(struct launch *launch, struct state *state)
{
    const struct amdgpu_launch *l = launch->asked;
    const struct amdgpu_kernel *k = launch->kernel;
    launch->checked = !l->unchecked;
    launch->limit = l->limit ? l->limit : (uint64_t)1 << 32;
    launch->wave = k->info.wave;
    launch->n_items = l->block[0] * l->block[1] * l->block[2];
    launch->n_waves = (launch->n_items + launch->wave - 1) / launch->wave;
    launch->n_groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    launch->threaded = l->threads > 1 && launch->n_groups > 1;
    launch->work_dim = l->work_dim ? l->work_dim : 3;
    launch->scratch_bytes = round_up(k->info.scratch, 16);
    launch->order = group_order(l->schedule, l->seed, launch->n_groups);
    launch->state = state;
    state->told = zeros(k->module->n_ops, FOUND_KINDS);
    launch->kernarg = zeros(k->info.kernarg + 16, 1);
    if (!state->told || !launch->kernarg || !lay_out_buffers(launch))
        return 0;
    begin_kernarg(launch);
    lay_out_own(launch);
    return 1;
}

static void tear_down(struct launch *launch)
{
    for (size_t i = 0; launch->buffers && i < launch->asked->n_buffers; i++)
        free(launch->buffers[i].grid);
    free(launch->buffers);
    free(launch->kernarg);
    free(launch->state->told);
}

/* ---- workers ---- */

enum allocation { VECTORS, DEFINED, PENDING, PENDING_ON, SCRATCH, SCRATCH_WRITTEN, SHARED, STAMPS, N_ALLOCATIONS };

static void worker_free(void *blob)
{
    struct worker *const worker = blob;
    if (!worker)
        return;
    for (int i = 0; i < N_ALLOCATIONS; i++)
        free(worker->allocations[i]);
    free(worker->waves);
    free(worker->per_op);
    free(worker);
}

static size_t grains(const struct launch *launch) /* of LDS */
{
    return (launch->shared_bytes >> launch->kernel->shared_shift) + 1;
}

static void place_shared(struct worker *worker)
{
    const struct launch *launch = worker->launch;
    struct region *region = &worker->shared;
    region->space = SPACE_SHARED;
    region->size = launch->shared_bytes;
    region->data = worker->allocations[SHARED];
    region->name = "LDS";
    region->buffer = -1;
    if (worker->allocations[STAMPS]) {
        region->stamps.write = worker->allocations[STAMPS];
        region->stamps.read = region->stamps.write + grains(launch);
        region->stamps.read2 = region->stamps.read + grains(launch);
    }
}

static void place_waves(struct worker *worker)
{
    const struct launch *launch = worker->launch;
    const size_t n = launch->kernel->module->n_vectors, scratch = launch->wave * launch->scratch_bytes;
    unsigned char *vectors = worker->allocations[VECTORS];
    vectors += (ALIGNMENT - (uintptr_t)vectors % ALIGNMENT) % ALIGNMENT;
    for (uint32_t i = 0; i < launch->n_waves; i++) {
        struct wave *w = &worker->waves[i];
        w->index = i;
        w->n = launch->wave;
        w->worker = worker;
        w->order.warp = i;
        w->order.lanes = launch->wave;
        w->v = (lane_u32 *)(void *)vectors + i * n * launch->wave;
        w->defined = (uint64_t *)worker->allocations[DEFINED] + i * n;
        w->pending = (uint32_t *)worker->allocations[PENDING] + 2 * i * n;
        w->pending_on = (uint8_t *)worker->allocations[PENDING_ON] + 2 * i * n;
        w->scratch = (unsigned char *)worker->allocations[SCRATCH] + i * scratch;
        if (worker->allocations[SCRATCH_WRITTEN])
            w->scratch_written = (unsigned char *)worker->allocations[SCRATCH_WRITTEN] + i * scratch;
        w->scratch_region.space = SPACE_LOCAL;
        w->scratch_region.size = launch->kernel->info.scratch;
        w->scratch_region.data = w->scratch;
        w->scratch_region.stride = launch->scratch_bytes;
        w->scratch_region.name = "scratch";
        w->scratch_region.buffer = -1;
    }
}

static int allocate(struct worker *worker)
{
    const struct launch *launch = worker->launch;
    const size_t waves = launch->n_waves, n = launch->kernel->module->n_vectors;
    const size_t scratch = waves * launch->wave * launch->scratch_bytes + 16;
    const size_t sizes[N_ALLOCATIONS] = {
        [VECTORS] = waves * n * launch->wave * 4 + ALIGNMENT, [DEFINED] = waves * n * sizeof(uint64_t),
        [PENDING] = waves * n * 2 * sizeof(uint32_t), [PENDING_ON] = 2 * waves * n, [SCRATCH] = scratch,
        [SCRATCH_WRITTEN] = launch->checked ? scratch : 0, [SHARED] = launch->shared_bytes + 16,
        [STAMPS] = launch->checked ? 3 * grains(launch) * sizeof(uint64_t) : 0,
    };
    worker->waves = zeros(waves, sizeof *worker->waves);
    if (launch->asked->per_line)
        worker->per_op = zeros(launch->kernel->module->n_ops, sizeof *worker->per_op);
    int whole = worker->waves && (worker->per_op || !launch->asked->per_line);
    for (int i = 0; i < N_ALLOCATIONS && whole; i++) {
        worker->allocations[i] = sizes[i] ? zeros(sizes[i], 1) : NULL;
        whole = worker->allocations[i] || !sizes[i];
    }
    return whole;
}

static void *worker_new(void *blob, uint64_t number)
{
    struct launch *const launch = blob;
    struct worker *worker = zeros(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->launch = launch;
    worker->random = launch->asked->seed ^ (number << 32);
    worker->last_epoch = 1;
    if (!allocate(worker)) {
        worker_free(worker);
        return NULL;
    }
    place_shared(worker);
    place_waves(worker);
    return worker;
}

/* False: there is no group left. */
static int next_group(struct worker *worker)
{
    struct launch *launch = worker->launch;
    struct state *s = launch->state;
    launch_lock(launch);
    const int more = s->status == AMDGPU_OK && s->next < launch->n_groups;
    const uint64_t k = more ? s->next++ : 0;
    launch_unlock(launch);
    if (!more)
        return 0;
    worker->group_linear = group_at(&launch->order, k, launch->asked->grid, worker->group);
    return 1;
}

static void add_stats(struct amdgpu_stats *to, const struct amdgpu_stats *from)
{
    to->instructions += from->instructions;
    to->lane_instructions += from->lane_instructions;
    to->matrix_instructions += from->matrix_instructions;
    for (int i = 0; i < FOUND_KINDS; i++)
        to->findings[i] += from->findings[i];
}

static void add_lines(const struct worker *worker)
{
    const struct amdgpu_launch *l = worker->launch->asked;
    const struct amdgpu_module *m = worker->launch->kernel->module;
    for (size_t i = 0; worker->per_op && i < m->n_ops; i++)
        if (m->ops[i].line && m->ops[i].line <= l->n_lines)
            l->per_line[m->ops[i].line - 1] += worker->per_op[i];
}

static void worker_loop(void *blob)
{
    struct worker *const worker = blob;
    struct launch *launch = worker->launch;
    while (!worker->stop && next_group(worker))
        worker_group(worker);
    launch_lock(launch);
    add_stats(&launch->state->stats, &worker->stats);
    add_lines(worker);
    launch_unlock(launch);
}

enum amdgpu_status amdgpu_run(const struct amdgpu_kernel *kernel, const struct amdgpu_launch *asked, char *why,
                              size_t why_size)
{
    static const struct crew crew = { worker_new, worker_loop, worker_free };
    struct launch launch;
    struct state state;
    memset(&launch, 0, sizeof launch);
    memset(&state, 0, sizeof state);
    say_why(why, why_size, "%s", "");
    const enum amdgpu_status status = check_launch(kernel, asked, why, why_size);
    if (status || !asked->grid[0] || !asked->grid[1] || !asked->grid[2])
        return status;
    launch.kernel = kernel;
    launch.asked = asked;
    if (pthread_mutex_init(&state.lock, NULL)) {
        say_why(why, why_size, "out of memory");
        return AMDGPU_NO_MEMORY;
    }
    if (!lay_out(&launch, &state) ||
        !crew_run(&crew, &launch, launch.threaded ? asked->threads : 1, launch.n_groups))
        state.status = AMDGPU_NO_MEMORY;
    tear_down(&launch);
    pthread_mutex_destroy(&state.lock);
    if (asked->stats)
        add_stats(asked->stats, &state.stats);
    if (state.status == AMDGPU_NO_MEMORY)
        say_why(why, why_size, "out of memory");
    else if (state.status == AMDGPU_STOPPED)
        say_why(why, why_size, "the launch ended early");
    return state.status;
}
