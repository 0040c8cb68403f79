/* buffers.c - the buffers of a forward call: their ends, their contexts, sharing one
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/convert.h"
#include "tests/lib/each.h"
#include "tests/lib/refuse.h"

static const char text[] = "f32 b2 h4/2 q5 k7 d8 causal lse";

/* Each buffer exactly as long as its tensor works, one byte less does not. */
static void test_edges(struct fixture *f)
{
    static const char *const name[5] = { "q", "k", "v", "o", "lse" };
    int i, shorter;
    for (i = 0; i < 5; i++)
        for (shorter = 0; shorter < 2; shorter++) {
            clattn_forward_args a = f->t.args;
            clattn_tensor *at[5] = { &a.q, &a.k, &a.v, &a.o, &a.lse };
            struct tensor *x[5] = { &f->t.q, &f->t.k, &f->t.v, &f->t.o, &f->t.lse };
            size_t n = tensor_at(x[i], x[i]->n[0] - 1, x[i]->n[1] - 1, x[i]->n[2] - 1) + (size_t)x[i]->width;
            at[i]->mem = each_buffer(f->d->cl.context, CL_MEM_READ_WRITE,
                                     n * convert_size(x[i]->type) - (size_t)shorter, x[i]->image->byte);
            is_int(clattn_enqueue_forward(f->plan, f->d->queue, &a, 0, NULL, NULL), shorter ? SMALL : CL_SUCCESS,
                   "%s %s", name[i], shorter ? "one byte short is refused" : "exactly as long works");
            clFinish(f->d->queue);
            clReleaseMemObject(at[i]->mem);
        }
}

static void test_access(struct fixture *f)
{
    cl_mem fixed = each_buffer(f->d->cl.context, CL_MEM_READ_ONLY, f->t.image[3].size, NULL);
    cl_mem sealed = each_buffer(f->d->cl.context, CL_MEM_WRITE_ONLY, f->t.image[0].size, NULL);
    REFUSED(BAD, a.o.mem = fixed);
    REFUSED(BAD, a.lse.mem = fixed);
    REFUSED(BAD, a.q.mem = sealed);
    REFUSED(BAD, a.k.mem = sealed);
    REFUSED(BAD, a.v.mem = sealed);
    clReleaseMemObject(fixed);
    clReleaseMemObject(sealed);
}

/* Outputs may be of buffers that kernels only write. */
static void test_write_only(struct fixture *f)
{
    clattn_forward_args a = f->t.args;
    a.o.mem = each_buffer(f->d->cl.context, CL_MEM_WRITE_ONLY, f->t.image[3].size, NULL);
    a.lse.mem = each_buffer(f->d->cl.context, CL_MEM_WRITE_ONLY, f->t.image[4].size, NULL);
    is_int(clattn_enqueue_forward(f->plan, f->d->queue, &a, 0, NULL, NULL), CL_SUCCESS, "O and LSE may be write-only");
    clFinish(f->d->queue);
    clReleaseMemObject(a.o.mem);
    clReleaseMemObject(a.lse.mem);
}

/* Memory objects of another kind. */
static void test_image(struct fixture *f)
{
    const cl_image_format format = { CL_RGBA, CL_FLOAT };
    cl_image_desc desc;
    cl_int e;
    memset(&desc, 0, sizeof desc);
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = desc.image_height = 64;
    cl_mem image = clCreateImage(f->d->cl.context, CL_MEM_READ_WRITE, &format, &desc, NULL, &e);
    if (e) {
        skip("%s makes no images: %s", f->d->name, clattn_status_string(e));
        return;
    }
    REFUSED(BAD, a.q.mem = image);
    REFUSED(BAD, a.o.mem = image);
    clReleaseMemObject(image);
}

static void test_contexts(struct fixture *f)
{
    cl_int e;
    const cl_context other = each_context(f->d);
    const cl_command_queue queue = clCreateCommandQueue(other, f->d->cl.device, 0, &e);
    const cl_mem foreign = each_buffer(other, CL_MEM_READ_WRITE, f->t.image[3].size, NULL);
    if (e)
        bail("no queue: %s", clattn_status_string(e));
    REFUSED(CLATTN_ERROR_CONTEXT, a.q.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.k.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.v.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.o.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, a.lse.mem = foreign);
    is_int(clattn_enqueue_forward(f->plan, queue, &f->t.args, 0, NULL, NULL), CLATTN_ERROR_CONTEXT,
           "a queue of another context is refused");
    clReleaseMemObject(foreign);
    clReleaseCommandQueue(queue);
    clReleaseContext(other);
}

/* Side by side in one buffer is no overlap; the offsets tell. */
static void test_one_buffer(struct fixture *f)
{
    struct trial *t = &f->t;
    clattn_forward_args a = t->args;
    size_t n[5], at = 0, i;
    clattn_tensor *x[5] = { &a.q, &a.k, &a.v, &a.o, &a.lse };
    cl_int e = CL_SUCCESS;
    for (i = 0; i < 5; i++)
        at += n[i] = t->image[i].size;
    const cl_mem all = each_buffer(f->d->cl.context, CL_MEM_READ_WRITE, at, NULL);
    for (i = 0, at = 0; !e && i < 5; at += n[i++]) {
        e = clEnqueueWriteBuffer(f->d->queue, all, CL_TRUE, at, n[i], t->image[i].byte, 0, NULL, NULL);
        x[i]->mem = all;
        x[i]->offset += at / 4;
    }
    if (e)
        bail("no buffer");
    e = clattn_enqueue_forward(f->plan, f->d->queue, &a, 0, NULL, NULL);
    is_int(e, CL_SUCCESS, "all tensors side by side in one buffer");
    clFinish(f->d->queue);
    clReleaseMemObject(all);
}

/* Tensors in sub-buffers: the right numbers, from memory that starts in the middle of a buffer. */
static void test_sub_buffers(struct fixture *f)
{
    struct trial *t = &f->t;
    cl_mem whole[5], part[5];
    cl_uint bits = 0;
    cl_int e = clGetDeviceInfo(f->d->cl.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
    char why[512] = "";
    size_t i, step = bits / 8 < 128 ? 128 : bits / 8;
    clattn_tensor *x[5] = { &t->args.q, &t->args.k, &t->args.v, &t->args.o, &t->args.lse };
    for (i = 0; i < 5; i++) {
        cl_buffer_region r = { step, t->image[i].size };
        whole[i] = each_buffer(f->d->cl.context, CL_MEM_READ_WRITE, step + r.size, NULL);
        part[i] = clCreateSubBuffer(whole[i], CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &r, &e);
        if (e || clEnqueueWriteBuffer(f->d->queue, part[i], CL_TRUE, 0, r.size, t->image[i].byte, 0, NULL, NULL))
            bail("no sub-buffer: %s", clattn_status_string(e));
        clReleaseMemObject(t->image[i].mem);
        t->image[i].mem = x[i]->mem = part[i];
    }
    e = trial_run(t, f->plan, f->d->queue);
    ok(!e && trial_verify(t, f->d->queue, why, sizeof why), "sub-buffers work (%s %s): %s", clattn_status_string(e),
       why, text);
    for (i = 0; i < 5; i++)
        clReleaseMemObject(whole[i]); /* the parts belong to the trial now */
}

static void test_device(const struct device *d)
{
    struct fixture f;
    each_open(&f, d, text, PADDED);
    test_edges(&f);
    test_access(&f);
    test_write_only(&f);
    test_image(&f);
    test_contexts(&f);
    test_one_buffer(&f);
    test_sub_buffers(&f);
    fixture_close(&f);
}

int main(void)
{
    return each_device(test_device);
}
