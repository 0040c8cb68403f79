/* native.h - what clattn/_native has beside <clattn.h>: one call for everything that a call of Python does
 * SPDX-License-Identifier: Apache-2.0
 *
 * cffi reads this file too: declarations only, no preprocessor but the lines that build_native.py leaves out. */
#ifndef CLATTN_NATIVE_H
#define CLATTN_NATIVE_H

#include <clattn.h>

/* How an operand is handed over. */
enum {
    CLATTN_PY_READ = 1,   /* memory of the host: read */
    CLATTN_PY_WRITE = 2,  /* written */
    CLATTN_PY_DEVICE = 4, /* a cl_mem */
    CLATTN_PY_COPY = 8    /* memory of the host that may change once the call returns: copied */
};

/* Which call. */
enum {
    CLATTN_PY_FORWARD,
    CLATTN_PY_BACKWARD,
    CLATTN_PY_APPEND,
    CLATTN_PY_ROTARY,
    CLATTN_PY_MERGE,
    CLATTN_PY_BLOCK_MAP,
    CLATTN_PY_SCORES /* a forward call and its scores */
};

/* Where an operand goes, and how: the same for all calls of one kind. */
typedef struct {
    size_t at;    /* of its cl_mem in a clattn_py_call; its offset stands behind */
    size_t bytes; /* of the host */
    int32_t mode; /* CLATTN_PY_* */
    int32_t reserved;
} clattn_py_slot;

/* Where it is: an address or a cl_mem, and the first element behind that. */
typedef struct {
    uint64_t where, offset;
} clattn_py_place;

/* The arguments of every function, which may point to each other. */
typedef struct {
    clattn_problem problem;
    clattn_sizes sizes;
    clattn_forward_args forward;
    clattn_scores_args scores;
    clattn_backward_args backward;
    clattn_append_args append;
    clattn_rotary_args rotary;
    clattn_merge_args merge;
    clattn_array aux[16];
    clattn_aux_gradient daux[16];
} clattn_py_call;

/* A handle with the context and queue that it runs on. */
typedef struct {
    clattn_handle handle;
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    int32_t unified;     /* the device reads the memory of the host */
    int64_t pid;         /* the process that made it */
    uint64_t buffer_max; /* bytes of a buffer at most, as the device says */
} clattn_py_session;

/* Who calls: a queue of the caller's, 0 for the session's; the events that it waits for; and where its own event goes,
 * NULL for a call that returns when all is written. What dropout drops differs from call to call as well. */
typedef struct {
    uintptr_t queue;
    const uintptr_t *waits;
    uint32_t n_waits;
    uintptr_t *event;
    uint64_t dropout_seed, dropout_offset;
} clattn_py_caller;

/* Asks the OpenCL loader something, so that it reads now which drivers there are. */
void clattn_py_show(void);
/* Each writes what went wrong to `words`. */
cl_int clattn_py_open(clattn_py_session **out, uintptr_t context, uintptr_t device, uint64_t kind,
                      const clattn_options *options, char *words, size_t room);
void clattn_py_close(clattn_py_session *s);
cl_int clattn_py_plan(clattn_plan *out, clattn_py_session *s, const clattn_problem *problem, const char *config,
                      size_t max_workspace, char *words, size_t room);
cl_int clattn_py_run(clattn_py_session *s, clattn_plan plan, int op, const clattn_py_call *call,
                     const clattn_py_slot *slots, const char *places, int n, const clattn_py_caller *caller,
                     char *words, size_t room);
/* Refuses calls from now on, and waits for those under way. */
void clattn_py_exit(void);
/* In a child of fork(): no call is under way, whatever its parent's other threads were doing. */
void clattn_py_forked(void);

#endif
