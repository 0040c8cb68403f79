/* worker.c - a host thread's own memory: registers, SLM, scratch, and who touched them
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "inside.h"

enum allocation { REGISTERS, KNOWN, SCRATCH, SCRATCH_KNOWN, SHARED, STAMPS, PAYLOAD, PRIVATE, N_ALLOCATIONS };

void worker_free(void *blob)
{
    struct worker *const worker = blob;
    if (!worker)
        return;
    for (int i = 0; i < N_ALLOCATIONS; i++)
        free(worker->allocations[i]);
    free(worker->threads);
    free(worker->per_op);
    free(worker);
}

static size_t grains(const struct launch *launch) /* of SLM */
{
    return (launch->shared_bytes >> launch->kernel->shared_shift) + 1;
}

static size_t private_bytes(const struct launch *launch)
{
    return launch->n_threads * launch->kernel->info.simd * launch->kernel->private_bytes;
}

static void place_regions(struct worker *worker)
{
    const struct launch *launch = worker->launch;
    struct region *shared = &worker->shared, *payload = &worker->payload, *own = &worker->private_memory;
    shared->space = SPACE_SHARED;
    shared->size = launch->shared_bytes;
    shared->data = worker->allocations[SHARED];
    shared->name = "SLM";
    if (worker->allocations[STAMPS]) {
        shared->stamps.write = worker->allocations[STAMPS];
        shared->stamps.read = shared->stamps.write + grains(launch);
        shared->stamps.read2 = shared->stamps.read + grains(launch);
    }
    payload->space = SPACE_PARAM;
    payload->base = PAYLOAD_BASE;
    payload->size = launch->payload_bytes;
    payload->data = worker->allocations[PAYLOAD];
    payload->name = "arguments";
    own->space = SPACE_GLOBAL;
    own->base = OWN_ADDRESS(OWN_PRIVATE);
    own->size = private_bytes(launch);
    own->data = worker->allocations[PRIVATE];
    own->written = launch->checked ? own->data + own->size : NULL;
    own->name = "private arrays";
    shared->buffer = payload->buffer = own->buffer = -1;
    if (launch->kernel->payload_bytes > launch->kernel->inline_bytes)
        memcpy(payload->data, launch->payload + launch->kernel->inline_bytes,
               launch->kernel->payload_bytes - launch->kernel->inline_bytes);
}

static void place_threads(struct worker *worker)
{
    const struct launch *launch = worker->launch;
    for (uint32_t i = 0; i < launch->n_threads; i++) {
        struct thread *t = &worker->threads[i];
        t->index = i;
        t->worker = worker;
        t->order.warp = i;
        t->order.lanes = launch->kernel->info.simd;
        t->file = (unsigned char *)worker->allocations[REGISTERS] + (size_t)i * FILE_BYTES;
        t->known = (unsigned char *)worker->allocations[KNOWN] + (size_t)i * FILE_BYTES;
        t->scratch = (unsigned char *)worker->allocations[SCRATCH] + i * launch->scratch_bytes;
        t->scratch_known = (unsigned char *)worker->allocations[SCRATCH_KNOWN] + i * launch->scratch_bytes;
        t->scratch_region.space = SPACE_LOCAL;
        t->scratch_region.size = launch->kernel->info.scratch;
        t->scratch_region.data = t->scratch;
        t->scratch_region.name = "scratch";
        t->scratch_region.buffer = -1;
    }
}

static int allocate(struct worker *worker)
{
    const struct launch *launch = worker->launch;
    const size_t threads = launch->n_threads, registers = threads * FILE_BYTES, own = private_bytes(launch);
    const size_t scratch = threads * launch->scratch_bytes + 16;
    const size_t sizes[N_ALLOCATIONS] = {
        [REGISTERS] = registers, [KNOWN] = registers, [SCRATCH] = scratch, [SCRATCH_KNOWN] = scratch,
        [SHARED] = launch->shared_bytes + 16,
        [STAMPS] = launch->checked ? 3 * grains(launch) * sizeof(uint64_t) : 0, [PAYLOAD] = launch->payload_bytes + 64,
        [PRIVATE] = 2 * own + 16,
    };
    worker->threads = calloc(threads, sizeof *worker->threads);
    if (launch->asked->per_line)
        worker->per_op = calloc(launch->kernel->info.n_ops + 1, sizeof *worker->per_op);
    int whole = worker->threads && (worker->per_op || !launch->asked->per_line);
    for (int i = 0; i < N_ALLOCATIONS && whole; i++) {
        worker->allocations[i] = sizes[i] ? calloc(sizes[i], 1) : NULL;
        whole = worker->allocations[i] || !sizes[i];
    }
    return whole;
}

void *worker_new(void *blob, uint64_t number)
{
    struct launch *const launch = blob;
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->launch = launch;
    worker->random = launch->asked->seed ^ (number << 32);
    worker->last_epoch = 1;
    if (!allocate(worker)) {
        worker_free(worker);
        return NULL;
    }
    place_regions(worker);
    place_threads(worker);
    return worker;
}
