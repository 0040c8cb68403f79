/* cache_args.c - the arguments of paged and quantised K and V: what is refused, what is at the edge and works
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has groups in one piece and blocks in pages; CLATTN_PART=1: each in both. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/refuse.h"

/* A call with its plan; everything ends where its buffer ends. */
static void set_up(struct fixture *f, const struct device *d, const char *text)
{
    static const struct caching plain = { .page = 0 };
    static const int32_t lengths[] = { 11, 7, 13 };
    char why[512] = "";
    clattn_workload c = each_case(text);
    memcpy(c.kv_len, lengths, sizeof lengths);
    f->d = d;
    f->text = text;
    if (harness_plan(d, &c.problem, "naive", &f->plan, why, sizeof why))
        bail("%s: %s", text, why);
    if (trial_make_caches(&f->t, d->cl.context, &c, PLAIN, &plain))
        bail("%s: no buffers", text);
    ok(harness_run(d, &f->t, f->plan, why, sizeof why), "as it is given it is right: %s %s", text, why);
}

static void accepted(struct fixture *f, const clattn_forward_args *a, const char *what)
{
    char detail[512] = "";
    const cl_int e = clattn_enqueue_forward(f->plan, f->d->queue, a, 0, NULL, NULL);
    if (e)
        clattn_error_detail(f->d->handle, detail, sizeof detail, NULL);
    clFinish(f->d->queue);
    ok(!e, "%s works: %s %s", what, clattn_status_string(e), detail);
}
#define ACCEPTED(change) WITH_CHANGED(change, accepted(f, &a, #change))

/* ---- Pages ---- */

static void test_pages(const struct device *d)
{
    struct fixture fixture, *const f = &fixture;
    set_up(f, d, "f32 b3 h4/2 q2 k13 d8 page4 kvlen:9,9,9 lse");
    REFUSED(BAD, a.block_table.mem = NULL);
    REFUSED(BAD, a.page = -1);
    REFUSED(BAD, a.page = (1 << 30) + 1);
    REFUSED(BAD, a.pages = -1);
    REFUSED(BAD, a.pages = ((int64_t)1 << 30) + 1);
    REFUSED(BAD, a.pages = INT64_MAX);
    REFUSED(BAD, a.pages = 0);
    REFUSED(BAD, a.block_table_stride = -1);
    REFUSED(BAD, a.block_table_stride = INT64_MAX);
    REFUSED(SMALL, a.block_table_stride = 5);
    REFUSED(SMALL, a.block_table.offset++);
    REFUSED(BAD, a.block_table.offset = SIZE_MAX);
    REFUSED(SMALL, s.nk = 17);     /* the table of the last sequence has four entries, not five */
    REFUSED(SMALL, a.page = 3);    /* likewise */
    REFUSED(SMALL, a.pages++);     /* K ends with its last page */
    REFUSED(SMALL, a.page = 5);
    REFUSED(SMALL, a.k.offset = 1);
    REFUSED(SMALL, a.v.offset = 1);
    REFUSED(SMALL, a.k.stride[0] = 65; a.k.stride[1] = 8; a.k.stride[2] = 16);
    REFUSED(BAD, a.v.stride[2] = -16);
    REFUSED(BAD, a.k.stride[0] = INT64_MAX);
    REFUSED(BAD, a.k.mem = NULL);
    REFUSED(BAD, a.k_scale = f->t.args.mask; a.k_scale.mem = f->t.k.image->mem);
    REFUSED(BAD, a.v_zero.mem = f->t.k.image->mem);
    ACCEPTED(a.k.stride[0] = 64; a.k.stride[1] = 8; a.k.stride[2] = 16); /* as they are by default */
    ACCEPTED(a.block_table_stride = 1);                                  /* the same entries serve all */
    ACCEPTED(a.pages--);
    ACCEPTED(s.nk = 16);
    ACCEPTED(s.nk = 0; a.k.mem = a.v.mem = a.block_table.mem = NULL; a.pages = 0);
    ACCEPTED(s.b = 0; a.k.mem = a.v.mem = a.block_table.mem = NULL; a.pages = 0);
    fixture_close(f);
}

/* Pages, tables and scales of a problem that has none. */
static void test_uncalled_for(const struct device *d)
{
    struct fixture fixture, *const f = &fixture;
    set_up(f, d, "f32 b3 h4/2 q2 k13 d8 kvlen:9,9,9 lse");
    REFUSED(BAD, a.page = 4);
    REFUSED(BAD, a.pages = 4);
    REFUSED(BAD, a.block_table_stride = 4);
    REFUSED(BAD, a.block_table.mem = f->t.k.image->mem);
    REFUSED(BAD, a.k_scale.mem = f->t.k.image->mem);
    REFUSED(BAD, a.k_zero.mem = f->t.k.image->mem);
    REFUSED(BAD, a.v_scale.mem = f->t.k.image->mem);
    REFUSED(BAD, a.v_zero.mem = f->t.k.image->mem);
    fixture_close(f);
}

/* ---- Quantised ---- */

/* The shape of scales in numbers, as of a pool that is there whether a call has keys or not. */
static void say_shape(clattn_tensor4 *t, int64_t first, int64_t rows)
{
    const int64_t shape[4] = { first, 2, rows, 1 };
    memcpy(t->shape, shape, sizeof shape);
}
static void say_shapes(clattn_forward_args *a, int64_t first, int64_t rows)
{
    say_shape(&a->k_scale, first, rows);
    say_shape(&a->v_scale, first, rows);
}

/* Where there are no keys, and none of what it has is read, a shape still has to be that of the caches. */
static void test_shapes(struct fixture *f, int paged)
{
    char detail[512] = "";
    const int64_t pages = f->t.args.pages;
    REFUSED(BAD, a.k_scale.shape[3] = 2);
    clattn_error_detail(f->d->handle, detail, sizeof detail, NULL);
    is_str(detail, "k_scale.shape[g] is 2, must be 1", "and the words do not offer 1 or 1");
    REFUSED(BAD, s.nk = 0; say_shapes(&a, paged ? pages + 1 : 4, paged ? 4 : 0));
    REFUSED(BAD, s.nk = 0; say_shapes(&a, paged ? pages : 3, paged ? 5 : 1 << 20));
    REFUSED(BAD, s.b = 0; say_shapes(&a, paged ? pages + 1 : 3, paged ? 4 : 13));
}

/* Calls without entries, queries or keys, whose scales have every axis. */
static void test_no_keys(struct fixture *f, int paged)
{
    const int64_t pages = f->t.args.pages;
    ACCEPTED(say_shapes(&a, paged ? pages : 3, paged ? 4 : 13));
    ACCEPTED(s.nk = 0; say_shapes(&a, paged ? pages : 3, paged ? 4 : 0));
    ACCEPTED(s.b = 0; say_shapes(&a, paged ? pages : 0, paged ? 4 : 13));
    ACCEPTED(s.nq = 0; say_shapes(&a, paged ? pages : 3, paged ? 4 : 13));
    ACCEPTED(s.b = s.nk = s.nq = 0; say_shapes(&a, paged ? pages : 0, paged ? 4 : 0));
    ACCEPTED(s.nk = 0; say_shapes(&a, 1, 1); a.k_scale.mem = a.v_scale.mem = NULL);
    ACCEPTED(s.nk = 0; say_shapes(&a, paged ? pages : 3, paged ? 4 : 0);
             a.k_scale.mem = a.k_zero.mem = a.v_scale.mem = NULL);
}

/* Rows of 16 elements are 16 and 8 bytes; scales for every group of every row. */
static void test_scaled(const struct device *d, const char *text, int pages)
{
    struct fixture fixture, *const f = &fixture;
    set_up(f, d, text);
    REFUSED(BAD, a.k_scale.mem = NULL);
    REFUSED(BAD, a.v_scale.mem = NULL);
    REFUSED(BAD, a.k_zero.mem = NULL);
    REFUSED(BAD, a.v_zero.mem = f->t.v.scale.at.image.mem);
    REFUSED(SMALL, a.k.offset = 1);
    REFUSED(SMALL, a.v.offset = 2);
    REFUSED(BAD, a.v.offset = 1);
    REFUSED(BAD, a.v.stride[0] = 1);
    REFUSED(BAD, a.v.stride[2] = 33);
    REFUSED(BAD, a.v.offset = SIZE_MAX - 1);
    REFUSED(SMALL, a.k_scale.offset = 1);
    REFUSED(SMALL, a.v_scale.offset = 1);
    REFUSED(SMALL, a.k_zero.offset = 1);
    REFUSED(BAD, a.k_scale.offset = SIZE_MAX);
    REFUSED(BAD, a.k_scale.shape[3] = 2);
    REFUSED(BAD, a.k_scale.shape[0] = 7);
    REFUSED(BAD, a.k_scale.shape[1] = 4);
    REFUSED(BAD, a.k_scale.shape[2] = 5);
    REFUSED(BAD, a.k_scale.stride[2] = -1);
    REFUSED(BAD, a.k_scale.stride[0] = INT64_MAX);
    REFUSED(BAD, a.k_zero.shape[2] = INT32_MAX);
    if (pages)
        REFUSED(SMALL, a.pages++);
    else
        REFUSED(SMALL, s.nk++);
    test_shapes(f, pages);
    ACCEPTED(for (int i = 0; i < 4; i++) a.k_scale.shape[i] = 1);
    ACCEPTED(a.k_scale.shape[1] = 1; a.v_scale.shape[2] = 1; a.k_zero.shape[0] = 1);
    ACCEPTED(s.nk = 0; a.k.mem = a.v.mem = a.k_scale.mem = a.v_scale.mem = a.block_table.mem = NULL;
             a.pages = 0);
    test_no_keys(f, pages);
    fixture_close(f);
}

static void test_blocks(const struct device *d, const char *text)
{
    struct fixture fixture, *const f = &fixture;
    set_up(f, d, text);
    REFUSED(SMALL, a.k.offset = 32);
    REFUSED(SMALL, a.v.offset = 32);
    REFUSED(BAD, a.k.offset = 16);
    REFUSED(BAD, a.v.offset = 1);
    REFUSED(BAD, a.k.stride[0] = 80);
    REFUSED(BAD, a.v.stride[1] = 65);
    REFUSED(BAD, a.v.stride[2] = 34);
    REFUSED(BAD, a.k.offset = SIZE_MAX - 31);
    REFUSED(BAD, a.k.stride[0] = INT64_MAX - 31);
    REFUSED(BAD, a.k_scale.mem = f->t.k.image->mem);
    REFUSED(BAD, a.v_zero.mem = f->t.k.image->mem);
    fixture_close(f);
}

static void test_device(const struct device *d)
{
    test_pages(d);
    test_uncalled_for(d);
    test_scaled(d, "f32 b3 h4/2 q2 k13 d16 k:int8z v:int4 kvlen:9,9,9 lse", 0);
    if (harness_turn(0, 0))
        test_scaled(d, "f32 b3 h4/2 q2 k13 d16 k:int8z v:int4 page4 kvlen:9,9,9 lse", 1);
    if (harness_turn(1, 0))
        test_blocks(d, "f32 b3 h4/2 q2 k13 d64 k:q8_0 v:q4_0 kvlen:9,9,9 lse");
    test_blocks(d, "f32 b3 h4/2 q2 k13 d64 k:q4_0 v:q8_0 page4 kvlen:9,9,9 lse");
}

int main(void)
{
    return each_device(test_device);
}
