/* run.c - warps in lockstep, their lanes apart and together again, barriers
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each lane has a program counter. A turn takes lanes that stand at one instruction and executes them together until
 * they come to another lane's instruction, part, wait or end; then the schedule chooses again. So lanes that were apart
 * become one wherever their paths meet, and the lowest program counter first meets as early as a compiler's
 * reconvergence points would have it. Instructions of a whole warp wait until the lanes they name have come. */
#include "inside.h"

enum { NO_LIMIT = 0x7fffffff, SLICE = 100000 };

static inline uint32_t lowest(uint32_t mask) /* its lowest lane */
{
    uint32_t n = 0;
#if defined(__GNUC__)
    n = (uint32_t)__builtin_ctz(mask);
#else
    while (!(mask >> n & 1))
        n++;
#endif
    return n;
}

static inline uint32_t count(uint32_t x)
{
    if (x == ~0u)
        return LANES;
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static void set_pc(struct warp *w, uint32_t mask, uint32_t pc)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        w->pc[lowest(rest)] = pc;
}

static uint32_t lanes_at(const struct warp *w, uint32_t among, uint32_t pc)
{
    uint32_t mask = 0;
    for (uint32_t rest = among; rest; rest &= rest - 1) {
        const uint32_t i = lowest(rest);
        mask |= (uint32_t)(w->pc[i] == pc) << i;
    }
    return mask;
}

/* ---- the schedule ---- */

struct turn {
    uint32_t pc, mask, limit; /* limit: where other lanes stand */
};

static uint32_t chosen_lane(struct warp *w, uint32_t ready)
{
    const enum schedule schedule = w->worker->launch->asked->schedule;
    uint32_t best = lowest(ready);
    if (schedule == SCHEDULE_RANDOM || w->rotate) {
        uint32_t skip = (uint32_t)(dice_throw(&w->worker->random) % count(ready));
        while (skip--)
            ready &= ready - 1;
        return lowest(ready);
    }
    for (uint32_t rest = ready; rest; rest &= rest - 1) {
        const uint32_t i = lowest(rest);
        if (schedule == SCHEDULE_LOWEST ? w->pc[i] < w->pc[best] : w->pc[i] > w->pc[best])
            best = i;
    }
    return best;
}

static struct turn choose(struct warp *w, uint32_t ready)
{
    struct turn t = { w->pc[chosen_lane(w, ready)], 0, NO_LIMIT };
    t.mask = lanes_at(w, ready, t.pc);
    if (w->worker->launch->asked->schedule == SCHEDULE_RANDOM) { /* now and then only some of them go on */
        const uint32_t some = t.mask & (uint32_t)dice_throw(&w->worker->random);
        if (some && dice_throw(&w->worker->random) % 4 == 0)
            t.mask = some;
    }
    for (uint32_t rest = ready & ~t.mask; rest; rest &= rest - 1) {
        const uint32_t pc = w->pc[lowest(rest)];
        if (pc > t.pc && pc < t.limit)
            t.limit = pc;
    }
    return t;
}

/* ---- barriers of the group ---- */

static void release(struct worker *worker, struct barrier *b)
{
    check_barrier(worker, b->warps);
    for (uint32_t rest = b->waiting; rest; rest &= rest - 1) {
        struct warp *w = &worker->warps[lowest(rest)];
        for (uint32_t lanes = w->at_barrier; lanes; lanes &= lanes - 1)
            w->pc[lowest(lanes)]++;
        w->at_barrier = 0;
        w->arrived = 0;
    }
    b->threads = b->expected = b->waiting = b->warps = 0;
}

/* One operand of a barrier, the same in all lanes that came. */
static int barrier_operand(struct warp *w, uint32_t lanes, int k, uint32_t *value)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint32_t i = lowest(rest);
        const struct op *o = &w->worker->launch->kernel->ops[w->pc[i]];
        const uint32_t x = k < o->n_src ? reg_u32(w, o->reg[k])[i] : 0;
        if (rest == lanes)
            *value = x;
        else if (*value != x)
            return 0;
    }
    return 1;
}

/* All living lanes of the warp wait at barriers, or (arrive) go through one: counts them. */
static void count_arrival(struct warp *w, const struct op *o, uint32_t lanes, int waits)
{
    struct worker *worker = w->worker;
    uint32_t number = 0, wanted = 0;
    const int same = barrier_operand(w, lanes, 0, &number) && barrier_operand(w, lanes, 1, &wanted);
    if (!same || number >= MAX_BARRIERS || wanted > MAX_WARPS * LANES || wanted % LANES) {
        check_end(w, o, FOUND_DIVERGED, lanes);
        return;
    }
    struct barrier *b = &worker->barriers[number];
    const uint32_t expected = wanted ? wanted : worker->launch->n_threads;
    if (b->warps && b->expected != expected) {
        check_end(w, o, FOUND_DIVERGED, lanes);
        return;
    }
    b->expected = expected;
    b->threads += wanted ? LANES : count(lanes);
    b->warps |= 1u << w->index;
    if (waits)
        b->waiting |= 1u << w->index;
    w->arrived = waits;
    if (b->threads >= b->expected)
        release(worker, b);
}

/* bar.sync is aligned: all lanes at one instruction. */
static void arrive(struct warp *w)
{
    const uint32_t lanes = w->at_barrier, pc = w->pc[lowest(lanes)];
    const struct op *o = &w->worker->launch->kernel->ops[pc];
    if (o->aligned && lanes_at(w, lanes, pc) != lanes)
        check_end(w, o, FOUND_DIVERGED, lanes);
    else
        count_arrival(w, o, lanes, 1);
}

/* ---- instructions of a whole warp ---- */

/* The lanes that one waits for: those its member mask names, or all. */
static uint32_t members(const struct warp *w, const struct op *o, uint32_t lane)
{
    return o->whole ? ~0u : reg_u32(w, o->reg[o->n_dst + o->n_src - 1])[lane];
}

static inline void define(struct warp *w, const struct op *o, uint32_t mask)
{
    for (int k = 0; k < o->n_dst; k++)
        w->defined[o->reg[k]] |= mask;
}

static inline uint32_t undefined(const struct warp *w, const struct op *o, uint32_t mask)
{
    uint32_t missing = 0;
    for (int k = 0; k < o->n_src; k++)
        missing |= ~w->defined[o->reg[o->n_dst + k]];
    return missing & mask;
}

static inline void check_sources(struct warp *w, const struct op *o, uint32_t mask)
{
    const uint32_t missing = undefined(w, o, mask);
    if (missing && w->worker->launch->checked)
        check_registers(w, o, missing);
}

static void run_together(struct warp *w, const struct op *o, uint32_t mask)
{
    check_sources(w, o, mask);
    define(w, o, mask);
    if (o->kind == OP_FENCE)
        check_fence(w);
    else if (o->kind == OP_LDMATRIX)
        memory_ldmatrix(w, o, mask);
    else
        o->run(w, o, mask);
}

/* The lanes in `came` stand at o; if those that they wait for do too, it is executed. Which ones were: */
static uint32_t try_together(struct warp *w, const struct op *o, uint32_t came)
{
    const uint32_t lane = lowest(came), named = members(w, o, lane);
    const uint32_t wanted = named & w->alive;
    if (!(named >> lane & 1) || (o->whole && w->alive != ~0u)) {
        check_end(w, o, FOUND_DIVERGED, came);
        return 0;
    }
    if ((came & wanted) != wanted)
        return 0;
    run_together(w, o, wanted);
    return wanted;
}

/* No lane is ready. True: some are again; false: the warp waits at a barrier, has ended, or the launch does. */
static int settle(struct warp *w)
{
    const struct op *ops = w->worker->launch->kernel->ops;
    uint32_t fences = 0;
    for (uint32_t rest = w->blocked; rest;) {
        const uint32_t pc = w->pc[lowest(rest)], came = lanes_at(w, w->blocked, pc);
        rest &= ~came;
        if (ops[pc].kind == OP_FENCE)
            fences |= came;
        const uint32_t done = try_together(w, &ops[pc], came);
        if (w->worker->stop)
            return 0;
        if (done) {
            w->blocked &= ~done;
            set_pc(w, done, pc + 1);
            return 1;
        }
    }
    if (fences && fences == w->alive) { /* bar.warp.sync may stand in several places */
        check_fence(w);
        for (uint32_t rest = fences; rest; rest &= rest - 1)
            w->pc[lowest(rest)]++;
        w->blocked = 0;
        return 1;
    }
    if (w->blocked)
        check_end(w, &ops[w->pc[lowest(w->blocked)]], FOUND_DIVERGED, w->blocked);
    else if (w->alive && !w->arrived)
        arrive(w);
    return w->alive && !w->at_barrier && !w->worker->stop;
}

/* ---- a turn ---- */

/* True: the lanes of t go on at its pc; false: the schedule chooses again. */
static int take_branch(struct warp *w, const struct op *o, struct turn *t, uint32_t m)
{
    struct worker *worker = w->worker;
    if (worker->executed >= worker->launch->limit) {
        check_end(w, o, FOUND_NO_PROGRESS, t->mask);
        return 0;
    }
    if (!m) {
        t->pc++;
        return 1;
    }
    if (m == t->mask) {
        t->pc = o->target;
        if (t->mask == w->alive && worker->executed < w->slice)
            return 1;
        set_pc(w, t->mask, t->pc);
        return 0;
    }
    set_pc(w, m, o->target);
    set_pc(w, t->mask & ~m, t->pc + 1);
    return 0;
}

static int take_barrier(struct warp *w, const struct op *o, struct turn *t, uint32_t m)
{
    check_sources(w, o, m);
    set_pc(w, m, t->pc);
    set_pc(w, t->mask & ~m, t->pc + 1);
    if (o->sub) { /* arrives and goes on */
        if (m)
            count_arrival(w, o, m, 0);
        set_pc(w, m, t->pc + 1);
    } else {
        w->at_barrier |= m;
    }
    return 0;
}

static int take_together(struct warp *w, const struct op *o, struct turn *t, uint32_t m)
{
    if (!m) {
        t->pc++;
        return 1;
    }
    set_pc(w, m, t->pc);
    const uint32_t came = m | lanes_at(w, w->blocked, t->pc);
    const uint32_t done = try_together(w, o, came);
    if (done == t->mask && w->worker->launch->asked->schedule != SCHEDULE_RANDOM) {
        set_pc(w, t->mask, ++t->pc);
        return t->mask == w->alive;
    }
    w->blocked = (w->blocked | m) & ~done;
    set_pc(w, (t->mask & ~m) | done, t->pc + 1);
    return 0;
}

static int take_exit(struct warp *w, struct turn *t, uint32_t m)
{
    w->alive &= ~m;
    set_pc(w, t->mask & ~m, t->pc + 1);
    return 0;
}

static void access_memory(struct warp *w, const struct op *o, uint32_t m)
{
    if (!m)
        return;
    check_sources(w, o, m);
    define(w, o, m);
    if (o->kind == OP_LOAD)
        memory_load(w, o, m);
    else if (o->kind == OP_STORE)
        memory_store(w, o, m);
    else
        memory_atom(w, o, m);
}

/* In a random schedule others may come in between at any access. */
static int torn(struct warp *w)
{
    return w->worker->launch->asked->schedule == SCHEDULE_RANDOM && dice_throw(&w->worker->random) % 16 == 0;
}

static void run_turn(struct warp *w, struct turn t)
{
    struct worker *worker = w->worker;
    const struct op *ops = worker->launch->kernel->ops;
    const uint32_t checked = worker->launch->checked ? ~0u : 0;
    uint64_t threads = 0, executed = 0;
    int on = 1;
    while (on && t.pc != t.limit) {
        const struct op *o = &ops[t.pc];
        uint32_t m = t.mask;
        if (o->guarded) {
            m &= o->guard_not ? ~*reg_u32(w, o->guard) : *reg_u32(w, o->guard);
            if (t.mask & ~w->defined[o->guard] & checked)
                check_registers(w, o, t.mask & ~w->defined[o->guard]);
        }
        executed++;
        threads += count(m);
        switch (o->kind) {
        case OP_LANES:
            if (m) {
                const uint32_t missing = undefined(w, o, m);
                if (missing & checked)
                    check_registers(w, o, missing);
                define(w, o, m);
                o->run(w, o, m);
            }
            t.pc++;
            break;
        case OP_LOAD: case OP_STORE: case OP_ATOM:
            access_memory(w, o, m);
            t.pc++;
            on = !worker->stop && !torn(w);
            if (!on)
                set_pc(w, t.mask, t.pc);
            break;
        case OP_BRANCH:
            worker->executed += executed;
            worker->stats.instructions += executed;
            executed = 0;
            on = take_branch(w, o, &t, m);
            break;
        case OP_EXIT: on = take_exit(w, &t, m); break;
        case OP_BARRIER: on = take_barrier(w, o, &t, m); break;
        case OP_NOTHING: t.pc++; break;
        default: on = take_together(w, o, &t, m); break;
        }
        on = on && !worker->stop;
    }
    if (t.pc == t.limit)
        set_pc(w, t.mask, t.pc);
    worker->executed += executed;
    worker->stats.instructions += executed;
    worker->stats.thread_instructions += threads;
}

/* Until it has ended, waits at a barrier, or others are to have a chance. */
static void run_warp(struct warp *w)
{
    struct worker *worker = w->worker;
    w->slice = worker->executed + SLICE;
    while (!worker->stop) {
        const uint32_t ready = w->alive & ~w->blocked & ~w->at_barrier;
        if (ready)
            run_turn(w, choose(w, ready));
        else if (!settle(w))
            return;
        w->rotate = worker->executed >= w->slice;
        if (w->rotate)
            return;
    }
}

/* ---- a group ---- */

static void set_lanes(struct warp *w, enum special s, uint32_t value)
{
    const uint32_t slot = w->worker->launch->kernel->special[s];
    for (int i = 0; slot && i < LANES; i++)
        reg_u32(w, slot - 1)[i] = value;
}

static void set_lane(struct warp *w, enum special s, int i, uint32_t value)
{
    const uint32_t slot = w->worker->launch->kernel->special[s];
    if (slot)
        reg_u32(w, slot - 1)[i] = value;
}

static void set_specials(struct warp *w)
{
    const struct worker *worker = w->worker;
    const struct launch *launch = worker->launch;
    const struct ptx_launch *l = launch->asked;
    for (int k = 0; k < 3; k++) {
        set_lanes(w, (enum special)(S_NTID_X + k), l->block[k]);
        set_lanes(w, (enum special)(S_CTAID_X + k), worker->group[k]);
        set_lanes(w, (enum special)(S_NCTAID_X + k), l->grid[k]);
        set_lanes(w, (enum special)(S_ENVREG0 + k), l->group_offset[k]);
        set_lanes(w, (enum special)(S_ENVREG0 + 3 + k), l->global_offset[k] + l->group_offset[k] * l->block[k]);
        set_lanes(w, (enum special)(S_ENVREG0 + 6 + k), launch->total_grid[k]);
    }
    set_lanes(w, S_ENVREG9, launch->work_dim);
    set_lanes(w, S_WARPID, w->index);
    set_lanes(w, S_NWARPID, launch->n_warps);
    for (int i = 0; i < LANES; i++) {
        const uint32_t t = w->index * LANES + (uint32_t)i, bit = 1u << i;
        set_lane(w, S_TID_X, i, t % l->block[0]);
        set_lane(w, S_TID_Y, i, t / l->block[0] % l->block[1]);
        set_lane(w, S_TID_Z, i, t / l->block[0] / l->block[1]);
        set_lane(w, S_LANEID, i, (uint32_t)i);
        set_lane(w, S_MASK_EQ, i, bit);
        set_lane(w, S_MASK_LT, i, bit - 1);
        set_lane(w, S_MASK_LE, i, bit | (bit - 1));
        set_lane(w, S_MASK_GE, i, ~(bit - 1));
        set_lane(w, S_MASK_GT, i, ~(bit | (bit - 1)));
    }
}

static void begin_warp(struct warp *w)
{
    struct worker *worker = w->worker;
    const struct launch *launch = worker->launch;
    const uint32_t left = launch->n_threads - w->index * LANES;
    w->alive = left >= LANES ? ~0u : (1u << left) - 1;
    w->blocked = w->at_barrier = 0;
    w->arrived = w->rotate = 0;
    for (int i = 0; i < LANES; i++)
        w->pc[i] = 0;
    order_begin(&w->order, worker->last_epoch + 1);
    check_fence(w);
    for (uint32_t i = 0; i < launch->kernel->n_slots; i++)
        w->defined[i] = launch->defined[i];
    set_specials(w);
}

static void begin_group(struct worker *worker)
{
    struct launch *launch = worker->launch;
    const size_t local = launch->n_warps * LANES * ((launch->kernel->local_bytes + 15) / 16 * 16);
    worker->executed = 0;
    for (int i = 0; i < MAX_BARRIERS; i++)
        worker->barriers[i].threads = worker->barriers[i].expected = worker->barriers[i].waiting =
            worker->barriers[i].warps = 0;
    memory_poison(worker->shared_data, launch->shared_bytes);
    memory_poison(worker->local_data, local);
    if (worker->local_written)
        memory_clear(worker->local_written, local);
    for (uint32_t i = 0; i < launch->n_warps; i++)
        begin_warp(&worker->warps[i]);
}

/* Where a round of all warps begins, and its direction. */
static uint32_t warp_of_round(const struct worker *worker, uint32_t k, uint32_t first)
{
    const uint32_t n = worker->launch->n_warps;
    return worker->launch->asked->schedule == SCHEDULE_HIGHEST ? n - 1 - k : (k + first) % n;
}

/* Some live and none can go on: all wait at barriers that others never reach. */
static void end_stuck(struct worker *worker)
{
    for (uint32_t i = 0; i < worker->launch->n_warps; i++) {
        struct warp *w = &worker->warps[i];
        if (w->alive && !worker->stop)
            check_end(w, &worker->launch->kernel->ops[w->pc[lowest(w->alive)]], FOUND_DIVERGED, w->alive);
    }
}

void worker_group(struct worker *worker)
{
    const uint32_t n = worker->launch->n_warps;
    const int random = worker->launch->asked->schedule == SCHEDULE_RANDOM;
    int living = 1;
    begin_group(worker);
    while (living && !worker->stop) {
        const uint32_t first = random ? (uint32_t)(dice_throw(&worker->random) % n) : 0;
        int moved = 0;
        living = 0;
        for (uint32_t k = 0; k < n && !worker->stop; k++) {
            struct warp *w = &worker->warps[warp_of_round(worker, k, first)];
            if (w->alive && !w->arrived) {
                run_warp(w);
                moved = 1;
            }
            living |= w->alive != 0;
        }
        if (living && !moved)
            end_stuck(worker);
    }
    for (uint32_t i = 0; i < n; i++)
        if (worker->warps[i].order.epoch > worker->last_epoch)
            worker->last_epoch = worker->warps[i].order.epoch;
}
