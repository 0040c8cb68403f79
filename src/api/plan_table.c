/* plan_table.c - the plans of a handle's one-call functions: found again, and bounded in number
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/plan_table.h"

#include "api/handle.h"
#include "problem/problem_key.h"

#include <stdlib.h>
#include <string.h>

cl_int plan_table_init(struct plan_table *t, struct why *why)
{
    memset(t, 0, sizeof *t);
    return pthread_mutex_init(&t->lock, NULL) ? why_set(why, CL_OUT_OF_HOST_MEMORY, "a mutex cannot be made")
                                              : CL_SUCCESS;
}

void plan_table_give_back(struct kept_plan *k)
{
    if (!k || !handle_count_down(&k->references))
        return;
    plan_clear(&k->plan);
    free(k);
}

void plan_table_forget(struct plan_table *t)
{
    struct kept_plan *dropped[PLAN_TABLE_ROWS];
    pthread_mutex_lock(&t->lock);
    t->forgotten++;
    for (int i = 0; i < PLAN_TABLE_ROWS; i++) {
        dropped[i] = t->rows[i].kept;
        t->rows[i].kept = NULL;
    }
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < PLAN_TABLE_ROWS; i++)
        plan_table_give_back(dropped[i]);
}

void plan_table_clear(struct plan_table *t, bool forked)
{
    for (int i = 0; i < PLAN_TABLE_ROWS; i++)
        if (forked)
            free(t->rows[i].kept);
        else
            plan_table_give_back(t->rows[i].kept);
    if (!forked)
        pthread_mutex_destroy(&t->lock);
}

/* ---- Sizes ---- */

static int64_t power_of_two_from(int64_t x)
{
    int64_t power = x > 0;
    while (power < x)
        power *= 2;
    return power;
}

/* What a plan is made for: it has to be the same whichever call comes first, and one for all the lengths that a
 * sequence grows through would be that of its first token. */
static void round_sizes(clattn_sizes *s)
{
    const int64_t more = power_of_two_from(s->b);
    s->b = more > s->b ? more / 2 : more; /* down: b h has a limit */
    s->nq = power_of_two_from(s->nq);
    s->nk = power_of_two_from(s->nk);
    s->total_q = power_of_two_from(s->total_q);
    s->total_k = power_of_two_from(s->total_k);
    s->offset = 0;
}

/* Where a row is to have the same bits in every batch, no size of the batch may choose its plan. The number of keys is
 * one in the middle. */
static void forget_batch(clattn_sizes *s)
{
    enum { KEYS = 4096 };
    s->b = s->b > 0;
    s->nk = s->nk ? KEYS : 0;
    s->total_q = s->total_q ? s->nq : 0;
    s->total_k = s->total_k ? s->nk : 0;
}

/* ---- Taking ---- */

/* Call these three with the lock held. */
static struct plan_table_row *find(struct plan_table *t, const unsigned char *key)
{
    for (int i = 0; i < PLAN_TABLE_ROWS; i++)
        if (t->rows[i].kept && !memcmp(t->rows[i].key, key, DIGEST_BYTES))
            return &t->rows[i];
    return NULL;
}
static struct kept_plan *use(struct plan_table *t, struct plan_table_row *row)
{
    row->used = ++t->uses;
    handle_count_up(&row->kept->references);
    return row->kept;
}
/* A free row, or that which has been unused for longest. */
static struct plan_table_row *oldest(struct plan_table *t)
{
    struct plan_table_row *row = &t->rows[0];
    for (int i = 0; i < PLAN_TABLE_ROWS && row->kept; i++)
        if (!t->rows[i].kept || t->rows[i].used < row->used)
            row = &t->rows[i];
    return row;
}

/* Puts a new plan into the table, unless another thread was faster; either is then the caller's, *other nobody's. Where
 * all were forgotten since `forgotten` was read, it was chosen by what is no longer known: it serves this call only. */
static struct kept_plan *enter(struct plan_table *t, const unsigned char *key, uint64_t forgotten,
                               struct kept_plan *made, struct kept_plan **other)
{
    struct kept_plan *taken = made;
    pthread_mutex_lock(&t->lock);
    struct plan_table_row *row = find(t, key);
    *other = row ? made : NULL;
    if (!row && t->forgotten == forgotten) {
        row = oldest(t);
        *other = row->kept;
        row->kept = made;
        memcpy(row->key, key, DIGEST_BYTES);
    }
    if (row)
        taken = use(t, row);
    pthread_mutex_unlock(&t->lock);
    return taken;
}

/* Calls bring no bound of their own, but no buffer may be larger than the device says. */
static cl_int bound_workspace(struct launch *l, cl_device_id device, struct why *why)
{
    cl_ulong most = 0;
    const cl_int status = clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    l->max_workspace = most > SIZE_MAX ? SIZE_MAX : (size_t)most;
    return status ? why_cl(why, status, "clGetDeviceInfo") : CL_SUCCESS;
}

static cl_int make(struct kept_plan **out, struct maker *maker, const clattn_problem *p, struct why *why)
{
    struct kept_plan *const k = calloc(1, sizeof *k);
    if (!k)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a plan");
    cl_int status = plan_init(&k->plan, maker, p, NULL, why);
    if (!status && (status = bound_workspace(&k->plan.launch, maker->device, why)))
        plan_clear(&k->plan);
    if (status) {
        free(k);
        return status;
    }
    k->references = 1;
    *out = k;
    return CL_SUCCESS;
}

cl_int plan_table_take(struct kept_plan **out, struct plan_table *t, struct maker *maker, const clattn_problem *p,
                       struct why *why)
{
    clattn_problem rounded = *p;
    unsigned char key[DIGEST_BYTES];
    struct kept_plan *made = NULL, *other;
    *out = NULL;
    round_sizes(&rounded.sizes);
    if (p->flags & CLATTN_BATCH_INVARIANT)
        forget_batch(&rounded.sizes);
    if (!problem_key(key, &rounded))
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a problem's texts");
    pthread_mutex_lock(&t->lock);
    struct plan_table_row *const row = find(t, key);
    const uint64_t forgotten = t->forgotten;
    if (row)
        *out = use(t, row);
    pthread_mutex_unlock(&t->lock);
    if (*out)
        return CL_SUCCESS;
    const cl_int status = make(&made, maker, &rounded, why);
    if (status)
        return status;
    *out = enter(t, key, forgotten, made, &other);
    plan_table_give_back(other);
    return CL_SUCCESS;
}
