/* launch.c - arguments checked, memory laid out, host threads started
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>

#include "inside.h"
#include "offline/frame/crew.h"

enum { MAX_ITEMS = 1024 };

/* What workers share, under the lock. */
struct state {
    pthread_mutex_t lock;
    uint64_t next; /* group of the schedule */
    enum gen_status status;
    struct gen_stats stats;
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
    const struct gen_launch *asked = launch->asked;
    struct state *s = launch->state;
    int stop = 0;
    launch_lock(launch);
    unsigned char *told = &s->told[(size_t)o->index * FOUND_KINDS + f->kind];
    if (!*told && asked->report && asked->report(f, asked->context))
        stop = 1;
    *told = 1;
    if (stop)
        s->status = GEN_STOPPED;
    launch_unlock(launch);
    return stop;
}

void launch_end(struct launch *launch)
{
    launch_lock(launch);
    launch->state->status = GEN_STOPPED;
    launch_unlock(launch);
}

/* ---- does the launch fit the kernel? ---- */

static enum gen_status check_arg(const struct gen_launch *l, const struct gen_param *p, size_t i, char *why,
                                 size_t size)
{
    const char *const fault =
        launch_arg_fault(&l->args[i], p->kind, p->size, l->buffers, l->n_buffers, MAX_SHARED);
    if (!fault)
        return GEN_OK;
    say_why(why, size, "argument %zu (%s) does not fit: it %s", i, p->name, fault);
    return GEN_INVALID;
}

static enum gen_status check_block(const struct gen_kernel *k, const struct gen_launch *l, char *why, size_t size)
{
    uint64_t items = 1;
    for (int i = 0; i < 3; i++) {
        const uint32_t n = l->block[i], required = k->info.required[i];
        items = n > MAX_ITEMS ? MAX_ITEMS + 1 : items * n;
        if (!n || items > MAX_ITEMS || items > (uint64_t)MAX_WARPS * k->info.simd) {
            say_why(why, size, "a group must have 1 to %d work-items, in at most %d hardware threads", MAX_ITEMS,
                    MAX_WARPS);
            return GEN_INVALID;
        }
        if (required && n != required) {
            say_why(why, size, "the kernel wants %u work-items in dimension %d, not %u", required, i, n);
            return GEN_INVALID;
        }
    }
    return GEN_OK;
}

/* Kernels take them as 32 bits. */
static enum gen_status check_offsets(const struct gen_launch *l, char *why, size_t size)
{
    for (int i = 0; i < 3; i++)
        if (l->global_offset[i] > UINT32_MAX) {
            say_why(why, size, "the global offset in dimension %d has more than 32 bits", i);
            return GEN_INVALID;
        }
    return GEN_OK;
}

static enum gen_status check_launch(const struct gen_kernel *k, const struct gen_launch *l, char *why, size_t size)
{
    enum gen_status status = check_block(k, l, why, size);
    if (!status && !launch_check_grid(l->grid, why, size))
        status = GEN_INVALID;
    if (!status && l->n_args != k->info.n_params) {
        say_why(why, size, "%zu arguments where the kernel has %zu", l->n_args, k->info.n_params);
        status = GEN_INVALID;
    }
    if (!status)
        status = check_offsets(l, why, size);
    if (!status && !launch_check_buffers(l->buffers, l->n_buffers, BUFFER_SHIFT, why, size))
        status = GEN_INVALID;
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
    const struct gen_launch *l = launch->asked;
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

static struct region own_region(enum space space, uint64_t base, size_t size, unsigned char *data, const char *name)
{
    const struct region r = { space, base, size, data, 0, NULL, NULL, { NULL, NULL, NULL }, name, -1 };
    return r;
}

static size_t shared_of(const struct gen_kernel *k, const struct gen_launch *l)
{
    size_t n = round_up(k->info.shared, 16);
    for (size_t i = 0; i < l->n_args; i++)
        if (l->args[i].kind == ARG_SHARED)
            n += round_up(l->args[i].size, 16);
    return n;
}

static int lay_out(struct launch *launch, struct state *state)
{
    const struct gen_launch *l = launch->asked;
    const struct gen_kernel *k = launch->kernel;
    launch->checked = !l->unchecked;
    launch->limit = l->limit ? l->limit : (uint64_t)1 << 32;
    launch->n_items = l->block[0] * l->block[1] * l->block[2];
    launch->n_threads = (launch->n_items + k->info.simd - 1) / k->info.simd;
    launch->n_groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    launch->threaded = l->threads > 1 && launch->n_groups > 1;
    launch->work_dim = l->work_dim ? l->work_dim : 3;
    launch->shared_bytes = shared_of(k, l);
    launch->scratch_bytes = round_up(k->info.scratch, 64);
    launch->rest = round_up(k->payload_bytes > k->inline_bytes ? k->payload_bytes - k->inline_bytes : 0, 32);
    launch->per_thread = k->local_id_bytes;
    launch->payload_bytes = launch->rest + launch->n_threads * launch->per_thread;
    launch->order = group_order(l->schedule, l->seed, launch->n_groups);
    launch->state = state;
    state->told = zeros(k->info.n_ops + 1, FOUND_KINDS);
    launch->payload = zeros(k->payload_bytes + k->inline_bytes + 64, 1);
    launch->constants = own_region(SPACE_CONST, OWN_ADDRESS(OWN_CONSTANTS), k->module->constants_size,
                                   k->module->constants, "the program's constants");
    if (!state->told || !launch->payload || !lay_out_buffers(launch))
        return 0;
    begin_payload(launch);
    return 1;
}

static void tear_down(struct launch *launch)
{
    for (size_t i = 0; launch->buffers && i < launch->asked->n_buffers; i++)
        free(launch->buffers[i].grid);
    free(launch->buffers);
    free(launch->payload);
    free(launch->state->told);
}

/* ---- the launch ---- */

static void add_stats(struct gen_stats *to, const struct gen_stats *from)
{
    to->instructions += from->instructions;
    to->lane_instructions += from->lane_instructions;
    to->matrix_instructions += from->matrix_instructions;
    for (int i = 0; i < FOUND_KINDS; i++)
        to->findings[i] += from->findings[i];
}

static void add_lines(const struct worker *worker)
{
    const struct gen_launch *l = worker->launch->asked;
    const struct gen_kernel *k = worker->launch->kernel;
    for (size_t i = 0; worker->per_op && i < k->info.n_ops; i++)
        if (k->ops[i].line && k->ops[i].line <= l->n_lines)
            l->per_line[k->ops[i].line - 1] += worker->per_op[i];
}

/* False: there is no group left. */
static int next_group(struct worker *worker)
{
    struct launch *launch = worker->launch;
    struct state *s = launch->state;
    launch_lock(launch);
    const int more = s->status == GEN_OK && s->next < launch->n_groups;
    const uint64_t k = more ? s->next++ : 0;
    launch_unlock(launch);
    if (!more)
        return 0;
    worker->group_linear = group_at(&launch->order, k, launch->asked->grid, worker->group);
    return 1;
}

static void worker_loop(void *blob)
{
    struct worker *const worker = blob;
    struct launch *launch = worker->launch;
    while (!worker->stop && next_group(worker))
        run_group(worker);
    launch_lock(launch);
    add_stats(&launch->state->stats, &worker->stats);
    add_lines(worker);
    launch_unlock(launch);
}

enum gen_status gen_run(const struct gen_kernel *kernel, const struct gen_launch *asked, char *why, size_t why_size)
{
    static const struct crew crew = { worker_new, worker_loop, worker_free };
    struct launch launch;
    struct state state;
    memset(&launch, 0, sizeof launch);
    memset(&state, 0, sizeof state);
    say_why(why, why_size, "%s", "");
    const enum gen_status status = check_launch(kernel, asked, why, why_size);
    if (status || !asked->grid[0] || !asked->grid[1] || !asked->grid[2])
        return status;
    launch.kernel = kernel;
    launch.asked = asked;
    if (pthread_mutex_init(&state.lock, NULL)) {
        say_why(why, why_size, "out of memory");
        return GEN_NO_MEMORY;
    }
    if (!lay_out(&launch, &state) ||
        !crew_run(&crew, &launch, launch.threaded ? asked->threads : 1, launch.n_groups))
        state.status = GEN_NO_MEMORY;
    tear_down(&launch);
    pthread_mutex_destroy(&state.lock);
    if (asked->stats)
        add_stats(asked->stats, &state.stats);
    if (state.status == GEN_NO_MEMORY)
        say_why(why, why_size, "out of memory");
    else if (state.status == GEN_STOPPED)
        say_why(why, why_size, "the launch ended early");
    return state.status;
}
