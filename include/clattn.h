/* clattn.h - fused attention, forward, on any OpenCL device
 * SPDX-License-Identifier: Apache-2.0
 *
 * This header is the manual. It needs OpenCL 1.2 types only, works from C99 and C++, and never defines
 * CL_TARGET_OPENCL_VERSION.
 *
 * What is computed, per batch entry b, query head h, query row q over the key rows k it may see:
 *
 *     s[q,k] = scale * dot(Q[q], K[k])
 *     s = c tanh(s / c)                              softcap c
 *     s = score_mod(s, b, h, q, k)                   the caller's OpenCL C, several in the order given
 *     s = s - slope[h] |q + offset - k|              ALiBi
 *     s = s + bias[b,h,q,k]
 *     lse[q] = ln(sum_k exp(s[q,k]) + exp(sink[h]))  sinks: a term without a value
 *     O[q]   = sum_k exp(s[q,k] - lse[q]) V[k]
 *
 * Every step but the first and the last two is optional, every combination is allowed.
 *
 * Shapes   Q [b,h,nq,d]  K [b,hk,nk,d]  V [b,hk,nk,dv]  O [b,h,nq,dv]  LSE [b,h,nq]
 *          h is a multiple of hk; query head i reads key/value head i / (h / hk). d and dv are 1 to 576 and may differ.
 *          b = 0, nq = 0 and nk = 0 are legal; a tensor without elements may have mem NULL.
 * Strides  count elements. The last axis of Q, K, V and O is contiguous, every other axis has its own stride, so
 *          [b,n,h,d], packed QKV and padded rows are all just strides. A key or value stride of 0 repeats that axis.
 * Storage  f32, f16, bf16: arithmetic, softmax and LSE in f32. f64 where the device has it: arithmetic in f64. K and V
 *          may have types of their own (f64 only with f64). LSE is always f32, natural logarithm.
 * Masks    A key is seen when every active rule keeps it:
 *          causal: k <= q + offset. Window: q + offset - left <= k <= q + offset + right, -1 for no bound; with causal
 *          the smaller right bound wins. The offset is kv_len - q_len of that batch entry (bottom-right, the default),
 *          0 (top-left), or given. Mask: a byte that is not 0 keeps. Block map: below. Lengths: kv_start[b] <= k <
 *          kv_len[b] and q < q_len[b]. A bias of -inf and a score_mod that returns -inf drop the key too.
 *          A row that sees nothing gives O = 0 and LSE = -inf (with a sink: LSE = sink), never NaN. What is stored in K
 *          and V outside [kv_start, kv_len), in Q beyond q_len and in the bias of a dropped key never reaches an
 *          output. NaN and inf in a value row that one query sees may reach the queries computed beside it. Causality is
 *          never guessed from shapes.
 * Bound    For row q of a head and column j, let p_k be the exact weights of the inputs as stored, o the exact result, n
 *          the keys that are seen, a_k = |scale| sum_d |Q[q,d] K[k,d]| plus |s| after each of softcap, score_mods, ALiBi
 *          and bias that there is, and u = 2^-24 (f64: 2^-53). Then, in every configuration,
 *              |O - o|     <= u (32 T1 + (16 + 2 log2(1 + n)) T2) + eps |o| + tiny
 *              |LSE - lse| <= 2^-24 (32 sum_k p_k (1 + a_k) + 16 + 2 log2(1 + n) + 2 |lse|)
 *              T1 = sum_k p_k |V[k,j] - o| (1 + a_k)           T2 = sum_k p_k |V[k,j]|
 *          where eps is u, in f16 2^-11 and in bf16 2^-8 (O's type), and tiny the smallest normal number of that type.
 *          Engines made of matrix units (mma_nv) store p in it: 2 eps T2 more, in f16 2^-32 n max|V| as well. A sink is
 *          one more key, with V = 0 and a = |sink|. A weight below 2^-126 (f64: 2^-1022) of the row's largest may count as 0.
 *          What a score_mod loses to rounding of its own is not in it.
 *          That holds where |scale| sum_d |Q K| and the scores after every step are at most 1e37, and n max|V| is at
 *          most 1e38, in size: there finite inputs give finite results. Beyond nothing is promised but that nothing
 *          crashes.
 * Packed   sequences of different lengths (varlen): with CLATTN_CU_Q, Q and O are [total_q,h,d] and LSE is [h,total_q];
 *          the rows of sequence b are cu_q[b] to cu_q[b+1] - 1. Likewise K and V with CLATTN_CU_K. b then is the
 *          sequence, q and k count inside it; lengths, offsets, bias and mask mean what they mean for padded tensors.
 *
 * Errors   Functions return a cl_int: CL_SUCCESS, one of the CLATTN_* codes below, or an OpenCL code unchanged.
 *          clattn_error_detail() tells the last failure of the calling thread in words; calls without a handle have a
 *          place for words of their own. Nothing is ever printed.
 * Threads  Any call may run concurrently with any other, on shared objects too, except the release that ends an object.
 *          After fork() a child gets CLATTN_ERROR_FORKED and may only release.
 * Structs  with a struct_size: set it to sizeof of the type and everything else to zero before filling in fields (a
 *          macro CLATTN_..._INIT does). Zero means default. A struct of an older header works, and so does a longer one
 *          while what this library does not know is zero. A size that no version of the struct had is
 *          CLATTN_ERROR_INVALID_ARGUMENT, and nothing behind struct_size is read then.
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
    CLATTN_ERROR_WORKSPACE = -30005,         /* the workspace is smaller than clattn_workspace_size() says */
    CLATTN_ERROR_BUILD = -30006,             /* the driver rejected a kernel: the detail holds its log */
    CLATTN_ERROR_SYNTAX = -30007,            /* a problem string or configuration cannot be read */
    CLATTN_ERROR_FORKED = -30008,            /* the object was created before fork() */
    CLATTN_ERROR_CONTEXT = -30009,           /* a queue or buffer belongs to another context or device */
    CLATTN_ERROR_CANCELLED = -30010,         /* a callback asked to stop */
    CLATTN_ERROR_WRONG_RESULT = -30011,      /* a kernel built and ran, and computed something else */
    CLATTN_ERROR_CRASHED = -30012            /* a configuration hung or crashed where it was measured */
};

/* Name of a status, of ours and of OpenCL. Static text, never NULL. */
CLATTN_API const char *clattn_status_string(cl_int status);

/* "MAJOR.MINOR.PATCH" of the library that runs. Static text. */
CLATTN_API const char *clattn_version(void);

/* ---- Problems ---- */

/* Storage types. 0 in a problem: f32 for `type`, the same as `type` for `k_type` and `v_type`. */
enum { CLATTN_F32 = 1, CLATTN_F16 = 2, CLATTN_BF16 = 3, CLATTN_F64 = 4 };
/* More types, of captured buffers only: int and uchar. */
enum { CLATTN_I32 = 5, CLATTN_U8 = 6 };

/* Where the diagonal of causal, window and ALiBi lies. */
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
    CLATTN_KV_START = 8, /* calls give kv_start[b]: keys before it are not seen */
    CLATTN_CU_Q = 16,    /* Q and O are packed, calls give cu_q[b+1] */
    CLATTN_CU_K = 32,    /* K and V are packed, calls give cu_k[b+1] */
    CLATTN_WINDOW = 64,  /* window_left and window_right count */
    CLATTN_ALIBI = 128,  /* calls give slopes */
    CLATTN_SINKS = 256,  /* calls give sinks */
    CLATTN_MASK = 512,   /* calls give a mask */
    CLATTN_BLOCK_MAP = 1024 /* calls give a block map */
};

/* Sizes of one call, at most 2^30 each and b h below 2^31. A call that would take 2^31 work-groups is refused; they own
 * rows of one head each, so b h nq work-groups are the most. b and h: batch entries and query heads; hk: key/value heads,
 * 0 means h; nq, nk: rows, of the longest sequence where they are packed; offset: for CLATTN_ALIGN_OFFSET, beyond
 * +-2^30 it counts as that, as offsets in a buffer do; total_q, total_k: rows of all sequences together, for CLATTN_CU_Q
 * and CLATTN_CU_K. */
typedef struct clattn_sizes {
    int64_t b, h, hk, nq, nk, offset, total_q, total_k;
} clattn_sizes;

/* A change of scores, written by the caller: OpenCL C statements that assign s, e.g. "s = q < k ? s - 1.0f : s;".
 * In scope: s (float, or double with f64), int b, h (query head), q, k, and the captured buffers by their names. q and k
 * count from 0 in the sequence, whatever the offset, and are always a query and a key that it has. A key that is dropped
 * by one text (s = -INFINITY) stays so, whatever later ones and the bias say. The text becomes part of the kernel: it is
 * trusted as the caller is. Identifiers that begin with cla_ or CLA_ are the library's. Macros that a text defines are its own:
 * they change nothing before it, behind it and in other texts. Compiler messages name `name` and the line in it. */
enum {
    /* The text works on several elements at a time: s is `real`, q and k are `integer` (vectors or scalars, as the
     * engine likes), real_(x) converts an integer. Arithmetic, OpenCL's built-ins and c ? x : y with a comparison of
     * reals or integers as c only: no if, &&, ||, !, no casts, no indexing by q or k, which may also lie behind the last
     * query and key here. Faster on CPUs. */
    CLATTN_MOD_VECTOR = 1
};
typedef struct clattn_score_mod {
    const char *text;
    const char *name; /* of the file, for messages; NULL: "score_mod" */
    uint32_t flags;   /* CLATTN_MOD_* */
} clattn_score_mod;

/* A captured buffer: `const __global TYPE *name` in the texts of all score_mods. f32 is float, f16 half (vload_half
 * reads it), bf16 ushort, f64 double (with f64 only), I32 int, U8 uchar. A buffer holds one element at least. */
typedef struct clattn_aux {
    const char *name;
    int32_t type;
} clattn_aux;

enum { CLATTN_MODS_MAX = 8, CLATTN_AUX_MAX = 16 };

/* A problem is what kernels are built for. Everything but the sizes is fixed in a plan; the sizes only help to choose a
 * tile (all 0: no idea): every call may bring its own, and no new size ever compiles anything. A plan made with
 * sizes of few queries, and of more query heads than key/value heads, reads keys once for all heads that share them; one made
 * without sizes, or for long sequences, reads them for each. */
typedef struct clattn_problem {
    size_t struct_size;
    int32_t type;            /* of Q and O */
    int32_t k_type, v_type;
    int32_t d, dv;           /* widths in elements, 1 to 576; dv 0 means d */
    int32_t causal;          /* 0 or 1 */
    int32_t align;           /* CLATTN_ALIGN_*; counts for nothing without causal, window and ALiBi: there are no offsets
                                to give then */
    uint32_t flags;
    double scale;            /* 0 means 1/sqrt(d), unless CLATTN_SCALE is set. Negative too; 0 or, in size, a normal
                                float (2^-126 to 1e38), in f64 a normal double: CLATTN_ERROR_INVALID_ARGUMENT if not */
    clattn_sizes sizes;
    double softcap;          /* 0 means none; positive */
    int32_t window_left, window_right; /* for CLATTN_WINDOW; -1 for no bound */
    int32_t bias_type;       /* 0 means no bias; CLATTN_F32, _F16, _BF16, or _F64 with f64 */
    int32_t n_mods, n_aux;   /* at most CLATTN_MODS_MAX and CLATTN_AUX_MAX */
    int32_t reserved;        /* 0 */
    const clattn_score_mod *mods; /* [n_mods], in the order they apply. Read while a call with the problem lasts */
    const clattn_aux *aux;   /* [n_aux], likewise */
} clattn_problem;

#define CLATTN_PROBLEM_INIT \
    { sizeof(clattn_problem), 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 0 }, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* What a problem string says: the problem, and how a test or a benchmark sets it up. The string, used wherever a
 * problem is named in text:
 *
 *   TYPE bB hH[/HK] qNQ kNK dD[/DV] [causal|causal-tl] [windowL,R] [softcapC] [alibi] [bias:DIMS[:TYPE]] [mask:DIMS]
 *        [blocks:BQ,BK] [sink] [mod:NAME[,NAME..]] [varlen] [k:TYPE] [v:TYPE] [offN] [bthd] [scaleX]
 *        [qlen:N,..] [kvlen:N,..] [kvstart:N,..] [seedN] [lse]
 *
 * e.g. "f16 b2 h32/8 q2048 k2048 d128 causal". Lists have b numbers. DIMS: the axes of bias or mask, each its letter or
 * 1 where it is broadcast: bhqk, 11qk, b11k. blocks: a block map of that granularity. mod: score_mods by the names of
 * files in examples/score_mods; whoever reads the string supplies text and buffers. varlen: Q, K and V are packed;
 * sequence i has ceil(NQ (i+1) / B) queries and ceil(NK (i+1) / B) keys. Words of the grammar that belong to features
 * this version lacks (page, bwd, ...) give CLATTN_ERROR_NOT_SUPPORTED and are named in `why`. */
enum { CLATTN_LIST_MAX = 256, CLATTN_NAMES_MAX = 256 };
typedef struct clattn_workload {
    size_t struct_size;
    int32_t bthd;            /* axis order of Q, K, V and O is [b,n,h,d] */
    int32_t lse;             /* LSE is wanted */
    uint64_t seed;
    int32_t q_len[CLATTN_LIST_MAX], kv_len[CLATTN_LIST_MAX], kv_start[CLATTN_LIST_MAX]; /* as problem.flags say */
    int32_t bias_axes[4], mask_axes[4]; /* b, h, q, k: 1 where bias and mask have that axis, 0 where it is broadcast */
    int32_t block_q, block_k;           /* with CLATTN_BLOCK_MAP */
    char mods[CLATTN_NAMES_MAX];        /* names with commas between; problem.mods stays NULL */
    clattn_problem problem;
} clattn_workload;

#define CLATTN_WORKLOAD_INIT \
    { sizeof(clattn_workload), 0, 0, 0, { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, 0, 0, { 0 }, CLATTN_PROBLEM_INIT }

/* Reads `text` into `*out`, whose struct_size says how long it is. On failure `*out` is untouched and `why` (may be NULL;
 * `len` bytes, always ended by NUL) says what is wrong. CLATTN_ERROR_SYNTAX, _NOT_SUPPORTED or _INVALID_ARGUMENT. */
CLATTN_API cl_int clattn_workload_parse(const char *text, clattn_workload *out, char *why, size_t len) CLATTN_MUST_CHECK;

/* Writes the canonical string of `c` to `text`: at most `len` bytes, NUL included. `*needed` (may be NULL) is the room
 * it takes. Reading it back gives an equal problem; fields that count for nothing are left out. */
CLATTN_API cl_int clattn_workload_print(const clattn_workload *c, char *text, size_t len, size_t *needed);

/* The work of one forward call: FLOPs = 2 (d + dv) per (query row, key) that the masks keep, over all query heads;
 * bytes = Q, K, V, O (and LSE when wanted) once each in its storage type. */
CLATTN_API cl_int clattn_workload_cost(const clattn_workload *c, double *flops, double *bytes) CLATTN_MUST_CHECK;

/* ---- Handles ---- */

typedef struct clattn_handle_s *clattn_handle; /* one context and device, and what was built for them; ref-counted */
typedef struct clattn_plan_s *clattn_plan;     /* one problem made runnable; immutable, ref-counted */

/* Which configuration a plan gets, and who may measure. Everything that is measured or compiled is kept under one
 * directory, see clattn-cache(5), and nothing that happens to it is ever an error: it costs time. */
enum {
    CLATTN_TUNE_DEFAULT = 0,  /* what the environment variable CLATTN_TUNE says, else auto */
    CLATTN_TUNE_AUTO = 1,     /* the record of the problem's class; without one a quick search inside
                                 clattn_plan_create(), once for each class */
    CLATTN_TUNE_OFF = 2,      /* the table's choice, no record is read or written; binaries are still kept */
    CLATTN_TUNE_READONLY = 3, /* records and binaries are read, none is written, nothing is measured */
    CLATTN_TUNE_QUICK = 4,    /* search now, whatever records say: at most 2 s and the build under way */
    CLATTN_TUNE_FULL = 5,     /* likewise, at most 60 s and the build under way */
    CLATTN_TUNE_RECORD = 6,   /* as off, and the class is noted for `clattn-tune --recorded` */
    CLATTN_TUNE_EXHAUSTIVE = 7 /* for clattn_tune() only: every configuration there is */
};

/* Where binaries and records are kept instead of in a directory. Names are short: letters, digits, '/', '-', '.'. Called on
 * the calling thread, without locks held, by several threads at a time if the application has them. Whatever `get`
 * gives is checked before use. */
typedef struct clattn_store {
    size_t struct_size;
    /* The blob's bytes into `bytes`, at most `room`, and its size into *size (which may be larger than room: then it is
     * asked again). 0 when there is one. */
    int (*get)(void *user, const char *name, void *bytes, size_t room, size_t *size);
    /* Keeps a blob, in place of one of the same name; size 0 removes it. 0 when done. */
    int (*put)(void *user, const char *name, const void *bytes, size_t size);
    void *user;
} clattn_store;

typedef struct clattn_options {
    size_t struct_size;
    /* Called, when not NULL, with text about what is worth knowing: why a handle could not be made, a compiler's
     * warnings, a configuration that was passed over, a search that takes long, a cache that cannot be used. On the
     * calling thread, without locks held. */
    void (*log)(void *user, const char *text);
    void *log_user;
    int32_t tune;            /* CLATTN_TUNE_*; unless 0 it wins over the environment */
    int32_t reserved;        /* 0 */
    double tune_seconds;     /* most time of a search inside clattn_plan_create(), without the build under way; 0: 2 s
                                for auto and quick, 60 s for full, or what CLATTN_TUNE_SECONDS says */
    const char *cache_dir;   /* absolute; NULL: CLATTN_CACHE_DIR, XDG_CACHE_HOME/clattn or HOME/.cache/clattn;
                                "" for none */
    size_t cache_max_size;   /* bytes of binaries; 0: CLATTN_CACHE_MAX_SIZE, else 64 MiB */
    const clattn_store *store; /* in place of the directory; copied. NULL: none */
    char *why;               /* where clattn_create(), clattn_cache_stat() and clattn_cache_clear() say why they failed, as */
    size_t why_len;          /* there is no handle to ask then: at most why_len bytes, always ended by NUL; "" after
                                success. Written before the call returns and never later. NULL: nowhere */
} clattn_options;

#define CLATTN_OPTIONS_INIT { sizeof(clattn_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Makes a handle for one device of a context. Keeps a reference to the context until the last release.
 * `options` may be NULL. On failure *out is NULL, and options.why and the log have the reason. */
CLATTN_API cl_int clattn_create(clattn_handle *out, cl_context context, cl_device_id device,
                                const clattn_options *options) CLATTN_MUST_CHECK;
CLATTN_API cl_int clattn_retain(clattn_handle handle);
CLATTN_API cl_int clattn_release(clattn_handle handle); /* NULL is fine */

/* Words for the last failure of the calling thread on this handle or one of its plans; "" when there was none. Where there
 * was no memory to keep them the words say so. */
CLATTN_API cl_int clattn_error_detail(clattn_handle handle, char *text, size_t len, size_t *needed);

/* CL_SUCCESS when a plan can be made for `problem`; else the status that clattn_plan_create() would return, with the
 * reason in `why` (may be NULL), also where the handle is NULL or a parent's. Compiles nothing. */
CLATTN_API cl_int clattn_supports(clattn_handle handle, const clattn_problem *problem, char *why, size_t len);

/* The index-th configuration, "ENGINE TILE", that this device can run `problem` with; the default is number 0.
 * CL_INVALID_VALUE when there are not that many. Engine mma_nv is the default of f16 and bf16 on NVIDIA's GPUs once it has
 * passed its test there, which the first plan of a handle in these types makes (in every tuning mode: it is about what is
 * right) unless its outcome is kept; before that it is not among them. */
CLATTN_API cl_int clattn_config_at(clattn_handle handle, const clattn_problem *problem, size_t index, char *text,
                                   size_t len);

/* The program composed for `problem` and its build options (first line, a comment), as handed to the driver.
 * `config` as in clattn_plan_options. handle NULL: for a generic GPU, no device needed; else the device may be asked first,
 * by a small program, which 2^x it computes well. On failure `text` says why. */
CLATTN_API cl_int clattn_emit_source(clattn_handle handle, const clattn_problem *problem, const char *config,
                                     char *text, size_t len, size_t *needed);

/* ---- Plans ---- */

typedef struct clattn_plan_options {
    size_t struct_size;
    /* NULL: the best known that builds here. "ENGINE": likewise, of that engine. "ENGINE TILE", as clattn_config_at()
     * gives it: that or nothing. */
    const char *config;
    size_t max_workspace;    /* bytes a call may ask for; 0: no bound */
} clattn_plan_options;

#define CLATTN_PLAN_OPTIONS_INIT { sizeof(clattn_plan_options), 0, 0 }

/* Chooses, composes and builds the kernels for `problem` (copied). Compiles, reads and writes files, and measures, as
 * clattn_options.tune says: a driver compile may take seconds. Of the other calls only clattn_tune(), those that check a
 * configuration and clattn_emit_source() do so. What a compiler made is tried on a small sample before the plan has it,
 * on buffers of the library's own: where it computes something else, another configuration takes its place (a line of
 * the log), or, where `options` or clattn_set_config() name one or none is left, the plan fails with
 * CLATTN_ERROR_WRONG_RESULT. With captured buffers there is nothing to try it on. Keeps a reference to the handle.
 * `options` may be NULL. On failure *out is NULL. */
CLATTN_API cl_int clattn_plan_create(clattn_plan *out, clattn_handle handle, const clattn_problem *problem,
                                     const clattn_plan_options *options) CLATTN_MUST_CHECK;
CLATTN_API cl_int clattn_plan_retain(clattn_plan plan);
CLATTN_API cl_int clattn_plan_release(clattn_plan plan); /* NULL is fine */

/* The configuration in use, "ENGINE TILE". */
CLATTN_API cl_int clattn_plan_config(clattn_plan plan, char *text, size_t len, size_t *needed);

/* How a plan came to be. */
enum {
    CLATTN_ORIGIN_DEFAULT = 0, /* its configuration is the table's, or given by clattn_plan_options.config */
    CLATTN_ORIGIN_TUNED = 1,   /* measured by this handle */
    CLATTN_ORIGIN_CACHED = 2,  /* from a record */
    CLATTN_ORIGIN_SET = 3      /* clattn_set_config() */
};
enum {
    CLATTN_BINARY_NONE = 0,    /* nothing keeps binaries */
    CLATTN_BINARY_MISS = 1,    /* compiled */
    CLATTN_BINARY_HIT = 2      /* loaded, or built before by this handle */
};
typedef struct clattn_plan_info {
    size_t struct_size;
    int32_t source, binary;
} clattn_plan_info;
#define CLATTN_PLAN_INFO_INIT { sizeof(clattn_plan_info), 0, 0 }

/* Fills *info. */
CLATTN_API cl_int clattn_plan_get_info(clattn_plan plan, clattn_plan_info *info);

/* ---- Tuning ---- */

/* What is measured and kept is the configuration of a class of problems, not of each problem. A class is written as a
 * problem string too, that of the problem which stands for it: widths, lengths, heads and ratios are rounded to a few,
 * what costs alike is one. clattn_class_of() writes it; of score_mods it has a digest of their texts, "mod:#..". Classes
 * never decide what is right, only what is fast. */
CLATTN_API cl_int clattn_class_of(clattn_handle handle, const clattn_problem *problem, char *text, size_t len,
                                  size_t *needed);

/* The classes that clattn-tune goes through by itself: the index-th; CL_INVALID_VALUE past the last. */
CLATTN_API cl_int clattn_class_at(clattn_handle handle, size_t index, char *text, size_t len);

/* The classes noted by CLATTN_TUNE=record on this device and not tuned since, likewise. */
CLATTN_API cl_int clattn_class_recorded(clattn_handle handle, size_t index, char *text, size_t len);

/* One configuration of a problem's class made ready to be measured, on buffers of its own: built, and checked on ragged
 * shapes against a float64 computation, with poisoned outputs and guarded buffers. CLATTN_ERROR_WRONG_RESULT,
 * CLATTN_ERROR_BUILD, CLATTN_ERROR_NOT_SUPPORTED .. when it is out. Keeps a reference to the handle. */
typedef struct clattn_trial_s *clattn_trial;
CLATTN_API cl_int clattn_trial_create(clattn_trial *out, clattn_handle handle, const clattn_problem *problem,
                                      const char *config) CLATTN_MUST_CHECK;
CLATTN_API cl_int clattn_trial_run(clattn_trial trial, double *seconds) CLATTN_MUST_CHECK; /* one timed call */
CLATTN_API cl_int clattn_trial_release(clattn_trial trial); /* NULL is fine */

/* Who measures in place of the library's own process, e.g. in children that may hang or crash. `open` is called once for a
 * configuration, then `run` for each timed call, rounds interleaved with others that are open, then `close`, also after
 * a failed open. Any status but CL_SUCCESS puts the configuration out; after CLATTN_ERROR_CRASHED it is left alone for a
 * month with this driver. */
typedef struct clattn_measure {
    size_t struct_size;
    cl_int (*open)(void *user, const char *config);
    cl_int (*run)(void *user, const char *config, double *seconds);
    void (*close)(void *user, const char *config);
    void *user;
} clattn_measure;

/* Told before and after each step of a search. */
enum { CLATTN_STEP_BUILD = 1, CLATTN_STEP_REFUSED = 2, CLATTN_STEP_READY = 3, CLATTN_STEP_ROUND = 4, CLATTN_STEP_DONE = 5 };
typedef struct clattn_progress {
    size_t struct_size;
    const char *class_text, *config; /* valid during the call */
    const char *words;               /* why it was refused, else "" */
    int32_t step;                    /* CLATTN_STEP_* */
    int32_t opened, round;           /* configurations tried, rounds run so far */
    double seconds, limit;           /* since the search began; 0: no limit */
    double ratio;                    /* best time / that of the table's choice; 0: not known yet */
} clattn_progress;

typedef struct clattn_tune_options {
    size_t struct_size;
    int32_t effort;                  /* CLATTN_TUNE_QUICK, _FULL or _EXHAUSTIVE; 0: full */
    int32_t reserved;                /* 0 */
    double seconds;                  /* limit, compiles included; 0: 2 s, 60 s, none. Negative and NaN are refused */
    int (*progress)(void *user, const clattn_progress *progress); /* NULL: none. Not 0 cancels */
    void *progress_user;
    const clattn_measure *measure;   /* NULL: in this process */
} clattn_tune_options;
#define CLATTN_TUNE_OPTIONS_INIT { sizeof(clattn_tune_options), 0, 0, 0, 0, 0, 0 }

/* Searches the best configuration for the class of `problem` on buffers of the library's own, and keeps it as a record. What
 * is known stays where nothing is at least 3 % better in every round. `config` (may be NULL) gets "ENGINE TILE".
 * CLATTN_ERROR_CANCELLED: nothing was kept. A problem with captured buffers has nothing to be measured on and is
 * CLATTN_ERROR_NOT_SUPPORTED: its plans take the record of the class without its score_mods. `options` may be NULL. */
CLATTN_API cl_int clattn_tune(clattn_handle handle, const clattn_problem *problem, const clattn_tune_options *options,
                              char *config, size_t len);

/* Makes every later plan of this handle for a problem of that class use `config`, once it has been checked as a trial is.
 * NULL takes it back. On failure what was set before stays. */
CLATTN_API cl_int clattn_set_config(clattn_handle handle, const clattn_problem *problem, const char *config);

/* Records as text, one after another, in no particular order; see clattn-cache(5). Export hands over those of this device
 * and ends with the first status that is not CL_SUCCESS. Import keeps what is sound, fits this device and is not of less
 * effort than what is there; unless the text as a whole is one of records, it changes nothing and is
 * CLATTN_ERROR_SYNTAX. Forget takes the record of the problem's class away, or with NULL all of this device. */
typedef struct clattn_import_count {
    size_t struct_size;
    int32_t taken, worse, foreign, refused; /* kept; not better than what is there; of other devices; not runnable here */
} clattn_import_count;
CLATTN_API cl_int clattn_wisdom_export(clattn_handle handle, cl_int (*write)(void *user, const char *text, size_t len),
                                       void *user);
CLATTN_API cl_int clattn_wisdom_import(clattn_handle handle, const char *text, size_t len, clattn_import_count *count);
CLATTN_API cl_int clattn_wisdom_forget(clattn_handle handle, const clattn_problem *problem);

/* ---- What is kept ---- */

/* What happened on a handle so far. */
typedef struct clattn_counters {
    size_t struct_size;
    uint64_t compiles;                                             /* programs built from text */
    uint64_t binary_hits, binary_misses, binary_rejects, binary_saves; /* rejects: damaged, foreign, or refused */
    uint64_t record_hits, record_misses, record_rejects, record_saves;
    uint64_t searches, trials, trials_refused;                     /* trials: configurations built to be measured */
    uint64_t store_faults;                                         /* reads and writes that failed otherwise */
} clattn_counters;
#define CLATTN_COUNTERS_INIT { sizeof(clattn_counters), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Fills *counters. */
CLATTN_API cl_int clattn_stats(clattn_handle handle, clattn_counters *counters);

/* The directory that `options` (may be NULL) and the environment lead to, and what is in it. path "": there is none.
 * Clear removes what the library put there and nothing else. */
typedef struct clattn_cache_info {
    size_t struct_size;
    uint64_t binaries, binary_bytes, binary_max, records, record_bytes, skipped; /* skipped: known to crash here */
    char path[1024];
} clattn_cache_info;
CLATTN_API cl_int clattn_cache_stat(const clattn_options *options, clattn_cache_info *info);
CLATTN_API cl_int clattn_cache_clear(const clattn_options *options);

/* ---- Running ---- */

/* A tensor inside a buffer. offset: of the first element, in elements. stride: of the axes b, h and n (rows), in
 * elements, none negative; all three 0 means contiguous [b,h,n,width]. The caller keeps the buffer; the queue holds
 * its own reference while a call is under way. */
typedef struct clattn_tensor {
    cl_mem mem;
    size_t offset;
    int64_t stride[3];
} clattn_tensor;

/* Numbers in a row in a device buffer. offset in elements. */
typedef struct clattn_array {
    cl_mem mem;
    size_t offset;
} clattn_array;

/* What goes with scores: axes b, h, q and k. shape: of each axis 1 (broadcast) or the size of the call, 0 means the
 * latter; in packed sequences q and k have nq and nk elements. stride: in elements, none negative; all four 0 means
 * contiguous. An axis of shape 1 never steps. */
typedef struct clattn_tensor4 {
    cl_mem mem;
    size_t offset;
    int64_t shape[4], stride[4];
} clattn_tensor4;

typedef struct clattn_forward_args {
    size_t struct_size;
    const clattn_sizes *sizes;   /* NULL: those of the plan's problem */
    clattn_tensor q, k, v;       /* read */
    clattn_tensor o;             /* written: every row, also those that see nothing. Must overlap nothing read */
    clattn_tensor lse;           /* written unless mem is NULL; f32, axes b, h and nq, contiguous by default */
    clattn_array q_len, kv_len, kv_start; /* int32 [b], given exactly when the problem's flags say so, as everything
                                            below. Values are clamped to [0, nq] and [0, nk] */
    clattn_array offsets;        /* int32 [b], for CLATTN_ALIGN_OFFSETS */
    cl_mem workspace;            /* at least clattn_workspace_size() bytes from workspace_offset on; NULL for none */
    size_t workspace_offset, workspace_size; /* bytes; the offset is a multiple of 32 */
    clattn_array cu_q, cu_k;     /* int32 [b+1], not descending, from 0 to total_q and total_k. What leads outside is
                                    clamped, sequences longer than nq and nk are cut off. In packed tensors the stride
                                    of axis b counts for nothing, and all strides 0 means contiguous [total,h,width];
                                    for LSE [h,total_q]. Rows of no sequence are not written */
    clattn_tensor4 bias;         /* of bias_type */
    clattn_tensor4 mask;         /* bytes */
    clattn_tensor4 block_map;    /* bytes, one per block_q queries by block_k keys. 0: no key of the block is seen.
                                    2: the mask, if there is one, keeps the whole block. Else the mask decides.
                                    shape[2] and [3] count blocks: ceil(nq / block_q), ceil(nk / block_k); in packed
                                    sequences, from the beginning of each */
    int32_t block_q, block_k;    /* 1 to 2^30. A map pays where blocks are as large as the tile, and multiples of it */
    clattn_array slopes;         /* f32 [h], or [b,h]: */
    int64_t slopes_stride;       /* elements from b to b; 0: the same slopes for every b */
    clattn_array sinks;          /* f32 [h] */
    const clattn_array *aux;     /* [n_aux] captured buffers. How far a score_mod reads in them is its own affair */
} clattn_forward_args;

#define CLATTN_TENSOR_INIT { 0, 0, { 0, 0, 0 } }
#define CLATTN_TENSOR4_INIT { 0, 0, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } }
#define CLATTN_FORWARD_ARGS_INIT \
    { sizeof(clattn_forward_args), 0, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, \
      CLATTN_TENSOR_INIT, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, 0, 0, 0, { 0, 0 }, { 0, 0 }, CLATTN_TENSOR4_INIT, \
      CLATTN_TENSOR4_INIT, CLATTN_TENSOR4_INIT, 0, 0, { 0, 0 }, 0, { 0, 0 }, 0 }

/* Bytes of workspace that a call with these arguments needs, exactly. No device work. 0 where the plan's engine is cpu, row
 * or naive. Engines simt and mma_nv, those of GPUs, need none for keys of up to 64 tiles, which are 1024 to 16384 keys; the
 * sums of longer rows are kept there, 8 (dv + 2) bytes or more for a row. */
CLATTN_API cl_int clattn_workspace_size(clattn_plan plan, const clattn_forward_args *args, size_t *size)
    CLATTN_MUST_CHECK;

/* Enqueues the forward pass on `queue` (in-order or out-of-order, of the handle's context and device). As OpenCL's own
 * enqueue calls: asynchronous; waits for wait_list; *event (unless NULL) completes when O and LSE are written and is the
 * caller's to release. Never allocates device memory, compiles, touches files or blocks. On error nothing was enqueued
 * and there is no event. */
CLATTN_API cl_int clattn_enqueue_forward(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args,
                                         cl_uint n_wait, const cl_event *wait_list, cl_event *event)
    CLATTN_MUST_CHECK;

/* Enqueues the making of a block map: writes args->block_map from args->mask, for as many calls as the mask stays. The
 * plan's problem has CLATTN_MASK and CLATTN_BLOCK_MAP. Axes b and h of the map are broadcast only where those of the
 * mask are; q and k likewise. Of the other arguments only the sizes count. Everything else as above. */
CLATTN_API cl_int clattn_enqueue_block_map(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args,
                                           cl_uint n_wait, const cl_event *wait_list, cl_event *event)
    CLATTN_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
