/* image.c - a device buffer and its image on the host
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/image.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/quantise.h"
#include "tests/lib/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *image_type_name(int type)
{
    return convert_type(type)->name;
}

size_t image_size_of(int type)
{
    return type == CLATTN_U8 ? 1 : type == CLATTN_I32 ? sizeof(int32_t) : convert_size(type);
}

cl_int image_alloc(struct image *im, size_t elements, int type)
{
    im->size = quantise_is(type) ? quantise_bytes(type, elements) : elements * image_size_of(type);
    im->byte = malloc(im->size + 1);
    return im->byte ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

void image_poison(struct image *im, int type)
{
    static const double bad[3] = { NAN, INFINITY, -INFINITY };
    const int32_t far = INT32_MIN;
    size_t size = image_size_of(type), i;
    if (quantise_is(type))
        quantise_poison(type, im->byte, im->size / quantise_bytes(type, (size_t)quantise_block(type)) *
                                            (size_t)quantise_block(type));
    else if (type == CLATTN_U8)
        memset(im->byte, 0xa5, im->size);
    else
        for (i = 0; i < im->size / size; i++)
            if (type == CLATTN_I32)
                memcpy(im->byte + i * size, &far, size);
            else
                convert_store(type, &bad[i % 3], im->byte + i * size, 1);
}

void image_canaries(struct image *im)
{
    size_t i;
    for (i = 0; i < im->size; i++)
        im->byte[i] = (unsigned char)(trial_hash(7, 7, i / 8) >> (i % 8 * 8));
}

cl_int image_buffer(struct image *im, cl_context context, cl_mem_flags flags)
{
    cl_int e = CL_SUCCESS;
    if (im->size)
        im->mem = clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, im->size, im->byte, &e);
    return e;
}

cl_int image_write(const struct image *im, cl_command_queue queue)
{
    if (!im->size)
        return CL_SUCCESS;
    return clEnqueueWriteBuffer(queue, im->mem, CL_TRUE, 0, im->size, im->byte, 0, NULL, NULL);
}

unsigned char *image_read(const struct image *im, cl_command_queue queue)
{
    unsigned char *now = malloc(im->size + 1);
    if (!now || (im->size && clEnqueueReadBuffer(queue, im->mem, CL_TRUE, 0, im->size, now, 0, NULL, NULL))) {
        free(now);
        return NULL;
    }
    return now;
}

int image_agrees(const struct image *im, cl_command_queue queue, char *why, size_t len)
{
    unsigned char *const now = image_read(im, queue);
    size_t i = 0;
    while (now && i < im->size && now[i] == im->byte[i])
        i++;
    const int same = now && i == im->size;
    if (!now)
        snprintf(why, len, "cannot read a buffer");
    else if (!same)
        snprintf(why, len, "%s: byte %zu of %zu is 0x%02x, not 0x%02x", im->name ? im->name : "a buffer", i, im->size,
                 now[i], im->byte[i]);
    free(now);
    return same;
}

int image_unchanged(const struct image *im, cl_command_queue queue)
{
    return image_agrees(im, queue, NULL, 0);
}

void image_free(struct image *im)
{
    if (im->mem)
        clReleaseMemObject(im->mem);
    free(im->byte);
    memset(im, 0, sizeof *im);
}
