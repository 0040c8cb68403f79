/* image.h - a device buffer and its image on the host, filled with what must not be read or must not change
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_H
#define IMAGE_H

#include <clattn.h>

struct image {
    unsigned char *byte;
    size_t size;
    cl_mem mem;
    const char *name; /* for words, or NULL */
};

/* "f32", "q8_0", .. */
const char *image_type_name(int type);
/* Bytes of an element of any type, those of captured buffers too. */
size_t image_size_of(int type);
/* Room for so many elements. */
cl_int image_alloc(struct image *im, size_t elements, int type);
/* Not zero, not a number: what a kernel must never take in. */
void image_poison(struct image *im, int type);
/* What must be there again afterwards. */
void image_canaries(struct image *im);
/* Makes the buffer, with these bytes in it; none for nothing. */
cl_int image_buffer(struct image *im, cl_context context, cl_mem_flags flags);
/* Brings the buffer back to these bytes. */
cl_int image_write(const struct image *im, cl_command_queue queue);
/* The buffer's bytes, to be freed by the caller; NULL when they cannot be had. */
unsigned char *image_read(const struct image *im, cl_command_queue queue);
/* 1 when the buffer still holds these bytes. */
int image_unchanged(const struct image *im, cl_command_queue queue);
/* The same, and else words in `why`. */
int image_agrees(const struct image *im, cl_command_queue queue, char *why, size_t len);
/* Leaves one of nothing. */
void image_free(struct image *im);

#endif
