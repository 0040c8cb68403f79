/* peer.h - what clattn-bench can time beside a plan
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PEER_H
#define PEER_H

#include "tools/run/setup.h"

/* One way to compute the attention of a setup: makes whatever it needs, then runs any number of times. */
struct peer_kind {
    const char *name, *what;
    cl_int (*open)(void **self, const struct opencl *where, clattn_handle handle, struct setup *s, char *why,
                   size_t len);
    cl_int (*run)(void *self);                       /* from enqueue to the end of the last kernel */
    void (*close)(void *self);                       /* NULL is fine */
    const char *(*note)(const struct opencl *where); /* what a reader of its time must know, or NULL */
    uint64_t (*need)(const clattn_workload *c);      /* bytes of its own buffers, but for workspaces of plans */
    int is_plan; /* it is a plan of ours */
    int other;   /* it computes something else on purpose, and only its time is used */
};

/* All peers; ends with NULL. */
extern const struct peer_kind *const peer_kinds[];

/* Unfused: batched GEMM, softmax kernel, batched GEMM. In bench/peers/clblast.c, where CLBlast was found. */
extern const struct peer_kind peer_clblast;

#endif
