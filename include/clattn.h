/* clattn.h - fused attention, forward, on any OpenCL device
 * SPDX-License-Identifier: Apache-2.0
 *
 * This header is the manual. It needs OpenCL 1.2 types only, works from C99 and C++, and never defines
 * CL_TARGET_OPENCL_VERSION.
 *
 * What is computed, per batch entry b, query head h, query row q over the key rows k it may see:
 *
 *     s[q,k] = scale * dot(Q[q], K[k])          lse[q] = ln(sum_k exp(s[q,k]))
 *     O[q]   = sum_k exp(s[q,k] - lse[q]) V[k]
 *
 * Shapes   Q [b,h,nq,d]  K [b,hk,nk,d]  V [b,hk,nk,dv]  O [b,h,nq,dv]  LSE [b,h,nq]
 *          h is a multiple of hk; query head i reads key/value head i / (h / hk). d and dv are 1 to 576 and may differ.
 *          b = 0, nq = 0 and nk = 0 are legal; a tensor without elements may have mem NULL.
 * Strides  count elements. The last axis of Q, K, V and O is contiguous, every other axis has its own stride, so
 *          [b,n,h,d], packed QKV and padded rows are all just strides. A key or value stride of 0 repeats that axis.
 * Storage  f32, f16, bf16: arithmetic, softmax and LSE in f32. f64 where the device has it: arithmetic in f64. K and V
 *          may have types of their own (f64 only with f64). LSE is always f32, natural logarithm.
 * Masks    A key is seen when every active rule keeps it:
 *          causal: k <= q + offset; the offset is kv_len - q_len of that batch entry (bottom-right, the default),
 *          0 (top-left), or given. Lengths: kv_start[b] <= k < kv_len[b] and q < q_len[b].
 *          A row that sees nothing gives O = 0 and LSE = -inf, never NaN. What is stored in K and V outside
 *          [kv_start, kv_len) and in Q beyond q_len never reaches an output. Causality is never guessed from shapes.
 *
 * Errors   Functions return a cl_int: CL_SUCCESS, one of the CLATTN_* codes below, or an OpenCL code unchanged.
 *          clattn_error_detail() tells the last failure of the calling thread in words; calls without a handle have a
 *          place for words of their own. Nothing is ever printed.
 * Threads  Any call may run concurrently with any other, on shared objects too, except the release that ends an object.
 *          After fork() a child gets CLATTN_ERROR_FORKED and may only release.
 * Structs  with a struct_size: set it to sizeof of the type and everything else to zero before filling in fields (a
 *          macro CLATTN_..._INIT does). Zero means default. A shorter struct of an older header works; a longer one
 *          works while what this library does not know is zero.
 */
#ifndef CLATTN_H
#define CLATTN_H

#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>

#define CLATTN_VERSION_MAJOR 0
#define CLATTN_VERSION_MINOR 1
#define CLATTN_VERSION_PATCH 0

#if defined(__GNUC__)
#define CLATTN_API __attribute__((visibility("default")))
#define CLATTN_MUST_CHECK __attribute__((warn_unused_result))
#else
#define CLATTN_API
#define CLATTN_MUST_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---- */

enum {
    CLATTN_ERROR_INVALID_ARGUMENT = -30001,  /* a pointer, size, stride or combination is wrong: see the detail */
    CLATTN_ERROR_UNKNOWN_FIELD = -30002,     /* a struct is longer than this library knows and its tail is not zero */
    CLATTN_ERROR_NOT_SUPPORTED = -30003,     /* well formed, but not on this device or in this version */
    CLATTN_ERROR_BUFFER_TOO_SMALL = -30004,  /* a tensor reaches beyond the end of its buffer */
    CLATTN_ERROR_WORKSPACE = -30005,         /* the workspace is smaller than clattn_workspace_size() says; no plan of
                                                this version needs one */
    CLATTN_ERROR_BUILD = -30006,             /* the driver rejected a kernel: the detail holds its log */
    CLATTN_ERROR_SYNTAX = -30007,            /* a problem string or configuration cannot be read */
    CLATTN_ERROR_FORKED = -30008,            /* the object was created before fork() */
    CLATTN_ERROR_CONTEXT = -30009            /* a queue or buffer belongs to another context or device */
};

/* Name of a status, of ours and of OpenCL. Static text, never NULL. */
CLATTN_API const char *clattn_status_string(cl_int status);

/* "MAJOR.MINOR.PATCH" of the library that runs. Static text. */
CLATTN_API const char *clattn_version(void);

/* ---- Problems ---- */

/* Storage types. 0 in a problem: f32 for `type`, the same as `type` for `k_type` and `v_type`. */
enum { CLATTN_F32 = 1, CLATTN_F16 = 2, CLATTN_BF16 = 3, CLATTN_F64 = 4 };

/* Where the causal diagonal lies. */
enum {
    CLATTN_ALIGN_BOTTOM_RIGHT = 0, /* offset = kv_len - q_len of the batch entry */
    CLATTN_ALIGN_TOP_LEFT = 1,     /* offset = 0 */
    CLATTN_ALIGN_OFFSET = 2,       /* offset = clattn_sizes.offset */
    CLATTN_ALIGN_OFFSETS = 3       /* offset = clattn_forward_args.offsets[b] */
};

/* Flags of a problem. */
enum {
    CLATTN_SCALE = 1,    /* take `scale` as it is, also when it is 0 */
    CLATTN_Q_LEN = 2,    /* calls give q_len[b]: rows from there on see nothing */
    CLATTN_KV_LEN = 4,   /* calls give kv_len[b]: keys from there on are not seen */
    CLATTN_KV_START = 8  /* calls give kv_start[b]: keys before it are not seen */
};

/* Sizes of one call, at most 2^30 each and b h below 2^31. b and h: batch entries and query heads; hk: key/value heads,
 * 0 means h; nq, nk: rows; offset: for CLATTN_ALIGN_OFFSET. */
typedef struct clattn_sizes {
    int64_t b, h, hk, nq, nk, offset;
} clattn_sizes;

/* A problem is what kernels are built for. d, dv, the types, causal, align and flags are fixed in a plan; the sizes
 * only help to choose a tile (all 0: no idea): every call may bring its own, and no new size ever compiles anything. */
typedef struct clattn_problem {
    size_t struct_size;
    int32_t type;            /* of Q and O */
    int32_t k_type, v_type;
    int32_t d, dv;           /* widths in elements, 1 to 576; dv 0 means d */
    int32_t causal;          /* 0 or 1 */
    int32_t align;           /* CLATTN_ALIGN_*; counts for nothing without causal */
    uint32_t flags;
    double scale;            /* 0 means 1/sqrt(d), unless CLATTN_SCALE is set; any finite value, negative too */
    clattn_sizes sizes;
} clattn_problem;

#define CLATTN_PROBLEM_INIT { sizeof(clattn_problem), 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0 } }

/* What a problem string says: the problem, and how a test or a benchmark sets it up. The string, used wherever a
 * problem is named in text:
 *
 *   TYPE bB hH[/HK] qNQ kNK dD[/DV] [causal|causal-tl] [k:TYPE] [v:TYPE] [offN] [bthd] [scaleX]
 *        [qlen:N,..] [kvlen:N,..] [kvstart:N,..] [seedN] [lse]
 *
 * e.g. "f16 b2 h32/8 q2048 k2048 d128 causal". Lists have b numbers. Words of the grammar that belong to features this
 * version lacks (softcap, window, ...) give CLATTN_ERROR_NOT_SUPPORTED and are named in `why`. */
enum { CLATTN_LIST_MAX = 256 };
typedef struct clattn_case {
    size_t struct_size;
    int32_t bthd;            /* axis order of Q, K, V and O is [b,n,h,d] */
    int32_t lse;             /* LSE is wanted */
    uint64_t seed;
    int32_t q_len[CLATTN_LIST_MAX], kv_len[CLATTN_LIST_MAX], kv_start[CLATTN_LIST_MAX]; /* as problem.flags say */
    clattn_problem problem;
} clattn_case;

#define CLATTN_CASE_INIT { sizeof(clattn_case), 0, 0, 0, { 0 }, { 0 }, { 0 }, CLATTN_PROBLEM_INIT }

/* Reads `text` into `*out`, whose struct_size says how long it is. On failure `*out` is untouched and `why` (may be NULL; `len` bytes, always ended by NUL)
 * says what is wrong. CLATTN_ERROR_SYNTAX, _NOT_SUPPORTED or _INVALID_ARGUMENT. */
CLATTN_API cl_int clattn_case_parse(const char *text, clattn_case *out, char *why, size_t len) CLATTN_MUST_CHECK;

/* Writes the canonical string of `c` to `text`: at most `len` bytes, NUL included. `*needed` (may be NULL) is the room
 * it takes. Reading it back gives an equal problem; fields that count for nothing are left out. */
CLATTN_API cl_int clattn_case_print(const clattn_case *c, char *text, size_t len, size_t *needed);

/* The work of one forward call: FLOPs = 2 (d + dv) per (query row, key) that the masks keep, over all query heads;
 * bytes = Q, K, V, O (and LSE when wanted) once each in its storage type. */
CLATTN_API cl_int clattn_case_cost(const clattn_case *c, double *flops, double *bytes) CLATTN_MUST_CHECK;

/* ---- Handles ---- */

typedef struct clattn_handle_s *clattn_handle; /* one context and device, and what was built for them; ref-counted */
typedef struct clattn_plan_s *clattn_plan;     /* one problem made runnable; immutable, ref-counted */

typedef struct clattn_options {
    size_t struct_size;
    /* Called, when not NULL, with text about what is worth knowing: why a handle could not be made, a compiler's
     * warnings, a configuration that was passed over. On the calling thread, without locks held. */
    void (*log)(void *user, const char *text);
    void *log_user;
} clattn_options;

#define CLATTN_OPTIONS_INIT { sizeof(clattn_options), 0, 0 }

/* Makes a handle for one device of a context. Keeps a reference to the context until the last release.
 * `options` may be NULL. On failure *out is NULL. */
CLATTN_API cl_int clattn_create(clattn_handle *out, cl_context context, cl_device_id device,
                                const clattn_options *options) CLATTN_MUST_CHECK;
CLATTN_API cl_int clattn_retain(clattn_handle handle);
CLATTN_API cl_int clattn_release(clattn_handle handle); /* NULL is fine */

/* Words for the last failure of the calling thread on this handle or one of its plans; "" when there was none. */
CLATTN_API cl_int clattn_error_detail(clattn_handle handle, char *text, size_t len, size_t *needed);

/* CL_SUCCESS when a plan can be made for `problem`; else the status that clattn_plan_create() would return, with the
 * reason in `why` (may be NULL). Compiles nothing. */
CLATTN_API cl_int clattn_supports(clattn_handle handle, const clattn_problem *problem, char *why, size_t len);

/* The index-th configuration, "ENGINE TILE", that this device can run `problem` with; the default is number 0.
 * CL_INVALID_VALUE when there are not that many. */
CLATTN_API cl_int clattn_config_at(clattn_handle handle, const clattn_problem *problem, size_t index, char *text,
                                   size_t len);

/* The program composed for `problem` and its build options (first line, a comment), as handed to the driver.
 * `config` as in clattn_plan_options. handle NULL: for a generic GPU, no device needed. On failure `text` says why. */
CLATTN_API cl_int clattn_emit_source(clattn_handle handle, const clattn_problem *problem, const char *config,
                                     char *text, size_t len, size_t *needed);

/* ---- Plans ---- */

typedef struct clattn_plan_options {
    size_t struct_size;
    /* NULL: the best known that builds here. "ENGINE": likewise, of that engine. "ENGINE TILE", as clattn_config_at()
     * gives it: that or nothing. */
    const char *config;
    size_t max_workspace;    /* bytes a call may ask for; 0: no bound. Forward plans of this version need none */
} clattn_plan_options;

#define CLATTN_PLAN_OPTIONS_INIT { sizeof(clattn_plan_options), 0, 0 }

/* Chooses, composes and builds the kernels for `problem` (copied). The only call that compiles: a driver compile may
 * take seconds. Keeps a reference to the handle. `options` may be NULL. On failure *out is NULL. */
CLATTN_API cl_int clattn_plan_create(clattn_plan *out, clattn_handle handle, const clattn_problem *problem,
                                     const clattn_plan_options *options) CLATTN_MUST_CHECK;
CLATTN_API cl_int clattn_plan_retain(clattn_plan plan);
CLATTN_API cl_int clattn_plan_release(clattn_plan plan); /* NULL is fine */

/* The configuration in use, "ENGINE TILE". */
CLATTN_API cl_int clattn_plan_config(clattn_plan plan, char *text, size_t len, size_t *needed);

/* ---- Running ---- */

/* A tensor inside a buffer. offset: of the first element, in elements. stride: of the axes b, h and n (rows), in
 * elements, none negative; all three 0 means contiguous [b,h,n,width]. The caller keeps the buffer; the queue holds
 * its own reference while a call is under way. */
typedef struct clattn_tensor {
    cl_mem mem;
    size_t offset;
    int64_t stride[3];
} clattn_tensor;

/* One int32 per batch entry, [b], in a device buffer. offset in elements. */
typedef struct clattn_ints {
    cl_mem mem;
    size_t offset;
} clattn_ints;

typedef struct clattn_forward_args {
    size_t struct_size;
    const clattn_sizes *sizes;   /* NULL: those of the plan's problem */
    clattn_tensor q, k, v;       /* read */
    clattn_tensor o;             /* written: every row, also those that see nothing. Must overlap nothing read */
    clattn_tensor lse;           /* written unless mem is NULL; f32, axes b, h and nq, contiguous by default */
    clattn_ints q_len, kv_len, kv_start; /* given exactly when the problem's flags say so. Values are clamped to
                                            [0, nq] and [0, nk] */
    clattn_ints offsets;         /* for CLATTN_ALIGN_OFFSETS */
    cl_mem workspace;            /* at least clattn_workspace_size() bytes from workspace_offset on; NULL for none */
    size_t workspace_offset, workspace_size; /* bytes */
} clattn_forward_args;

#define CLATTN_TENSOR_INIT { 0, 0, { 0, 0, 0 } }
#define CLATTN_FORWARD_ARGS_INIT \
    { sizeof(clattn_forward_args), 0, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, \
      CLATTN_TENSOR_INIT, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, 0, 0, 0 }

/* Bytes of workspace that a call with these arguments needs, exactly; 0 is usual. No device work. */
CLATTN_API cl_int clattn_workspace_size(clattn_plan plan, const clattn_forward_args *args, size_t *size)
    CLATTN_MUST_CHECK;

/* Enqueues the forward pass on `queue` (in-order or out-of-order, of the handle's context and device). As OpenCL's own
 * enqueue calls: asynchronous; waits for wait_list; *event (unless NULL) completes when O and LSE are written and is the
 * caller's to release. Never allocates device memory, compiles, touches files or blocks. On error nothing was enqueued
 * and there is no event. */
CLATTN_API cl_int clattn_enqueue_forward(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args,
                                         cl_uint n_wait, const cl_event *wait_list, cl_event *event)
    CLATTN_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
