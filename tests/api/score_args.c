/* score_args.c - the arguments that go with scores: missing, not asked for, too small, of the wrong shape
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/convert.h"
#include "tests/lib/each.h"
#include "tests/lib/refuse.h"

/* Everything at once, and nothing. */
static const char all[] = "f32 b3 h4/2 q5 k7 d8 window3,1 alibi bias:bhqk:f16 mask:1hqk blocks:2,3 sink mod:tanh_gate "
                          "varlen lse",
                  none[] = "f32 b3 h4/2 q5 k7 d8 lse";

/* The problem asks for it, and it is not there. */
static void test_missing(struct fixture *f)
{
    REFUSED(BAD, s.total_q = 0); /* rows that nobody counted */
    REFUSED(BAD, s.total_k = 0);
    REFUSED(BAD, a.cu_q.mem = NULL);
    REFUSED(BAD, a.cu_k.mem = NULL);
    REFUSED(BAD, a.bias.mem = NULL);
    REFUSED(BAD, a.mask.mem = NULL);
    REFUSED(BAD, a.block_map.mem = NULL);
    REFUSED(BAD, a.slopes.mem = NULL);
    REFUSED(BAD, a.sinks.mem = NULL);
    REFUSED(BAD, a.aux = NULL);
    REFUSED(BAD, a.block_q = 0);
    REFUSED(BAD, a.block_k = 0);
    REFUSED(BAD, a.block_q = -2);
    REFUSED(BAD, a.block_k = INT32_MIN);
    REFUSED(BAD, a.block_q = (1 << 30) + 1; a.block_map.shape[2] = 1);
    REFUSED(BAD, a.block_k = INT32_MAX; a.block_map.shape[3] = 1);
}

/* Blocks of the largest size, one for all rows and keys, and of a larger one. */
static void test_largest_blocks(struct fixture *f)
{
    clattn_tensor4 *const map = &f->t.args.block_map;
    const clattn_tensor4 whole = *map;
    clattn_forward_args a = f->t.args;
    for (int i = 0; i < 4; i++)
        map->shape[i] = 1;
    a.block_map = *map;
    a.block_q = a.block_k = 1 << 30;
    is_int(clattn_enqueue_forward(f->plan, f->d->queue, &a, 0, NULL, NULL), CL_SUCCESS, "blocks of 2^30 by 2^30 work");
    clFinish(f->d->queue);
    REFUSED(BAD, a.block_k = 1 << 30; a.block_q = (1 << 30) + 1);
    REFUSED(BAD, a.block_q = 1 << 30; a.block_k = (1 << 30) + 1);
    REFUSED(BAD, a.block_q = 1 << 30; a.block_k = INT32_MAX);
    *map = whole;
}

static void test_missing_aux(struct fixture *f)
{
    clattn_array aux[CLATTN_AUX_MAX];
    int32_t i;
    for (i = 0; i < f->t.c.problem.n_aux; i++) {
        memcpy(aux, f->t.aux, sizeof aux);
        aux[i].mem = NULL;
        REFUSED(BAD, a.aux = aux);
        memcpy(aux, f->t.aux, sizeof aux);
        aux[i].offset = SIZE_MAX;
        REFUSED(ANY, a.aux = aux);
        aux[i].offset = f->t.captured[i].size; /* behind the end */
        REFUSED(SMALL, a.aux = aux);
    }
}

/* Of a captured buffer the library knows the type alone: it has one element at least. */
static void test_least_aux(const struct device *d)
{
    struct fixture nothing, *const f = &nothing;
    each_open(f, d, "f32 b2 h2 q0 k7 d8 mod:tanh_gate,pair_bias lse", PADDED); /* only such a call may have so little */
    for (int32_t i = 0; i < f->t.c.problem.n_aux; i++) {
        const size_t size = image_size_of(f->t.c.problem.aux[i].type);
        clattn_array aux[CLATTN_AUX_MAX];
        memcpy(aux, f->t.aux, sizeof aux);
        aux[i].mem = each_buffer(f->d->cl.context, CL_MEM_READ_ONLY, 3 * size - 1, NULL);
        aux[i].offset = 2; /* the last byte of the third element is missing */
        REFUSED(SMALL, a.aux = aux);
        clattn_forward_args a = f->t.args;
        aux[i].offset = 1;
        a.aux = aux;
        is_int(clattn_enqueue_forward(f->plan, f->d->queue, &a, 0, NULL, NULL), CL_SUCCESS,
               "captured buffer %d of one element from its offset on is enough", (int)i);
        clFinish(f->d->queue);
        clReleaseMemObject(aux[i].mem);
    }
    fixture_close(f);
}

/* The problem does not ask for it. */
static void test_uncalled_for(struct fixture *f, const struct fixture *from)
{
    const clattn_forward_args *with = &from->t.args;
    REFUSED(BAD, a.cu_q = with->cu_q);
    REFUSED(BAD, a.cu_k = with->cu_k);
    REFUSED(BAD, a.bias = with->bias);
    REFUSED(BAD, a.mask = with->mask);
    REFUSED(BAD, a.block_map = with->block_map);
    REFUSED(BAD, a.slopes = with->slopes);
    REFUSED(BAD, a.sinks = with->sinks);
    REFUSED(BAD, a.aux = with->aux);
    REFUSED(BAD, a.block_q = 2);
    REFUSED(BAD, a.block_k = 2);
    REFUSED(BAD, a.slopes_stride = 4);
    REFUSED(BAD, a.offsets = with->cu_q);
}

/* Lists end where their buffers end, so one element on is one too few. */
static void test_lists(struct fixture *f)
{
    REFUSED(SMALL, a.cu_q.offset++);
    REFUSED(SMALL, a.cu_k.offset++);
    REFUSED(SMALL, a.slopes.offset++);
    REFUSED(SMALL, a.sinks.offset++);
    REFUSED(ANY, a.cu_q.offset = SIZE_MAX);
    REFUSED(ANY, a.slopes.offset = SIZE_MAX / 4 + 1);
    REFUSED(ANY, a.sinks.offset = SIZE_MAX);
    REFUSED(BAD, a.slopes_stride = -1);
    REFUSED(SMALL, a.slopes_stride = 1000);
    REFUSED(ANY, a.slopes_stride = INT64_MAX);
}

/* Slopes of each batch entry end with the last head of the last one. */
static void test_slopes(struct fixture *f)
{
    enum { STRIDE = 5, N = 2 * STRIDE + 4 }; /* b3 h4 */
    clattn_forward_args a = f->t.args;
    a.slopes.mem = each_buffer(f->d->cl.context, CL_MEM_READ_ONLY, N * sizeof(cl_float), NULL);
    a.slopes.offset = 0;
    a.slopes_stride = STRIDE;
    is_int(clattn_enqueue_forward(f->plan, f->d->queue, &a, 0, NULL, NULL), CL_SUCCESS, "%d slopes are enough", (int)N);
    clFinish(f->d->queue);
    a.slopes.offset = 1;
    refused(f, &a, SMALL, "one slope less");
    clReleaseMemObject(a.slopes.mem);
}

static void test_shapes(struct fixture *f)
{
    REFUSED(BAD, a.bias.shape[0] = 2);
    REFUSED(BAD, a.bias.shape[1] = -1);
    REFUSED(BAD, a.bias.shape[2] = 6);
    REFUSED(BAD, a.bias.shape[3] = INT64_MAX);
    REFUSED(BAD, a.mask.shape[1] = 2); /* key/value heads are no heads of a mask */
    REFUSED(BAD, a.mask.shape[3] = 8);
    REFUSED(BAD, a.mask.shape[2] = INT64_MIN);
    REFUSED(BAD, a.block_map.shape[2] = 5); /* rows, not blocks */
    REFUSED(BAD, a.block_map.shape[3] = 2);
    REFUSED(BAD, a.block_q = 1); /* makes more blocks */
    REFUSED(BAD, a.block_k = 7);
    REFUSED(BAD, a.bias.stride[0] = -1);
    REFUSED(BAD, a.bias.stride[3] = INT64_MIN);
    REFUSED(BAD, a.mask.stride[2] = -7);
    REFUSED(BAD, a.block_map.stride[1] = -1);
    REFUSED(ANY, a.bias.stride[2] = INT64_MAX);
    REFUSED(ANY, a.bias.stride[0] = a.bias.stride[1] = a.bias.stride[2] = a.bias.stride[3] = INT64_MAX / 4);
    REFUSED(ANY, a.mask.stride[3] = INT64_MAX / 2);
    REFUSED(ANY, a.bias.offset = SIZE_MAX);
    REFUSED(ANY, a.mask.offset = SIZE_MAX - 1);
    REFUSED(BAD, a.block_map.offset = SIZE_MAX / 2); /* and one more is beyond what counts */
    REFUSED(BAD, a.mask.offset = SIZE_MAX / 2 + 1);
    REFUSED(SMALL, a.mask.offset = SIZE_MAX / 4);
    REFUSED(SMALL, a.bias.stride[3] = 1000);
    REFUSED(SMALL, a.mask.stride[2] = 10000);
    REFUSED(SMALL, a.block_map.stride[3] = 10000);
}

/* What is read, in buffers that are only written. */
static void test_access(struct fixture *f)
{
    cl_mem sealed = each_buffer(f->d->cl.context, CL_MEM_WRITE_ONLY, 1 << 16, NULL);
    clattn_array aux[CLATTN_AUX_MAX];
    memcpy(aux, f->t.aux, sizeof aux);
    aux[0].mem = sealed;
    REFUSED(BAD, a.cu_q.mem = sealed);
    REFUSED(BAD, a.bias.mem = sealed);
    REFUSED(BAD, a.mask.mem = sealed);
    REFUSED(BAD, a.block_map.mem = sealed);
    REFUSED(BAD, a.slopes.mem = sealed);
    REFUSED(BAD, a.aux = aux);
    clReleaseMemObject(sealed);
}

/* Totals of varlen sequences. */
static void test_totals(struct fixture *f)
{
    REFUSED(BAD, s.total_q = -1);
    REFUSED(BAD, s.total_k = INT64_MIN);
    REFUSED(ANY, s.total_q = ((int64_t)1 << 30) + 1);
    REFUSED(ANY, s.total_k = INT64_MAX);
    REFUSED(SMALL, s.total_q = 1000);
    REFUSED(SMALL, s.total_k = 1000);
    REFUSED(BAD, a.q.stride[2] = -1);
    REFUSED(BAD, a.o.stride[2] = 1);
    REFUSED(BAD, a.o.stride[1] = 0);
    REFUSED(BAD, a.lse.stride[1] = a.lse.stride[2]);
}

/* A tensor exactly as long as its buffer works, one byte less does not. */
static void test_edge(struct fixture *f, const struct array4 *x, size_t size, clattn_tensor4 *in, const char *name)
{
    int64_t index[4];
    const size_t n = (array4_at(x, array4_count(x) - 1, index) + 1) * size;
    clattn_forward_args *a = &f->t.args;
    const cl_mem whole = in->mem;
    int shorter;
    for (shorter = 0; shorter < 2; shorter++) {
        in->mem = each_buffer(f->d->cl.context, CL_MEM_READ_WRITE, n - (size_t)shorter, x->image.byte);
        if (shorter)
            refused(f, a, SMALL, name);
        else
            is_int(clattn_enqueue_forward(f->plan, f->d->queue, a, 0, NULL, NULL), CL_SUCCESS,
                   "%s exactly as long as its buffer works", name);
        clFinish(f->d->queue);
        clReleaseMemObject(in->mem);
    }
    in->mem = whole;
}

static void test_edges(struct fixture *f)
{
    test_edge(f, &f->t.bias, convert_size(CLATTN_F16), &f->t.args.bias, "bias");
    test_edge(f, &f->t.mask, 1, &f->t.args.mask, "mask");
    test_edge(f, &f->t.map, 1, &f->t.args.block_map, "block_map");
}

/* Buffers of another context. */
static void test_contexts(struct fixture *f)
{
    const cl_context other = each_context(f->d);
    const cl_mem foreign = each_buffer(other, CL_MEM_READ_WRITE, 4096, NULL);
    clattn_array aux[CLATTN_AUX_MAX];
    memcpy(aux, f->t.aux, sizeof aux);
    aux[0].mem = foreign;
    REFUSED(CLATTN_ERROR_CONTEXT, a.cu_q.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.cu_k.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.bias.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.mask.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.block_map.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.slopes.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.sinks.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.aux = aux);
    clReleaseMemObject(foreign);
    clReleaseContext(other);
}

/* After all that was refused, what was right all along still is. */
static void test_right(struct fixture *f)
{
    char why[512] = "";
    if (!ok(!trial_reset(&f->t, f->d->queue) && harness_run(f->d, &f->t, f->plan, why, sizeof why),
            "all of it at once is right: %s", f->text))
        diag("%s", why);
}

/* With CLATTN_REPEAT entries and heads of a bias and a mask divide those of the call; queries and keys do not. */
static void test_repeated(const struct device *d)
{
    struct fixture repeated, *const f = &repeated;
    each_open(f, d, "f32 b4 h6/3 q5 k8 d5 bias:23qk slopes mask:13qk lse", PADDED);
    REFUSED(BAD, a.bias.shape[0] = 3);
    REFUSED(BAD, a.bias.shape[1] = 4);
    REFUSED(BAD, a.bias.shape[1] = 12);
    REFUSED(BAD, a.bias.shape[0] = -2);
    REFUSED(BAD, a.bias.shape[3] = 4);
    REFUSED(BAD, a.mask.shape[1] = 5);
    REFUSED(BAD, a.mask.shape[3] = 2);
    REFUSED(SMALL, a.bias.shape[0] = 4);
    REFUSED(BAD, a.slopes.mem = NULL);
    REFUSED(SMALL, a.slopes.offset += 1000);
    fixture_close(f);
}

static void test_device(const struct device *d)
{
    struct fixture with, without;
    each_open(&with, d, all, PADDED);
    each_open(&without, d, none, PADDED);
    test_missing(&with);
    test_missing_aux(&with);
    test_least_aux(d);
    test_access(&with);
    test_uncalled_for(&without, &with);
    test_lists(&with);
    test_slopes(&with);
    test_shapes(&with);
    test_totals(&with);
    test_contexts(&with);
    test_right(&with);
    test_largest_blocks(&with);
    test_repeated(d);
    test_edges(&with);
    fixture_close(&without);
    fixture_close(&with);
}

int main(void)
{
    return each_device(test_device);
}
