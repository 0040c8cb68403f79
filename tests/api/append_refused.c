/* append_refused.c - calls of append that are refused, before anything is written
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has floats in one piece and int4 in pages; CLATTN_PART=1: blocks as well. */
#include "config.h"

#include "tests/lib/appended.h"
#include "tests/lib/each.h"
#include "tools/oracle/quantise.h"

enum { BAD = CLATTN_ERROR_INVALID_ARGUMENT, SMALL = CLATTN_ERROR_BUFFER_TOO_SMALL };

/* The call leaves every buffer as it was. */
static void refused(const struct device *d, clattn_plan plan, const struct appended *c, const clattn_append_args *a,
                    cl_int want, const char *words, const char *what)
{
    cl_event event = NULL;
    char why[512] = "";
    const cl_int e = clattn_enqueue_append(plan, d->queue, a, 0, NULL, &event);
    each_refused(d, e, event, want, words, what);
    if (!appended_agrees(c, d->queue, why, sizeof why))
        ok(0, "and nothing was written: %s", why);
}

#define REFUSED(want, words, change)                                                                                   \
    do {                                                                                                               \
        clattn_append_args a = c.args;                                                                                 \
        clattn_sizes s = c.sizes;                                                                                      \
        a.sizes = &s;                                                                                                  \
        change;                                                                                                        \
        refused(d, plan, &c, &a, want, words, #change);                                                                \
    } while (0)

/* A call where every axis has more than one entry, scales are computed, and everything is given. */
static void find_call(struct appended *c, const clattn_problem *p, const struct device *d)
{
    for (uint64_t i = 0;; i++) {
        uint64_t state = 33 + 1000 * i;
        appended_make(c, p, &state, d->cl.context);
        if (c->sizes.b > 1 && c->sizes.hk > 1 && c->sizes.nq > 1 && c->sizes.nk > c->sizes.nq + 1 && c->rotates &&
            c->k.place.stride[0] && c->new_place[0].stride[0] && c->k.computed && c->v.computed && c->new_len_given &&
            c->dropped_wanted && (!p->page || (c->page > 1 && c->pages > 1)))
            return;
        appended_free(c);
    }
}

static void test_lacking(const struct device *d, const struct appended *c, uint32_t change, const char *words)
{
    clattn_problem p = c->p;
    p.flags ^= change;
    clattn_plan plan = appended_plan(d, &p);
    refused(d, plan, c, &c->args, BAD, words, "a plan without the flag");
    clattn_plan_release(plan);
}

static void test_refusals(const struct device *d, int k_type, int page)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    struct appended c;
    p.type = p.v_type = CLATTN_F32;
    p.k_type = k_type;
    p.d = 64;
    p.dv = 24;
    p.k_group = quantise_is_scaled(k_type) ? 32 : 0;
    p.page = page;
    p.flags = CLATTN_APPEND | CLATTN_ROTARY | (quantise_is_scaled(k_type) ? CLATTN_K_ZERO : 0);
    clattn_plan plan = appended_plan(d, &p);
    find_call(&c, &p, d);
    const cl_mem fixed = each_buffer(d->cl.context, CL_MEM_READ_ONLY, 1 << 20, NULL);
    const cl_mem blind = each_buffer(d->cl.context, CL_MEM_WRITE_ONLY, 1 << 20, NULL);
    const cl_mem small = each_buffer(d->cl.context, CL_MEM_READ_WRITE, 2, NULL);
    if (!quantise_is_scaled(k_type)) {
        test_lacking(d, &c, CLATTN_APPEND, "the problem lacks CLATTN_APPEND");
        test_lacking(d, &c, CLATTN_ROTARY, "the problem lacks CLATTN_ROTARY");
    }
    REFUSED(BAD, "nq is", s.nq = s.nk + 1; a.new_len.mem = NULL);
    REFUSED(BAD, "nq is -1", s.nq = -1);
    REFUSED(BAD, "nk is", s.nk = INT64_MAX);
    REFUSED(BAD, "hk is", s.h = 1; s.hk = -1);
    REFUSED(BAD, "struct_size", a.struct_size = sizeof a - 8);
    REFUSED(BAD, "reserved is 1", a.reserved = 1);
    REFUSED(BAD, "new_k.mem is NULL", a.new_k.mem = NULL);
    REFUSED(BAD, "new_v.mem is NULL", a.new_v.mem = NULL);
    REFUSED(SMALL, "new_k reaches", a.new_k.mem = small);
    REFUSED(SMALL, "new_v reaches", a.new_v.offset = 1 << 20);
    REFUSED(BAD, "CL_MEM_WRITE_ONLY", a.new_k.mem = blind);
    REFUSED(BAD, "must not be negative", a.new_k.stride[2] = -1);
    REFUSED(BAD, "overflow", a.new_k.stride[2] = INT64_MAX);
    REFUSED(BAD, "k.mem is NULL", a.k.mem = NULL);
    REFUSED(BAD, "v.mem is NULL", a.v.mem = NULL);
    REFUSED(SMALL, "k reaches", a.k.mem = small);
    REFUSED(SMALL, "v reaches", a.v.mem = small);
    REFUSED(BAD, "k is written, but its buffer is CL_MEM_READ_ONLY", a.k.mem = fixed);
    REFUSED(BAD, "v is written, but its buffer is CL_MEM_READ_ONLY", a.v.mem = fixed);
    REFUSED(BAD, "k: its strides make elements overlap", a.k.stride[1] = 32);
    REFUSED(BAD, "v: its strides make elements overlap",
            a.v.stride[0] = a.v.stride[1] = a.v.stride[2] = 1);
    REFUSED(BAD, "kv_len.mem is NULL", a.kv_len.mem = NULL);
    REFUSED(BAD, "kv_len is written, but its buffer is CL_MEM_READ_ONLY", a.kv_len.mem = fixed);
    REFUSED(BAD, "kv_len is read, but its buffer is CL_MEM_WRITE_ONLY", a.kv_len.mem = blind);
    REFUSED(SMALL, "kv_len reaches", a.kv_len.offset += 2);
    REFUSED(SMALL, "new_len reaches", a.new_len.offset += 1);
    REFUSED(SMALL, "dropped reaches", a.dropped.offset += 2);
    REFUSED(BAD, "dropped is written, but its buffer is CL_MEM_READ_ONLY", a.dropped.mem = fixed);
    REFUSED(BAD, "rotary.width is 5", a.rotary.width = 5);
    REFUSED(BAD, "rotary.width is 66", a.rotary.width = 66);
    REFUSED(BAD, "rotary.positions is 0", a.rotary.positions = 0);
    REFUSED(BAD, "rotary.cos.mem is NULL", a.rotary.cos.mem = NULL);
    REFUSED(SMALL, "rotary.sin reaches", a.rotary.sin.mem = small);
    if (quantise_is_scaled(k_type)) {
        REFUSED(BAD, "k_scale.mem is NULL", a.k_scale.mem = NULL);
        REFUSED(BAD, "k_zero.mem is NULL", a.k_zero.mem = NULL);
        REFUSED(BAD, "both are read, or both are written", a.k_zero.shape[2] = 1);
        REFUSED(BAD, "k_scale.shape[h] is 1, must be", a.k_scale.shape[1] = 1);
        REFUSED(BAD, "k_zero.shape[g] is 1, must be", a.k_zero.shape[3] = 1);
        REFUSED(BAD, "k_scale.shape[g] is 3", a.k_scale.shape[3] = 3);
        REFUSED(BAD, "k_scale is written, but its buffer is CL_MEM_READ_ONLY", a.k_scale.mem = fixed);
        REFUSED(SMALL, "k_scale reaches", a.k_scale.mem = small);
        REFUSED(BAD, "k_scale: its strides make elements overlap",
                a.k_scale.stride[0] = a.k_scale.stride[1] = a.k_scale.stride[2] = a.k_scale.stride[3] = 1);
    } else {
        REFUSED(BAD, "k_scale is given, but the problem does not say so", a.k_scale.mem = fixed);
    }
    REFUSED(BAD, "v_scale is given, but the problem does not say so", a.v_scale.mem = fixed);
    if (quantise_block(k_type) > 1) {
        REFUSED(BAD, "multiple of", a.k.offset += 1);
        REFUSED(BAD, "multiple of", a.k.stride[2] += 1);
    }
    if (page) {
        REFUSED(BAD, "page is -1", a.page = -1);
        REFUSED(BAD, "pages is -1", a.pages = -1);
        REFUSED(BAD, "pages is 0", a.pages = 0);
        REFUSED(BAD, "block_table.mem is NULL", a.block_table.mem = NULL);
        REFUSED(SMALL, "block_table reaches", a.block_table.mem = small);
        REFUSED(BAD, "block_table_stride is -1", a.block_table_stride = -1);
        REFUSED(SMALL, "k reaches", a.pages = 1 << 20);
    } else {
        REFUSED(BAD, "page is given", a.page = 4);
        REFUSED(BAD, "block_table is given", a.block_table.mem = small);
    }
    clReleaseMemObject(fixed);
    clReleaseMemObject(blind);
    clReleaseMemObject(small);
    appended_free(&c);
    clattn_plan_release(plan);
}

static void test_device(const struct device *d)
{
    if (harness_turn(0, 1))
        test_refusals(d, CLATTN_F32, 0);
    if (harness_turn(1, 1))
        test_refusals(d, CLATTN_INT4, 4);
    if (harness_turn(2, 0))
        test_refusals(d, CLATTN_Q8_0, 0);
}

int main(void)
{
    return each_device(test_device);
}
