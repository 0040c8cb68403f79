/* device_sample.h - a sample on a device: buffers of the library's own, and calls on them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_SAMPLE_H
#define DEVICE_SAMPLE_H

#include "judge/sample.h"
#include "run/launch.h"

/* Of a sample whose problem asks for gradients: LSE, which O and LSE of the sample's inputs go with; what is written,
 * by SAMPLE_DQ .., without the guards; and what stands for captured buffers. */
struct gradient_buffers {
    float *lse;
    struct sample_element *elements; /* where they are few */
    cl_mem lse_mem, mem[SAMPLE_GRADIENTS];
    size_t bytes[SAMPLE_GRADIENTS];
    clattn_array aux[CLATTN_AUX_MAX];
    clattn_aux_gradient daux[CLATTN_AUX_MAX];
    clattn_backward_args args;
};

struct device_sample {
    struct sample sample;
    cl_command_queue queue;   /* in order, profiling */
    clattn_forward_args args; /* its workspace is as large as any call needed so far */
    cl_mem mem[SAMPLES], o, lse;
    unsigned char digest[SAMPLES][32]; /* of what was put in; zero: not looked after */
    size_t o_bytes, lse_bytes;         /* without the guards around them */
    int64_t copies, at;                /* of K and V, and the next to use: so that no cache holds them */
    bool guarded;
    unsigned char *seen, *seen_lse; /* O and LSE with their guards, as a look saw them */
    double *values;                 /* of the sample, where they are few */
    struct gradient_buffers gradients;
};

/* guarded: everything that is not to be written is looked at afterwards. copies: of K and V, at least 1.
 * device_sample_close() is due in both cases. */
cl_int device_sample_open(struct device_sample *b, cl_context context, cl_device_id device, const struct sample *sample,
                          bool guarded, int64_t copies, struct why *why);
void device_sample_close(struct device_sample *b);

/* One call on all of it or, rows > 0, on the first rows of each sequence; waits for its end. *seconds by the host's
 * clock, *device by the device's, 0 where it has none. */
cl_int device_sample_run(struct device_sample *b, struct launch *l, int64_t rows, double *seconds, double *device,
                         struct why *why);

/* Looking at rows this far apart is looking at a few of a large sample. */
int64_t device_sample_step(const struct sample *s);

/* What lies around outputs, in bytes, and what outputs hold before a call: NaN in every type. */
enum { DEVICE_SAMPLE_GUARD = 4096, DEVICE_SAMPLE_GUARD_BYTE = 0xa5, DEVICE_SAMPLE_POISON = 0xff };

/* Makes a buffer for an output, with guards around it. */
cl_int device_sample_output(struct device_sample *b, cl_context context, cl_mem *mem, size_t bytes, struct why *why);

/* Poisons O and LSE, or gradients; fills a part of a buffer, or reads it; and what an input holds now. For judge.c. */
cl_int device_sample_poison(struct device_sample *b, struct why *why);
cl_int device_sample_fill(struct device_sample *b, cl_mem mem, unsigned char byte, size_t at, size_t n,
                          struct why *why);
cl_int device_sample_read(struct device_sample *b, cl_mem mem, size_t at, size_t n, void *to, struct why *why);
cl_int device_sample_digest(struct device_sample *b, int what, unsigned char to[32], struct why *why);

double device_sample_now(void); /* seconds, of a clock that only goes forward */

#endif
