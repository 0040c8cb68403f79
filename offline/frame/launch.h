/* launch.h - what a kernel is launched with
 * SPDX-License-Identifier: Apache-2.0
 *
 * The same for every machine whose code is executed here; "group" is what shares memory, by whichever name. */
#ifndef FRAME_LAUNCH_H
#define FRAME_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a parameter of a kernel is. */
enum param_kind {
    PARAM_VALUE,  /* bytes, by ARG_VALUE. 8 bytes may be a pointer that the code does not mark: these take ARG_BUFFER
                   * and ARG_NULL, too */
    PARAM_GLOBAL, /* a pointer to global or constant memory: ARG_BUFFER or ARG_NULL */
    PARAM_SHARED  /* one to memory of the group, OpenCL's __local: ARG_SHARED */
};

/* Host memory that kernels read and write. Buffers must not overlap; for two arguments that are one buffer, or parts of
 * one, give the same index twice. The address that kernels see is a multiple of 4096. */
struct launch_buffer {
    void *data;
    size_t size;
    /* NULL, or one byte for each byte of data, kept by the caller from launch to launch: 0 if it was never written.
     * What a kernel writes becomes 1; FOUND_READ_UNWRITTEN tells of reads where it is 0. */
    unsigned char *written;
};

enum arg_kind {
    ARG_VALUE,  /* size bytes at value, exactly as many as the parameter has */
    ARG_BUFFER, /* buffers[buffer] from byte `offset` on */
    ARG_NULL,   /* a null pointer */
    ARG_SHARED  /* size bytes of memory of the group's own */
};

struct launch_arg {
    enum arg_kind kind;
    uint32_t buffer;
    size_t offset;
    const void *value;
    size_t size;
};

enum { LAUNCH_BUFFERS_MAX = 4096 };

/* For interpreters. What is wrong with an argument of a parameter of `size` bytes, as "it ..."; NULL: nothing. */
const char *launch_arg_fault(const struct launch_arg *a, enum param_kind kind, size_t size,
                             const struct launch_buffer *buffers, size_t n_buffers, size_t most_shared);
/* False, and why: grids of 2^32 groups and more; more buffers than fit, or such as have no data or an end that does not
 * fit in `shift` bits. */
int launch_check_grid(const uint32_t grid[3], char *why, size_t why_size);
int launch_check_buffers(const struct launch_buffer *buffers, size_t n, unsigned shift, char *why, size_t why_size);
int launch_uses(const struct launch_arg *args, size_t n, size_t buffer);

#ifdef __cplusplus
}
#endif

#endif
