/**
 * clattn.h - fused attention on any OpenCL device
 * SPDX-License-Identifier: Apache-2.0
 *
 * This header is the reference manual; <clattn_tune.h>, which it includes, has what searches, and what looks after the
 * cache. Both need the types of OpenCL 1.2 only, work from C99 and C++, and leave CL_TARGET_OPENCL_VERSION to the
 * program.
 *
 * What is computed
 * ----------------
 * For batch entry b, query head h and query row q, over the key rows k that q may see:
 *
 *     s[q,k] = scale * dot(Q[q], K[k])
 *     s = c tanh(s / c)                              softcap c
 *     s = score_mod(s, b, h, q, k)                   the caller's OpenCL C, several in the order given
 *     s = s - slope[h] |q + offset - k|              ALiBi
 *     s = s + bias[b,h,q,k]                          times slope[h] with CLATTN_BIAS_SLOPES; see also CLATTN_REPEAT
 *     lse[q] = ln(sum_k exp(s[q,k]) + exp(sink[h]))  sinks: a term without a value
 *     O[q]   = sum_k z exp(s[q,k] - lse[q]) V[k]     z: dropout, see below; else 1
 *
 * Every step but the first and the last two is optional, and every combination is allowed, but for dropout with batch
 * invariance.
 *
 * Shapes   Q [b,h,nq,d]  K [b,hk,nk,d]  V [b,hk,nk,dv]  O [b,h,nq,dv]  LSE [b,h,nq]
 *          h is a multiple of hk, and query head i reads key/value head i / (h / hk). d and dv are 1 to 576 and may
 *          differ. b = 0, nq = 0 and nk = 0 are legal; a tensor without elements may have mem NULL.
 * Strides  count elements. The last axis of Q, K, V and O is contiguous, and every other axis has its own stride, so
 *          [b,n,h,d], packed QKV and padded rows are all just strides. A key or value stride of 0 repeats that axis.
 * Storage  f32, f16 and bf16: arithmetic, softmax and LSE are in f32. f64, where the device has it: arithmetic is in
 *          f64. K and V may have types of their own (f64 only with f64). LSE is a natural logarithm in f32, or with
 *          CLATTN_LSE_F64 in f64.
 * Masks    A key is seen when every active rule keeps it:
 *            causal        k <= q + offset
 *            window        q + offset - left <= k <= q + offset + right; -1 is no bound; with causal the smaller right
 *                          bound wins
 *            mask          a byte that is not 0 keeps the key
 *            block map     see clattn_forward_args.block_map
 *            lengths       kv_start[b] <= k < kv_len[b] and q < q_len[b]
 *            score, bias   a bias of -inf, whatever its slope is, and a score_mod that returns -inf, drop the key
 *          The offset is kv_len - q_len of the batch entry (bottom-right, the default), 0 (top-left), or given.
 *          Causality is never guessed from shapes. A row that sees no key gives O = 0 and LSE = -inf (with a sink,
 *          LSE = sink), never NaN. What is stored in K and V outside [kv_start, kv_len), in Q beyond q_len, and in the
 *          bias of a dropped key never reaches an output. NaN and inf in a value row that one query sees may reach the
 *          queries that are computed beside it, and reach that one also where dropout multiplies them by 0.
 * Varlen   sequences of different lengths, one behind the other. With CLATTN_CU_Q, Q and O are [total_q,h,d] and LSE
 *          is [h,total_q]; the rows of sequence b are cu_q[b] to cu_q[b+1] - 1. Likewise K and V with CLATTN_CU_K.
 *          b then is the sequence, and q and k count inside it; lengths, offsets, bias and mask mean what they mean
 *          for padded tensors.
 *
 * The error bound
 * ---------------
 * For row q of a head and column j let s_k be the exact scores of the inputs as stored, p_k the exact weights, lse and
 * o the exact results, u = 2^-24 (f64: 2^-53), and n the number of keys that are seen. A sink is one more key, with the
 * score sink, x = 0 and V = 0. Then, in every configuration,
 *
 *     C   = 32 + 8 min(n, 64)
 *     x_k = |scale| sum_d |Q[q,d] K[k,d]|
 *     y_k = |s_k - lse|, plus |s_k| after softcap, after the last score_mod, after ALiBi and after bias, each that
 *           there is; for a sink |sink - lse| + |sink|
 *     f_k = max(1, |scale|) (d + sum_d (|Q[q,d]| + |K[k,d]|)), and with softcap c more; 0 for a sink
 *     E_k = u (C + 96 x_k + 16 y_k) + 2^-124 f_k
 *     N   = sum_k p_k e^-E_k
 *     W   = sum_k p_k (e^E_k - 1) |V[k,j] - o| / N, but at most max_k |V[k,j] - o|
 *     R   = sum_k p_k e^E_k |V[k,j]| / N, but at most max_k |V[k,j]|
 *
 *     |O - o|     <= W + u C R + eps (|o| + W) + tiny + 2^-124 n
 *     |LSE - lse| <= ln sum_k p_k e^E_k + u (C + 4 |lse|) + 2^-126, and 2^-24 |lse| more for the f32 LSE of f64
 *
 * eps is u for f32 and f64, 2^-11 for f16 and 2^-8 for bf16 (the type of O), and tiny is the smallest normal number of
 * that type; for f64 read 2^-1020 for 2^-124. Where p_k < 2^-126 e^(2 max E) (f64: 2^-1022) a weight may count as 0:
 * e^-E_k is 0 then, and e^E_k is at least 2. Engines that use matrix units (mma_nv, mfma, wmma, dpas, dpas8) have
 * 96 + 2 d in place of 96, and store p in 16 bits, in the type of Q: 2 eps R more, with the eps of that type; in f16
 * 2^-32 n max|V| as well, and in bf16 2^-118 in place of 2^-126 and 2^-116 n in place of 2^-124 n; in bf16 sum_d |Q K|
 * is at most 1e37 there, too. What a score_mod loses to its own rounding is not included; where it enlarges differences
 * up to g times, all of E_k that comes from what lies before it counts g times.
 *
 * To first order W is sum_k p_k E_k |V - o|. From scores of some 10^5 on (f64: 10^14) rounding a score changes its
 * weight by a factor, and the bound then says no more than that O is a mean of the values that are seen.
 *
 * The bound holds where |scale| sum_d |Q K| and the scores after every step are at most 1e37, and n max|V| is at most
 * 1e38, in magnitude, |scale| is 0 or 2^-126 to 1e38, softcap 1e-37 to 8e37 (f64: clattn_problem), and scales and zero
 * points of int8 and int4 are 0 or normal numbers. There finite inputs give finite results, but for those beyond the
 * largest number of their type, which may be infinite, and the LSE of a row that keeps nothing. Beyond that nothing is
 * promised but that nothing crashes. A device may take subnormal numbers of f32 and bf16 for 0. "Gradients", below, has
 * the bound of gradients, and doc/semantics the proof of both.
 *
 * Batch invariance
 * ----------------
 * How many parts the keys are split into depends on how much else a call computes, on
 * the number of compute units and on the workspace, and with it the rounding of every row. With CLATTN_BATCH_INVARIANT
 * each batch entry is split by its own keys alone: into parts of at least 1024 keys but for the last, at most 32 of
 * them, or as many as `splits` says, of any length. Then, on the same device, by the same plan and with the same
 * `splits`, the bits of a row of O and LSE follow from the row of Q, the keys and values of its entry from kv_start to
 * kv_len, and what masks, biases and score_mods make of them. They depend neither on b, h, nq and nk of the call, nor
 * on the place of the entry, the head and the row in it, nor on what other rows and entries hold and how long they are,
 * nor on where K and V lie: strides, page size and block table. Excepted are NaN and inf in V (see "Masks" above) and
 * the sign of a zero.
 *
 * Another plan is other arithmetic. clattn_forward() takes one plan for all b, nk, total_q and total_k, but may take
 * another where h or hk differs, or nq is beyond another power of two. Dropout depends on the place of an entry in the
 * batch, and is refused.
 *
 * The price: a call of few rows may leave a part of the device idle, one of many rows is split as well, and a call with
 * more than 1024 keys needs a workspace. Where that cannot be had the call is refused, never split otherwise.
 *
 * Dropout
 * -------
 * With dropout_p = p > 0 each weight p_k of a row is multiplied by z_k: 0 with probability p (to within 2^-32), else 1
 * / (1 - p). LSE and the sum that weights are divided by stay those of all keys, and a sink is never left out. So O =
 * sum_k p_k z_k V[k]. In the bound of O above V[k] is z_k V[k] then, also where its domain is concerned, and 2^-124 n
 * becomes 2^-124 n / (1 - p), likewise for f64 and bf16; "Gradients" below has z, too.
 *
 * z_k depends on dropout_seed, dropout_offset, the batch entry b, the query head h, the query q and the key k alone,
 * not on the device, the type, the engine or its tiles, nor on what else a call computes. It is 0 where word k mod 4 of
 * Philox4x32 with 7 rounds (J. Salmon et al., 2011) is below ceil(2^32 p). Word 0 of the key is the low half of the
 * seed, word 1 the high half; words 0 to 3 of the counter are floor(k / 4), q, b H + h, H being the number of query
 * heads, and the offset. So a forward call and its backward call leave out the same weights, and so do two layers or
 * two steps with the same seed and offset: give each its own, and also each of two calls that compute parts of a batch
 * or of its heads. In varlen b is the sequence, and q and k count from its beginning.
 *
 * Conventions
 * -----------
 * Status   Functions return a cl_int: CL_SUCCESS, a CLATTN_ERROR_* code, or a code of OpenCL unchanged. Any function
 *          that calls the driver may return the driver's code; the lists below name the codes that have a meaning of
 *          their own. Every function that takes a handle, plan or trial also returns
 *            CLATTN_ERROR_INVALID_ARGUMENT   it is NULL (release functions accept NULL), and
 *            CLATTN_ERROR_FORKED             it was created before fork() and this is the child (release functions
 *                                            work).
 *          clattn_error_detail() returns the words of the calling thread's last failure. Nothing is ever printed.
 * Threads  Any function may run concurrently with any other, on shared objects too, except the release that frees an
 *          object. Functions of the application that the library calls may call it as well. No lock is held meanwhile
 *          but one: searches on one handle run one after the other. So a function that is called in a search may search
 *          itself, but must not wait for another thread that searches on the same handle. After fork() a child gets
 *          CLATTN_ERROR_FORKED and may only release. The library itself needs less than 32 KiB of a thread's stack.
 *          Drivers may need far more where they compile, in the first plan for a problem: PoCL about 100 KiB.
 * Fork     Drivers do not survive fork(): in PoCL the first kernel of such a child never ends. A process that was
 *          forked from one that had called clattn_create() or clattn_default_device() therefore gets
 *          CLATTN_ERROR_FORKED from these two as well, and so do its own children. Start such a process by exec
 *          (posix_spawn(); in Python's multiprocessing the start method spawn or forkserver), or fork before the first
 *          use. What the application itself or another library does with OpenCL is not seen, nor is a child that has
 *          the number of that process, as in a process namespace of its own.
 * Memory   The caller frees what it creates: handles by clattn_release(), plans by clattn_plan_release(), trials by
 *          clattn_trial_release(). Handles and plans count references; plans and trials keep their handle alive. What
 *          is passed in is copied or used during the call, unless its description says otherwise.
 * Buffers  Unless a description says otherwise, nothing that a call writes, its workspace included, may overlap what
 *          else it reads or writes, which the library does not check, and elements of a tensor that is written have
 *          places of their own. What is written must not be CL_MEM_READ_ONLY, and what is read not CL_MEM_WRITE_ONLY
 *          (CLATTN_ERROR_INVALID_ARGUMENT).
 * Texts    A function with `text` and `len` writes at most len bytes, always ended by NUL, and cuts off what does not
 *          fit. `text` may be NULL when len is 0. *needed, where there is one, receives the bytes that the whole text
 *          takes, NUL included; `needed` may be NULL.
 * Structs  with a struct_size: set it to sizeof of the type and everything else to zero before filling in members; the
 *          CLATTN_..._INIT macros do that. Zero means default. A struct of an older header works, and so does a longer
 *          one as long as what this library does not know is zero (else CLATTN_ERROR_UNKNOWN_FIELD). A size that no
 *          version of the struct had is CLATTN_ERROR_INVALID_ARGUMENT; nothing behind struct_size is read then.
 */
#ifndef CLATTN_H
#define CLATTN_H

#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>

#define CLATTN_VERSION_MAJOR 0
#define CLATTN_VERSION_MINOR 2
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
    CLATTN_ERROR_INVALID_ARGUMENT = -30001,
    /**< A pointer, size, stride or combination is wrong; the detail says which. */
    CLATTN_ERROR_UNKNOWN_FIELD = -30002,
    /**< A struct is longer than this library knows, and its tail is not zero. */
    CLATTN_ERROR_NOT_SUPPORTED = -30003,
    /**< The request is well formed, but this device or this version cannot do it. */
    CLATTN_ERROR_BUFFER_TOO_SMALL = -30004,
    /**< A tensor reaches beyond the end of its buffer. */
    CLATTN_ERROR_WORKSPACE = -30005,
    /**< The workspace is smaller than clattn_workspace_size() says. */
    CLATTN_ERROR_BUILD = -30006,
    /**< The driver rejected a kernel; the detail begins with the first error of the driver's log. */
    CLATTN_ERROR_SYNTAX = -30007,
    /**< A problem string, configuration or text of records cannot be read. */
    CLATTN_ERROR_FORKED = -30008,
    /**< The object was created before fork(), or the process was forked from one that used OpenCL. */
    CLATTN_ERROR_CONTEXT = -30009,
    /**< A queue, buffer or event belongs to another context or device. */
    CLATTN_ERROR_CANCELLED = -30010,
    /**< A callback asked to stop. */
    CLATTN_ERROR_WRONG_RESULT = -30011,
    /**< A kernel was built and ran, and computed something else. */
    CLATTN_ERROR_CRASHED = -30012
    /**< A configuration hung or crashed where it was measured; callbacks of clattn_measure return it. */
};

/**
 * Returns the name of a status, of clattn's and of OpenCL's.
 *
 * @param status  any value
 * @return static text, never NULL
 */
CLATTN_API const char *clattn_status_string(cl_int status);

/**
 * Returns the version of the library that runs, as "MAJOR.MINOR.PATCH".
 *
 * @return static text, never NULL
 */
CLATTN_API const char *clattn_version(void);

/* ---- Problems ---- */

/** Storage types. 0 in a problem means f32 for `type`, and the same as `type` for `k_type` and `v_type`. */
enum { CLATTN_F32 = 1, CLATTN_F16 = 2, CLATTN_BF16 = 3, CLATTN_F64 = 4 };
/** More types, for captured buffers only: int and uchar. */
enum { CLATTN_I32 = 5, CLATTN_U8 = 6 };
/**
 * Quantised storage, for K and V only, each on its own; not with f64. A row of d elements takes
 *
 *     int8   d bytes: element c is the signed byte c
 *     int4   d / 2 bytes, d even: element c is the low (c even) or high (c odd) half of byte c / 2, -8 to 7
 *     q8_0   34 d / 32 bytes, d a multiple of 32: blocks of 32 elements, an f16 scale and 32 signed bytes
 *     q4_0   18 d / 32 bytes, d a multiple of 32: blocks of 32 elements, an f16 scale and 16 bytes, of which byte j has
 *            element j in its low half and element j + 16 in its high half, each + 8
 *     q4_1   20 d / 32 bytes, d a multiple of 32: as q4_0, but with an f16 minimum behind the scale, and elements that
 *            are 0 to 15
 *     q5_0   22 d / 32 bytes, d a multiple of 32: an f16 scale, 4 bytes and 16 bytes; each element + 16 has its lower
 *            four bits where q4_0 has them, and bit j of the 4 bytes, low byte first, is the fifth one of element j
 *     q5_1   24 d / 32 bytes, d a multiple of 32: as q5_0, but with an f16 minimum behind the scale, and elements that
 *            are 0 to 31
 *
 * Those with an underscore are GGUF's. The value of an element x is scale x in q8_0, q4_0 and q5_0; scale x + minimum,
 * rounded to f32, in q4_1 and q5_1; and (x - zero) scale in int8 and int4, whose scales and zero points are tensors of
 * their own: clattn_forward_args.k_scale. A subnormal scale or minimum of GGUF's types counts as it is; in int8 and
 * int4 it may count as 0 on devices without CL_FP_DENORM in CL_DEVICE_SINGLE_FP_CONFIG. Offsets and strides count
 * elements here too, and are multiples of 2 (int4) and 32 (GGUF's).
 */
enum { CLATTN_INT8 = 7, CLATTN_INT4 = 8 };
enum { CLATTN_Q8_0 = 9, CLATTN_Q4_0 = 10, CLATTN_Q4_1 = 11, CLATTN_Q5_0 = 12, CLATTN_Q5_1 = 13 };

/** Where the diagonal of causal masks, windows and ALiBi lies: clattn_problem.align. */
enum {
    CLATTN_ALIGN_BOTTOM_RIGHT = 0, /**< offset = kv_len - q_len of the batch entry */
    CLATTN_ALIGN_TOP_LEFT = 1,     /**< offset = 0 */
    CLATTN_ALIGN_OFFSET = 2,       /**< offset = clattn_sizes.offset */
    CLATTN_ALIGN_OFFSETS = 3       /**< offset = clattn_forward_args.offsets[b] */
};

/** Flags of a problem: clattn_problem.flags. What "calls give" is a member of clattn_forward_args. */
enum {
    CLATTN_SCALE = 1,    /**< take `scale` as it is, also when it is 0 */
    CLATTN_Q_LEN = 2,    /**< calls give q_len[b]: query rows from there on see nothing */
    CLATTN_KV_LEN = 4,   /**< calls give kv_len[b]: keys from there on are not seen */
    CLATTN_KV_START = 8, /**< calls give kv_start[b]: keys before it are not seen */
    CLATTN_CU_Q = 16,    /**< Q and O are varlen sequences, and calls give cu_q[b+1] */
    CLATTN_CU_K = 32,    /**< K and V are varlen sequences, and calls give cu_k[b+1] */
    CLATTN_WINDOW = 64,  /**< window_left and window_right apply */
    CLATTN_ALIBI = 128,  /**< calls give slopes */
    CLATTN_SINKS = 256,  /**< calls give sinks */
    CLATTN_MASK = 512,   /**< calls give a mask */
    CLATTN_BLOCK_MAP = 1024, /**< calls give a block map */
    CLATTN_K_ZERO = 2048,    /**< calls give k_zero: K has zero points (int8 and int4 only) */
    CLATTN_V_ZERO = 4096,    /**< calls give v_zero */
    CLATTN_APPEND = 8192,    /**< the plan has clattn_enqueue_append(), too */
    CLATTN_ROTARY = 16384,   /**< the plan has clattn_enqueue_rotary(), too, and what it appends may be rotated */
    CLATTN_BACKWARD = 32768, /**< the plan has clattn_enqueue_backward(), and no other call that runs kernels */
    CLATTN_LSE_F64 = 65536,  /**< with f64 only: LSE, dLSE and lse_parts are f64 in place of f32. Gradients need it to
                              *   be as accurate as f64 is: the weights that they compute have the error of LSE. */
    CLATTN_BATCH_INVARIANT = 131072, /**< a row of a forward call has the same bits whatever else the call computes; see
                                      *   "Batch invariance" above. Not with CLATTN_BACKWARD, nor with dropout. */
    CLATTN_SCORES = 262144, /**< the plan has clattn_enqueue_scores(), too. Not with CLATTN_BACKWARD. */
    CLATTN_REPEAT = 524288, /**< entries and heads of the bias and of the mask may be fewer than those of the call,
                             *   which they divide, and repeat: see clattn_tensor4 */
    CLATTN_BIAS_SLOPES = 1048576 /**< calls give slopes, which multiply the bias. Not with CLATTN_ALIBI. */
};

/**
 * The sizes of one call, at most 2^30 each, with b h below 2^31. A call that would take 2^31 work-groups is refused;
 * there are at most b h nq of them for each part of the keys (splits).
 */
typedef struct clattn_sizes {
    int64_t b, h, hk, nq, nk, offset, total_q, total_k;
    /**< b: batch entries, or varlen sequences. h: query heads. hk: key/value heads; 0 means h. nq, nk:
     *   rows of queries and of keys; of the longest varlen sequence. offset: for CLATTN_ALIGN_OFFSET;
     *   beyond +-2^30 it is taken as +-2^30, and so are offsets in a buffer. total_q, total_k: rows of all sequences
     *   together, for CLATTN_CU_Q and CLATTN_CU_K. */
} clattn_sizes;

/** Flags of a score_mod. */
enum {
    CLATTN_MOD_VECTOR = 1
    /**< The text works on several elements at a time, which is faster on CPUs. s is then a `real`, q and k are
     *   `integer` (vectors or scalars, as the engine likes), and real_(x) converts an integer. The text may use
     *   arithmetic, OpenCL's built-in functions, and c ? x : y where c is a comparison of reals or of integers. It may
     *   not use if, &&, ||, !, casts, or q and k as indices, which may lie behind the last query and key here. */
};

/**
 * A change of scores, written by the caller: OpenCL C statements that assign s, e.g. "s = q < k ? s - 1.0f : s;".
 *
 * In scope are s (float, or double with f64), int b, h (the query head), q and k, and the captured buffers by their
 * names. q and k count from 0 in the sequence, whatever the offset, and are always a query and a key that it has. A key
 * that one text drops (s = -INFINITY) stays dropped, whatever later texts and the bias do. The text becomes part of the
 * kernel and is trusted as the caller is. Identifiers that begin with cla_ or CLA_ are reserved for the library. Macros
 * that a text defines are local to it.
 */
typedef struct clattn_score_mod {
    const char *text;
    /**< The statements; not NULL. */
    const char *name;
    /**< A file name for the compiler's messages, which give the line in it; NULL: "score_mod". */
    uint32_t flags;
    /**< CLATTN_MOD_* */
} clattn_score_mod;

/** A captured buffer: `const __global TYPE *name` in the texts of all score_mods. */
typedef struct clattn_aux {
    const char *name;
    /**< An identifier; not NULL. */
    int32_t type;
    /**< CLATTN_F32 is float, _F16 half (read it by vload_half), _BF16 ushort, _F64 double (with f64 only), _I32 int and
     *   _U8 uchar. A buffer holds at least one element. */
} clattn_aux;

enum { CLATTN_MODS_MAX = 8, CLATTN_AUX_MAX = 16 };

/**
 * A problem is what kernels are built for. A plan fixes everything but the sizes. The sizes only help to choose a
 * configuration (all 0: they are unknown); every call may bring its own, and no new size ever compiles anything. A plan
 * made with sizes of few queries, and of more query heads than key/value heads, reads keys once for all heads that
 * share them; one made without sizes, or for long sequences, reads them once for each head.
 */
typedef struct clattn_problem {
    size_t struct_size;
    /**< sizeof(clattn_problem) */
    int32_t type;
    /**< Storage of Q and O: CLATTN_F32, _F16, _BF16 or _F64; 0 means f32. */
    int32_t k_type, v_type;
    /**< Storage of K and of V; 0 means `type`. Any of the above, or quantised; f64 goes with f64 only. */
    int32_t d, dv;
    /**< Widths in elements, 1 to 576, of Q and K and of V and O. dv 0 means d. */
    int32_t causal;
    /**< 1: query q sees the keys k <= q + offset only. 0: no causal mask. */
    int32_t align;
    /**< CLATTN_ALIGN_*: which offset. It is ignored without causal, window or ALiBi, and no offsets are given then. */
    uint32_t flags;
    /**< Any of the flags above. */
    double scale;
    /**< Factor of dot(Q, K); 0 means 1/sqrt(d), unless CLATTN_SCALE is set. It may be negative. It is 0 or, in
     *   magnitude, a normal float (2^-126 to 1e38), in f64 a normal double; else CLATTN_ERROR_INVALID_ARGUMENT. */
    clattn_sizes sizes;
    /**< What calls will bring, as a hint; all 0: unknown. */
    double softcap;
    /**< c of the formula above, positive; 0 means none. 1e-37 to 8e37, in f64 1e-307 to 4e307; else
     *   CLATTN_ERROR_INVALID_ARGUMENT. */
    int32_t window_left, window_right;
    /**< For CLATTN_WINDOW: keys seen to the left and right of the diagonal, 0 to 2^30; -1 is no bound. */
    int32_t bias_type;
    /**< CLATTN_F32, _F16 or _BF16, or _F64 with f64: calls give a bias of this type. 0: no bias. */
    int32_t n_mods, n_aux;
    /**< At most CLATTN_MODS_MAX and CLATTN_AUX_MAX. Captured buffers need a score_mod. */
    int32_t reserved;
    /**< 0 */
    const clattn_score_mod *mods;
    /**< [n_mods], in the order in which they apply. Read only while a call with the problem lasts. */
    const clattn_aux *aux;
    /**< [n_aux], likewise. */
    int32_t o_type;
    /**< Storage of O: 0 means `type`; CLATTN_F32, _F16 and _BF16 go with every `type` but f64, whose O is in f64. With
     *   CLATTN_F32 partial results are merged without a loss, and with CLATTN_BACKWARD, where O is read, D = dot(dO, O)
     *   - dLSE lacks nothing that an O in 16 bits would have lost; see "Gradients" below. */
    int32_t k_group, v_group;
    /**< For int8 and int4: as many neighbouring elements of a row of K (V) share a scale. 0: all of the row; 1: each
     *   has its own (channels); else a multiple of 16 or the width of a row. The last group of a row may be
     *   shorter. */
    int32_t page;
    /**< 0: K and V lie in one piece. Else they are paged, and this is how many rows a page has, 1 to 2^30; calls may
     *   say otherwise (clattn_forward_args.page). Paged K and V are not varlen. */
    int32_t splits;
    /**< Into how many parts the keys of a row are split, to be worked on at the same time and merged: 1 to 1024; 0: as
     *   many as the device needs. Calls may say otherwise (clattn_forward_args.splits). With CLATTN_BACKWARD 0. */
    uint32_t aux_grads;
    /**< With CLATTN_BACKWARD, else ignored: bit i marks that calls may want the gradient of aux[i], which is CLATTN_F32
     *   or _F64. */
    const char *const *mod_grads;
    /**< With CLATTN_BACKWARD, else ignored: [n_mods] derivatives of the score_mods, see "Gradients" below. Read only
     *   while a call with the problem lasts. */
    double dropout_p;
    /**< The probability with which a weight is left out: 0 (none), or from 2^-32 to 1 - 2^-32; see "Dropout" above. Not
     *   with CLATTN_BATCH_INVARIANT. */
} clattn_problem;

#define CLATTN_PROBLEM_INIT \
    { sizeof(clattn_problem), 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 0 }, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0 }

enum { CLATTN_LIST_MAX = 256, CLATTN_NAMES_MAX = 256 };

/**
 * What a problem string says: the problem, and how a test or a benchmark sets it up. The grammar of problem strings,
 * used wherever a problem is named in text:
 *
 *   TYPE bB hH[/HK] qNQ kNK dD[/DV] [causal|causal-tl] [windowL,R] [softcapC] [alibi] [bias:DIMS[:TYPE]] [slopes]
 *        [mask:DIMS] [blocks:BQ,BK] [sink] [mod:NAME[,NAME..]] [dropoutP] [varlen] [pageP] [k:TYPE] [v:TYPE]
 *        [o:TYPE] [offN] [bthd] [scaleX] [qlen:N,..] [kvlen:N,..] [kvstart:N,..] [splitsN] [invariant] [scores]
 *        [seedN] [lse] [bwd]
 *
 * e.g. "f16 b2 h32/8 q2048 k2048 d128 causal". Lists have b numbers. DIMS are the axes of bias or mask, each its
 * letter, or 1 where it is broadcast: bhqk, 11qk, b11k; in the place of b or h a digit from 2 to 9 is a number of
 * entries or heads that repeat: 14qk. slopes multiply the bias. blocks is a block map of that granularity. mod names
 * score_mods, by the files in examples/score_mods; whoever reads the string supplies texts and buffers. varlen: Q, K
 * and V are varlen, and sequence i has ceil(NQ (i+1) / B) queries and ceil(NK (i+1) / B) keys. k: and v: may name a
 * quantised type as well; int8 and int4 may be followed by :GROUP, and by z where there are zero points (k:int8:32z).
 * invariant: CLATTN_BATCH_INVARIANT. scores: CLATTN_SCORES. bwd: the gradients of all that.
 */
typedef struct clattn_workload {
    size_t struct_size;
    /**< sizeof(clattn_workload) */
    int32_t bthd;
    /**< 1: the axis order of Q, K, V and O is [b,n,h,d]; 0: [b,h,n,d]. */
    int32_t lse;
    /**< 1: LSE is wanted. */
    uint64_t seed;
    /**< For made-up inputs. */
    int32_t q_len[CLATTN_LIST_MAX], kv_len[CLATTN_LIST_MAX], kv_start[CLATTN_LIST_MAX];
    /**< One for each batch entry, where problem.flags say so. */
    int32_t bias_axes[4], mask_axes[4];
    /**< Axes b, h, q, k: 1 where bias and mask have that axis, 0 where it is broadcast, and of b and h 2 to 9 for so
     *   many that repeat. */
    int32_t block_q, block_k;
    /**< Queries and keys of a block, with CLATTN_BLOCK_MAP. */
    char mods[CLATTN_NAMES_MAX];
    /**< Names of score_mods with commas between; problem.mods stays NULL. */
    clattn_problem problem;
    /**< The problem, its sizes included. */
} clattn_workload;

#define CLATTN_WORKLOAD_INIT \
    { sizeof(clattn_workload), 0, 0, 0, { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, 0, 0, { 0 }, CLATTN_PROBLEM_INIT }

/**
 * Reads a problem string. Needs no device.
 *
 * @param text  the string; not NULL
 * @param out   receives the workload; not NULL, with struct_size set. Untouched on failure.
 * @param why   receives what is wrong, or "" after success; may be NULL
 * @param len   bytes of `why`
 * @return CL_SUCCESS
 *         CLATTN_ERROR_SYNTAX             the text is no problem string
 *         CLATTN_ERROR_NOT_SUPPORTED      the problem is one that this version lacks (gradients of pages, ...)
 *         CLATTN_ERROR_INVALID_ARGUMENT   a pointer is NULL, struct_size is wrong, or the problem contradicts itself
 */
CLATTN_API cl_int clattn_workload_parse(const char *text, clattn_workload *out, char *why, size_t len)
    CLATTN_MUST_CHECK;

/**
 * Writes the canonical problem string of a workload. Reading it back gives an equal problem; members that are ignored
 * are left out.
 *
 * @param c       the workload; not NULL
 * @param text    receives the string
 * @param len     bytes of `text`
 * @param needed  receives the bytes that the whole string takes, NUL included; may be NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   c is NULL, the problem is wrong, or no problem string can express it
 *         CLATTN_ERROR_UNKNOWN_FIELD, CLATTN_ERROR_NOT_SUPPORTED   as clattn_plan_create()
 */
CLATTN_API cl_int clattn_workload_print(const clattn_workload *c, char *text, size_t len, size_t *needed);

/**
 * Counts the work of one call: of a forward one, or with CLATTN_BACKWARD of a backward one.
 *
 * @param c      the workload; not NULL
 * @param flops  receives 2 (d + dv) for each query row and key that causality, window and lengths keep, over all query
 *               heads, backward 2 (3 d + 2 dv); boolean masks and block maps are not counted. May be NULL.
 * @param bytes  receives the bytes of Q, K, V and O, and of LSE when it is wanted, once each in their storage types,
 *               and of scales and zero points of int8 and int4; backward
 *               those of LSE, dO, dQ, dK and dV as well. May be NULL.
 * @return CL_SUCCESS, or a status as of clattn_workload_print()
 */
CLATTN_API cl_int clattn_workload_cost(const clattn_workload *c, double *flops, double *bytes) CLATTN_MUST_CHECK;

/* ---- Handles ---- */

/** One context and device, and what was built for them. Reference-counted. */
typedef struct clattn_handle_s *clattn_handle;
/** One problem made runnable. Immutable and reference-counted. */
typedef struct clattn_plan_s *clattn_plan;

/**
 * Which configuration a plan gets, and whether it may be measured: clattn_options.tune. What is measured or compiled is
 * kept in one directory, see clattn-cache(5). Nothing that happens to that directory is ever an error: it costs time.
 */
enum {
    CLATTN_TUNE_DEFAULT = 0,
    /**< What the environment variable CLATTN_TUNE says, else auto. */
    CLATTN_TUNE_AUTO = 1,
    /**< The record of the problem's class; without one a quick search when a plan is made, once for each class. */
    CLATTN_TUNE_OFF = 2,
    /**< The default of the library's table. No record is read or written; binaries are still kept. */
    CLATTN_TUNE_READONLY = 3,
    /**< Records and binaries are read, none is written, and nothing is measured. */
    CLATTN_TUNE_QUICK = 4,
    /**< Search now, whatever records say: at most 2 s and the build under way. */
    CLATTN_TUNE_FULL = 5,
    /**< Search now, whatever records say: at most 60 s and the build under way. */
    CLATTN_TUNE_RECORD = 6,
    /**< As off, and the class is noted for `clattn-tune --recorded`. */
    CLATTN_TUNE_EXHAUSTIVE = 7
    /**< For clattn_tune() only: every configuration there is. */
};

/**
 * Where binaries and records are kept instead of in a directory. Names are short: letters, digits, '/', '-' and '.'.
 * The functions are called on the calling thread, and by several threads at a time if the application has them.
 * Whatever `get` returns is checked before use.
 */
typedef struct clattn_store {
    size_t struct_size;
    /**< sizeof(clattn_store) */
    int (*get)(void *user, const char *name, void *bytes, size_t room, size_t *size);
    /**< Copies the blob of that name to `bytes`, at most `room` of them, and its size to *size. The size may be larger
     *   than room; then the function is called again with more room. Returns 0 when there is such a blob. */
    int (*put)(void *user, const char *name, const void *bytes, size_t size);
    /**< Keeps a blob, in place of one of the same name; size 0 removes it. Returns 0 when that is done. */
    void *user;
    /**< Handed to both. */
} clattn_store;

struct clattn_progress;
/** Options of a handle. */
typedef struct clattn_options {
    size_t struct_size;
    /**< sizeof(clattn_options) */
    void (*log)(void *user, const char *text);
    /**< Called with messages: why a handle could not be made, a compiler's warnings, a configuration that was passed
     *   over, a search that takes long, a cache that cannot be used. Called on the calling thread. NULL: no
     *   messages. */
    void *log_user;
    /**< Handed to `log`. */
    int32_t tune;
    /**< CLATTN_TUNE_*. Unless it is 0, it takes precedence over the environment. */
    int32_t reserved;
    /**< 0 */
    double tune_seconds;
    /**< Seconds that a search takes at most when a plan is made, without the build under way. 0: what
     *   CLATTN_TUNE_SECONDS says, else 2 for auto and quick, 60 for full. */
    const char *cache_dir;
    /**< An absolute path. NULL: CLATTN_CACHE_DIR, XDG_CACHE_HOME/clattn or HOME/.cache/clattn. "": nothing is kept. */
    size_t cache_max_size;
    /**< Bytes that binaries take at most; 0: CLATTN_CACHE_MAX_SIZE, else 64 MiB. */
    const clattn_store *store;
    /**< Used in place of the directory; copied. NULL: none. */
    char *why;
    /**< Where clattn_create(), clattn_cache_stat() and clattn_cache_clear() write why they failed, because there is no
     *   handle to ask then; "" after success. Always ended by NUL. Written before the call returns and never later. May
     *   be NULL. */
    size_t why_len;
    /**< Bytes of `why`. */
    int (*progress)(void *user, const struct clattn_progress *progress);
    /**< Called while a plan is made, so that a program can tell what takes seconds: before each kernel is compiled, at
     *   each step of a search, and at the end. clattn_tune.h has the struct; later versions may have more steps. Called
     *   on the calling thread, and must not call the library with this handle. A value other than 0 asks to stop: a
     *   search ends, and the plan takes the default configuration; where its kernels are yet to be compiled,
     *   CLATTN_ERROR_CANCELLED is returned. NULL: none. */
    void *progress_user;
    /**< Handed to `progress`. */
} clattn_options;

#define CLATTN_OPTIONS_INIT { sizeof(clattn_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Finds the device that clattn's own programs take when none is named: the first GPU that is available, else
 * accelerator, else CPU, of each kind the first in the order of platforms.
 *
 * @param platform  receives its platform; may be NULL
 * @param device    receives the device; not NULL
 * @return CL_SUCCESS; otherwise both receive NULL
 *         CL_DEVICE_NOT_FOUND             there is none
 *         CLATTN_ERROR_INVALID_ARGUMENT   device is NULL
 *         CLATTN_ERROR_FORKED             this process was forked from one that used OpenCL: see "Fork" above
 *         CL_OUT_OF_HOST_MEMORY           no memory
 */
CLATTN_API cl_int clattn_default_device(cl_platform_id *platform, cl_device_id *device) CLATTN_MUST_CHECK;

/**
 * Makes a handle for one device of a context.
 *
 * @param out      receives the handle, which the caller frees with clattn_release(); NULL on failure. Not NULL itself.
 * @param context  an OpenCL context. The handle keeps a reference to it.
 * @param device   a device of that context
 * @param options  may be NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   out is NULL, or a member of the options is wrong
 *         CLATTN_ERROR_UNKNOWN_FIELD      the options, or their store, are of a newer header and not zero at the end
 *         CLATTN_ERROR_NOT_SUPPORTED      the device is big-endian
 *         CLATTN_ERROR_FORKED             this process was forked from one that used OpenCL: see "Fork" above
 *         CL_INVALID_CONTEXT, CL_INVALID_DEVICE   NULL, or the device is not one of the context's
 *         CL_DEVICE_NOT_AVAILABLE, CL_COMPILER_NOT_AVAILABLE   the device is not available, or has no compiler
 *         CL_OUT_OF_HOST_MEMORY           no memory
 *         options.why and options.log have the reason.
 */
CLATTN_API cl_int clattn_create(clattn_handle *out, cl_context context, cl_device_id device,
                                const clattn_options *options) CLATTN_MUST_CHECK;

/**
 * Adds a reference to a handle.
 *
 * @param handle  not NULL
 * @return CL_SUCCESS
 */
CLATTN_API cl_int clattn_retain(clattn_handle handle);

/**
 * Drops a reference to a handle; the last one frees it. Plans and trials keep their handle alive.
 *
 * @param handle  may be NULL, and may be a parent's in a child of fork(): then the child's memory is freed and the
 *                driver is left alone
 * @return CL_SUCCESS
 */
CLATTN_API cl_int clattn_release(clattn_handle handle);

/**
 * Writes the words of the calling thread's last failure on this handle, one of its plans or trials.
 *
 * @param handle  not NULL
 * @param text    receives the words; "" when there was no failure. Where there was no memory to keep them, they say so.
 * @param len     bytes of `text`
 * @param needed  receives the bytes that the whole text takes, NUL included; may be NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   text is NULL and len is not 0
 */
CLATTN_API cl_int clattn_error_detail(clattn_handle handle, char *text, size_t len, size_t *needed);

/**
 * Tells whether a plan can be made for a problem. Compiles nothing.
 *
 * @param handle   the device that is asked
 * @param problem  not NULL
 * @param why      receives the reason of a failure, also where the handle is NULL or a parent's; "" after success. May
 *                 be NULL.
 * @param len      bytes of `why`
 * @return CL_SUCCESS, or the status that clattn_plan_create() would return before it compiles:
 *         CLATTN_ERROR_INVALID_ARGUMENT, CLATTN_ERROR_UNKNOWN_FIELD, CLATTN_ERROR_NOT_SUPPORTED
 */
CLATTN_API cl_int clattn_supports(clattn_handle handle, const clattn_problem *problem, char *why, size_t len);

/**
 * Writes the index-th configuration that the device can run a problem with.
 *
 * Number 0 is the default. Engines with matrix units, mma_nv on NVIDIA's GPUs, mfma and wmma on AMD's, dpas and dpas8
 * on Intel's, are the default of f16 and bf16 there once they have passed their self-test. The first plan of a handle
 * in these types runs that test, in every tuning mode, because it is about what is right; unless its verdict is kept
 * already. Before that they are not among the configurations.
 *
 * @param handle   the device
 * @param problem  not NULL
 * @param index    from 0 on
 * @param text     receives "ENGINE TILE"
 * @param len      bytes of `text`
 * @return CL_SUCCESS
 *         CL_INVALID_VALUE   there are not that many configurations
 *         CLATTN_ERROR_INVALID_ARGUMENT, CLATTN_ERROR_UNKNOWN_FIELD, CLATTN_ERROR_NOT_SUPPORTED   as clattn_supports()
 */
CLATTN_API cl_int clattn_config_at(clattn_handle handle, const clattn_problem *problem, size_t index, char *text,
                                   size_t len);

/**
 * Writes the program that is composed for a problem. Its first line is a comment with the build options; the rest is
 * what the driver gets.
 *
 * @param handle   NULL: for a generic GPU, and no device is needed. Otherwise a small program may ask the device first
 *                 which 2^x it computes accurately.
 * @param problem  not NULL
 * @param config   as clattn_plan_options.config; may be NULL
 * @param text     receives the program, or on failure the reason
 * @param len      bytes of `text`
 * @param needed   receives the bytes that the whole text takes, NUL included; may be NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_SYNTAX       config cannot be read
 *         CL_OUT_OF_HOST_MEMORY     no memory
 *         CLATTN_ERROR_INVALID_ARGUMENT, CLATTN_ERROR_UNKNOWN_FIELD, CLATTN_ERROR_NOT_SUPPORTED   as clattn_supports(),
 *                                   or the configuration cannot run here
 */
CLATTN_API cl_int clattn_emit_source(clattn_handle handle, const clattn_problem *problem, const char *config,
                                     char *text, size_t len, size_t *needed);

/**
 * Writes the program of one kernel of a plan: clattn_emit_source() writes that of the kernel which does most of the
 * work.
 *
 * @param handle   as for clattn_emit_source()
 * @param problem  not NULL
 * @param config   as clattn_plan_options.config; may be NULL
 * @param kernel   the kernel's name as profilers show it, e.g. "cla_backward_queries"; NULL: that of
 *                 clattn_emit_source()
 * @param text     receives the program, or on failure the reason
 * @param len      bytes of `text`
 * @param needed   receives the bytes that the whole text takes, NUL included; may be NULL
 * @return as clattn_emit_source(), and
 *         CLATTN_ERROR_INVALID_ARGUMENT   also where plans of the problem have no such kernel: the reason names those
 *                                         that they have
 */
CLATTN_API cl_int clattn_emit_kernel(clattn_handle handle, const clattn_problem *problem, const char *config,
                                     const char *kernel, char *text, size_t len, size_t *needed);

/* ---- Plans ---- */

/** Options of a plan. */
typedef struct clattn_plan_options {
    size_t struct_size;
    /**< sizeof(clattn_plan_options) */
    const char *config;
    /**< NULL: the best configuration known that builds here. "ENGINE": likewise, of that engine. "ENGINE TILE", as
     *   clattn_config_at() writes it: this one or none. */
    size_t max_workspace;
    /**< Bytes of workspace that a call may need at most; 0: no bound. Keys are split into fewer parts where more would
     *   need more. */
} clattn_plan_options;

#define CLATTN_PLAN_OPTIONS_INIT { sizeof(clattn_plan_options), 0, 0 }

/**
 * Makes a plan: chooses, composes and builds the kernels for a problem.
 *
 * It compiles, reads and writes files, and measures, as clattn_options.tune says; a driver's compiler may take
 * seconds. Of the other functions only clattn_forward(), clattn_backward(), clattn_tune(), those that check a
 * configuration, and clattn_emit_source() compile. What a compiler made is tried on a small sample before the plan
 * uses it, on buffers of the library's own. Where it computes something else, another configuration takes its place,
 * and the log says so. A forward plan with captured buffers is not tried, since there is nothing to put into them; one
 * of gradients is, without the score_mods' texts.
 *
 * @param out      receives the plan, which the caller frees with clattn_plan_release(); NULL on failure. Not NULL
 *                 itself.
 * @param handle   the device. The plan keeps a reference to it.
 * @param problem  not NULL; copied
 * @param options  may be NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   a pointer is NULL, or a member of the problem or the options is wrong
 *         CLATTN_ERROR_UNKNOWN_FIELD      a struct is of a newer header and not zero at the end
 *         CLATTN_ERROR_NOT_SUPPORTED      no configuration, or not the one asked for, can do the problem on this device
 *                                         or on any: widths above 576, f64 beside another type
 *         CLATTN_ERROR_SYNTAX             options.config cannot be read
 *         CLATTN_ERROR_BUILD              the driver rejected the kernel; the detail has its log
 *         CLATTN_ERROR_WRONG_RESULT       the configuration that options.config or clattn_set_config() names computes
 *                                         something else, or all that were tried do
 *         CLATTN_ERROR_CANCELLED          the handle's options.progress asked to stop
 *         CL_OUT_OF_HOST_MEMORY           no memory
 */
CLATTN_API cl_int clattn_plan_create(clattn_plan *out, clattn_handle handle, const clattn_problem *problem,
                                     const clattn_plan_options *options) CLATTN_MUST_CHECK;

/**
 * Adds a reference to a plan.
 *
 * @param plan  not NULL
 * @return CL_SUCCESS
 */
CLATTN_API cl_int clattn_plan_retain(clattn_plan plan);

/**
 * Drops a reference to a plan; the last one frees it. Calls that were enqueued finish as usual.
 *
 * @param plan  may be NULL, and may be a parent's in a child of fork()
 * @return CL_SUCCESS
 */
CLATTN_API cl_int clattn_plan_release(clattn_plan plan);

/**
 * Writes the configuration that a plan uses, "ENGINE TILE". HACKING explains the numbers of a tile, and the " wavesN"
 * that may stand behind it.
 *
 * @param plan    not NULL
 * @param text    receives the configuration
 * @param len     bytes of `text`
 * @param needed  receives the bytes that the whole text takes, NUL included; may be NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   text is NULL and len is not 0
 */
CLATTN_API cl_int clattn_plan_config(clattn_plan plan, char *text, size_t len, size_t *needed);

/** Where a plan's configuration came from: clattn_plan_info.origin. */
enum {
    CLATTN_ORIGIN_DEFAULT = 0, /**< the library's table, or clattn_plan_options.config */
    CLATTN_ORIGIN_TUNED = 1,   /**< measured by this handle */
    CLATTN_ORIGIN_CACHED = 2,  /**< a record */
    CLATTN_ORIGIN_SET = 3      /**< clattn_set_config() */
};
/** Where a plan's binary came from: clattn_plan_info.binary. */
enum {
    CLATTN_BINARY_NONE = 0,    /**< nothing keeps binaries */
    CLATTN_BINARY_MISS = 1,    /**< compiled */
    CLATTN_BINARY_HIT = 2      /**< loaded, or built before by this handle */
};
/** How a plan came to be. */
typedef struct clattn_plan_info {
    size_t struct_size;
    /**< sizeof(clattn_plan_info) */
    int32_t origin, binary;
    /**< CLATTN_ORIGIN_* and CLATTN_BINARY_* */
} clattn_plan_info;
#define CLATTN_PLAN_INFO_INIT { sizeof(clattn_plan_info), 0, 0 }

/**
 * Tells how a plan came to be.
 *
 * @param plan  not NULL
 * @param info  is filled in; not NULL, with struct_size set
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   info is NULL, or its struct_size is wrong
 */
CLATTN_API cl_int clattn_plan_get_info(clattn_plan plan, clattn_plan_info *info);

/* ---- Running ---- */

/** A tensor inside a buffer. */
typedef struct clattn_tensor {
    cl_mem mem;
    /**< The buffer, of the handle's context. The caller keeps it; the queue holds its own reference while a call is
     *   under way. */
    size_t offset;
    /**< Of the first element, in elements. */
    int64_t stride[3];
    /**< Of the axes b, h and n (rows), in elements; none is negative. All three 0: contiguous [b,h,n,width]. */
} clattn_tensor;

/** Numbers in a row in a device buffer. */
typedef struct clattn_array {
    cl_mem mem;
    /**< The buffer, of the handle's context. */
    size_t offset;
    /**< Of the first element, in elements. */
} clattn_array;

/** What goes with scores: axes b, h, q and k. */
typedef struct clattn_tensor4 {
    cl_mem mem;
    /**< The buffer, of the handle's context. */
    size_t offset;
    /**< Of the first element, in elements. */
    int64_t shape[4], stride[4];
    /**< shape: for each axis 1 (broadcast) or the size of the call, and 0 means the latter; in varlen sequences q and k
     *   have nq and nk elements. With CLATTN_REPEAT axes b and h of a bias or mask may have any number that divides the
     *   call's: entry b has what is at b mod shape[0], and head h what is at h mod shape[1]. stride: in elements, none
     *   negative; all four 0: contiguous. An axis of shape 1 never steps. */
} clattn_tensor4;

/**
 * The arguments of a call. Arrays and tensors beside q, k, v, o and lse are given exactly when the problem says so: mem
 * is not NULL then, and NULL otherwise.
 */
typedef struct clattn_forward_args {
    size_t struct_size;
    /**< sizeof(clattn_forward_args) */
    const clattn_sizes *sizes;
    /**< The sizes of this call; NULL: those of the plan's problem. */
    clattn_tensor q, k, v;
    /**< Read. */
    clattn_tensor o;
    /**< Written: every row, also those that see nothing. Must not overlap anything that is read. */
    clattn_tensor lse;
    /**< Written unless mem is NULL; f32 (CLATTN_LSE_F64: double), axes b, h and nq, contiguous by default. */
    clattn_array q_len, kv_len, kv_start;
    /**< int32 [b], for CLATTN_Q_LEN, CLATTN_KV_LEN and CLATTN_KV_START. Values are clamped to [0, nq] and
     *   [0, nk], in varlen to the rows of their sequence. */
    clattn_array offsets;
    /**< int32 [b], for CLATTN_ALIGN_OFFSETS. */
    cl_mem workspace;
    /**< A buffer with at least clattn_workspace_size() bytes from workspace_offset on; NULL for none. The caller frees
     *   it. Calls that may run at the same time need one each. */
    size_t workspace_offset, workspace_size;
    /**< Bytes; the offset is a multiple of 32. */
    clattn_array cu_q, cu_k;
    /**< int32 [b+1], for CLATTN_CU_Q and CLATTN_CU_K: not descending, from 0 to total_q and total_k. What leads outside
     *   is clamped, and sequences longer than nq and nk are cut off. In varlen tensors the stride of axis b is ignored,
     *   and all strides 0 means contiguous [total,h,width], for LSE [h,total_q]. Rows of no sequence are not
     *   written. They are on the device, and no call looks at them on the host: with numbers that are wrong, lengths
     *   in place of beginnings say, or with nq or nk too small, it succeeds, stays within its buffers, and results of
     *   those sequences are wrong. A total of 0 is refused beside a tensor and an nq or nk that is not 0. */
    clattn_tensor4 bias;
    /**< Of bias_type. */
    clattn_tensor4 mask;
    /**< Bytes, for CLATTN_MASK. A byte that is not 0 keeps the key. Where its axis q is broadcast and its keys are
     *   neighbours, as in padding, tiles that it empties are passed over; else a block map says which they are. */
    clattn_tensor4 block_map;
    /**< Bytes, for CLATTN_BLOCK_MAP: one for each block of block_q queries and block_k keys. 0: no key of the block is
     *   seen. 2: the mask, if there is one, keeps the whole block; where it does not, whether the keys that it drops
     *   are seen depends on the tile. Any other value: the mask decides. Causality, windows and lengths hold in every
     *   block. shape[2] and shape[3] count blocks: ceil(nq / block_q) and ceil(nk / block_k); in varlen sequences, from
     *   the beginning of each. */
    int32_t block_q, block_k;
    /**< 1 to 2^30, with a block map; 0 without. A map pays where blocks are multiples of the tile. */
    clattn_array slopes;
    /**< f32 [h] or [b,h], for CLATTN_ALIBI and CLATTN_BIAS_SLOPES. */
    int64_t slopes_stride;
    /**< Elements from the slopes of b to those of b + 1; 0: the same slopes for every b. */
    clattn_array sinks;
    /**< f32 [h], for CLATTN_SINKS. -inf: the head has none. */
    const clattn_array *aux;
    /**< [n_aux] captured buffers. The score_mods must not read beyond their ends: the library cannot check that. */
    clattn_tensor4 k_scale, k_zero, v_scale, v_zero;
    /**< f32, for int8 and int4: axes b, hk, row and group of groups of k_group (v_group) elements, where K and V are
     *   paged axes page, hk, row of the page and group, and in varlen 1, hk, row of all sequences and group. Each axis
     *   may be 1 (broadcast): a scale per tensor, head, channel, token or group. Contiguous is the order of their K and
     *   V: b, hk, row, group; page, row, hk, group; and in varlen row, hk, group. Zero points where CLATTN_K_ZERO and
     *   CLATTN_V_ZERO say so. A call without keys reads none of them: their shapes must be right, and mem may be
     *   NULL. */
    clattn_array block_table;
    /**< int32 [b, ceil(nk / page)], where K and V are paged: entry i of sequence b is the page that has its keys i page
     *   to (i + 1) page - 1. Sequences may share pages. Entries of pages whose keys are all at kv_len or beyond are
     *   never looked at. An entry that is no page, negative or too large, stands for a page of zeros. */
    int64_t block_table_stride;
    /**< Elements from the entries of one sequence to those of the next; 0: ceil(nk / page). */
    int64_t pages;
    /**< How many pages K and V have, at most 2^30. They are [pages,page,hk,width] then: strides are those of the axes
     *   page, hk and row of a page, and all 0 means contiguous in the order given here. */
    int32_t page;
    /**< Rows of a page; 0: what the problem says. */
    int32_t splits;
    /**< 0: what the problem says. */
    uint64_t dropout_seed, dropout_offset;
    /**< Which weights are left out where the problem has dropout: any seed, and an offset of at most 2^32 - 1, e.g. the
     *   number of the layer or step. A backward call needs those of its forward call. Without dropout both are
     *   ignored. */
} clattn_forward_args;

#define CLATTN_TENSOR_INIT { 0, 0, { 0, 0, 0 } }
#define CLATTN_TENSOR4_INIT { 0, 0, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } }
#define CLATTN_FORWARD_ARGS_INIT \
    { sizeof(clattn_forward_args), 0, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, \
      CLATTN_TENSOR_INIT, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, 0, 0, 0, { 0, 0 }, { 0, 0 }, CLATTN_TENSOR4_INIT, \
      CLATTN_TENSOR4_INIT, CLATTN_TENSOR4_INIT, 0, 0, { 0, 0 }, 0, { 0, 0 }, 0, CLATTN_TENSOR4_INIT, \
      CLATTN_TENSOR4_INIT, CLATTN_TENSOR4_INIT, CLATTN_TENSOR4_INIT, { 0, 0 }, 0, 0, 0, 0, 0, 0 }

/**
 * Computes the bytes of workspace that a call needs, exactly. No device work.
 *
 * It is 0 for calls whose rows and heads give the whole device something to do. Where they do not, the keys are split,
 * and each part has 4 (dv + 1) bytes there for each row (f64: 8). A call that brings no workspace is not split, unless
 * it or the problem says into how many parts: it is right, and slower. Engine simt and those with matrix units also
 * keep there the sums of rows that have more keys in a part than 64 tiles, which are 1024 to 16384 keys: 8 (dv + 2)
 * bytes or more for a row. Such a call needs a workspace in any case.
 *
 * @param plan  not NULL
 * @param args  only sizes and splits are read; not NULL
 * @param size  receives the bytes; not NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   a pointer is NULL, or a size is wrong
 *         CLATTN_ERROR_UNKNOWN_FIELD      the arguments are of a newer header and not zero at the end
 *         CLATTN_ERROR_NOT_SUPPORTED      too many work-groups, or more than clattn_plan_options.max_workspace
 */
CLATTN_API cl_int clattn_workspace_size(clattn_plan plan, const clattn_forward_args *args, size_t *size)
    CLATTN_MUST_CHECK;

/**
 * Enqueues the forward pass. Like OpenCL's own enqueue functions it is asynchronous. It never allocates device memory,
 * compiles, touches files or blocks. On failure nothing was enqueued, and *event is NULL. One exception: where the
 * driver takes some of a call's kernels and fails to take the next, the former run all the same, so that what the call
 * writes is undefined until the queue is done and the call was repeated. kv_len of an append is not advanced then.
 *
 * @param plan       not NULL
 * @param queue      in-order or out-of-order, of the handle's context and device
 * @param args       not NULL; may be freed when the function returns
 * @param n_wait     number of events in wait_list
 * @param wait_list  events that the call waits for; NULL exactly when n_wait is 0
 * @param event      receives an event that completes when O and LSE are written, which the caller releases; may be NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   a size, stride, shape, offset or combination is wrong, or a tensor is missing
 *         CLATTN_ERROR_UNKNOWN_FIELD      the arguments are of a newer header and not zero at the end
 *         CLATTN_ERROR_BUFFER_TOO_SMALL   a tensor, or workspace_size, reaches beyond the end of its buffer
 *         CLATTN_ERROR_WORKSPACE          the workspace is missing, or workspace_size too small
 *         CLATTN_ERROR_CONTEXT            the queue, a buffer or an event belongs to another context or device
 *         CLATTN_ERROR_NOT_SUPPORTED      too many work-groups, or more than clattn_plan_options.max_workspace
 *         CL_INVALID_COMMAND_QUEUE, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_MEM_OBJECT   as OpenCL means them
 */
CLATTN_API cl_int clattn_enqueue_forward(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args,
                                         cl_uint n_wait, const cl_event *wait_list, cl_event *event)
    CLATTN_MUST_CHECK;

/**
 * Attention in one call: finds the plan of a problem among those that the handle keeps for such calls, or makes it, and
 * enqueues the forward pass.
 *
 * The first call for a problem does what clattn_plan_create() does, without options: it compiles and may measure.
 * Later ones take some microseconds more than clattn_enqueue_forward(), for score_mods' texts of ordinary length, and
 * the time that a driver takes to allocate a workspace. One plan serves a problem with all sizes between two powers of
 * two: b from one on and below the next; nq, nk, total_q and total_k above one and up to the next; any offset; h and
 * hk have to be equal. These are the sizes of the problem: those of args choose no plan. Plans for other sizes mostly
 * share a program. A handle keeps 64 plans, and the one that was unused for longest makes room for a new one. Threads
 * that need the same program at the same time, here or in clattn_plan_create(), wait for the one that compiles it;
 * where that one fails, each of the others tries by itself. What clattn_tune(), clattn_set_config(),
 * clattn_wisdom_import() and clattn_wisdom_forget() change takes effect with the next call.
 *
 * @param handle     the device
 * @param queue      as for clattn_enqueue_forward()
 * @param problem    as for clattn_plan_create(); not NULL. CLATTN_BACKWARD is ignored, so that one problem serves
 *                   clattn_backward() as well, and so is CLATTN_SCORES.
 * @param args       as for clattn_enqueue_forward(), with two differences. sizes NULL: those of the problem. workspace
 *                   NULL: the call allocates what it needs, and the driver frees that once the call has finished;
 *                   where that much cannot be had, keys are split into fewer parts, or not at all
 *                   (CLATTN_BATCH_INVARIANT: the call is refused).
 * @param n_wait     as for clattn_enqueue_forward()
 * @param wait_list  as for clattn_enqueue_forward()
 * @param event      as for clattn_enqueue_forward()
 * @return the statuses of clattn_plan_create() and of clattn_enqueue_forward(). On failure there is no event, and
 *         nothing was enqueued, with the exception that clattn_enqueue_forward() has.
 */
CLATTN_API cl_int clattn_forward(clattn_handle handle, cl_command_queue queue, const clattn_problem *problem,
                                 const clattn_forward_args *args, cl_uint n_wait, const cl_event *wait_list,
                                 cl_event *event) CLATTN_MUST_CHECK;

/**
 * Enqueues the making of a block map: writes args->block_map from args->mask. The map serves as many calls as the mask
 * stays the same.
 *
 * @param plan       its problem has CLATTN_MASK and CLATTN_BLOCK_MAP
 * @param queue      as for clattn_enqueue_forward()
 * @param args       sizes, mask, block_map, block_q and block_k are used and all else is ignored. Axes b, h, q and k of
 *                   the map may be broadcast only where those of the mask are.
 * @param n_wait     as for clattn_enqueue_forward()
 * @param wait_list  as for clattn_enqueue_forward()
 * @param event      receives an event that completes when the map is written, which the caller releases; may be NULL
 * @return the statuses of clattn_enqueue_forward() but CLATTN_ERROR_WORKSPACE, and
 *         CLATTN_ERROR_INVALID_ARGUMENT   also where the plan's problem lacks one of the two flags
 */
CLATTN_API cl_int clattn_enqueue_block_map(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args,
                                           cl_uint n_wait, const cl_event *wait_list, cl_event *event)
    CLATTN_MUST_CHECK;

/* ---- Scores and weights ---- */

/** At which stage scores are written: clattn_scores_args.stage. ONNX's operator Attention has the same numbers in
 * qk_matmul_output_mode. */
enum {
    CLATTN_SCORES_PRODUCTS = 0, /**< scale dot(Q[q], K[k]) */
    CLATTN_SCORES_CHANGED = 1,  /**< that after softcap, score_mods and ALiBi */
    CLATTN_SCORES_MASKED = 2,   /**< and after bias and masks: -inf where a key is not seen */
    CLATTN_SCORES_WEIGHTS = 3   /**< what values are multiplied with, z exp(s[q,k] - lse[q]), so that O = weights V */
};

/** The arguments of clattn_enqueue_scores(). */
typedef struct clattn_scores_args {
    size_t struct_size;
    /**< sizeof(clattn_scores_args) */
    const clattn_forward_args *forward;
    /**< Those of a forward call; not NULL. o, v, v_scale, v_zero, splits and workspace are ignored. lse is read, as the
     *   forward call wrote it, where weights are wanted, and else ignored. */
    int32_t stage, reserved;
    /**< CLATTN_SCORES_*; reserved is 0. */
    clattn_tensor4 scores;
    /**< Written, all of it, in the type of O: [b,h,nq,nk]. With CLATTN_CU_Q the axis b is 1 and the axis q has total_q
     *   rows, those of all sequences: [h,total_q,nk]; nk is that of the longest sequence, and rows of no sequence are
     *   not written. No axis is broadcast. Where a row has no score, because the entry has no such key (outside
     *   [kv_start, kv_len), or behind the end of a varlen sequence), or because it is beyond q_len, stands -inf, or 0
     *   among weights. What is stored in K and Q there is not read. */
} clattn_scores_args;
#define CLATTN_SCORES_ARGS_INIT { sizeof(clattn_scores_args), 0, 0, 0, CLATTN_TENSOR4_INIT }

/**
 * Enqueues the writing of scores or weights, which the forward pass itself never stores: to look at them, or to hand
 * them on. Asynchronous, as clattn_enqueue_forward(). The tensor grows with nq nk; the call takes about the time of the
 * first product of a forward call.
 *
 * A score s after the stage that is asked for is off by no more than S + eps (|s| + S) + tiny, with the names and in
 * the domain of the bound at the top, f64 and matrix units as there, and
 *
 *     S = u (96 x_k + 16 y) + 2^-124 f_k      y: |s_k| after softcap, after the last score_mod, after ALiBi and after
 *                                             bias, each that there is up to that stage
 *
 * A weight z p is off by no more than z P + (eps + 2 u) z (p + P) + tiny, where B_LSE is what LSE as it is read
 * may be off, and
 *
 *     P = p (e^(E_k + B_LSE) - 1), and p more where p < 2^-99 e^(E_k + B_LSE) (f64: 2^-899)
 *
 * A key that is not seen has the weight 0 exactly, and so has one that dropout leaves out; NaN in the score of another
 * is NaN in its weight. Sinks take their part of a row and have no place in the tensor. With CLATTN_BATCH_INVARIANT the
 * bits of a row follow from the same as those of O.
 *
 * @param plan       its problem has CLATTN_SCORES; not NULL
 * @param queue      as for clattn_enqueue_forward()
 * @param args       not NULL; may be freed when the function returns, as may what it points to
 * @param n_wait     as for clattn_enqueue_forward()
 * @param wait_list  as for clattn_enqueue_forward()
 * @param event      receives an event that completes when scores are written, which the caller releases; may be NULL
 * @return the statuses of clattn_enqueue_forward(), and
 *         CLATTN_ERROR_INVALID_ARGUMENT   also where the problem lacks CLATTN_SCORES, the stage is none of the four, or
 *                                         weights are wanted without lse
 */
CLATTN_API cl_int clattn_enqueue_scores(clattn_plan plan, cl_command_queue queue, const clattn_scores_args *args,
                                        cl_uint n_wait, const cl_event *wait_list, cl_event *event) CLATTN_MUST_CHECK;

/* ---- Gradients ---- */

/*
 * Given dO, the gradient of some loss with respect to O, and dLSE, that with respect to LSE, with p[q,k] = exp(s[q,k] -
 * lse[q]) and D[q] = dot(dO[q], O[q]) - dLSE[q]:
 *
 *     dV[k]   = sum_q z p[q,k] dO[q]                  z: dropout, else 1
 *     ds[q,k] = p[q,k] (z dot(dO[q], V[k]) - D[q])    with respect to the score after its last step
 *     ds      = mod_grad(ds, s, b, h, q, k)           score_mods, the last one first, s being the score before each
 *     ds      = ds (1 - tanh(s / c)^2)                softcap c, likewise
 *     dQ[q]   = scale sum_k ds[q,k] K[k]
 *     dK[k]   = scale sum_q ds[q,k] Q[q]
 *     dBias   = ds[q,k] after the last step          dSlope = -sum_q,k ds[q,k] |q + offset - k|
 *               slope ds[q,k] and sum_q,k ds[q,k] bias[q,k] with CLATTN_BIAS_SLOPES
 *     dSink   = -sum_q exp(sink - lse[q]) D[q]
 *
 * dK and dV are summed over the query heads that share a key/value head. Where a mask, a length or a bias drops a key
 * its p and ds are exactly 0: what is stored there reaches no gradient, and rows that see nothing, and keys that no row
 * sees, have gradients of exactly 0. NaN and inf in a row of K that some query sees may reach dQ of queries that are
 * computed beside that one, and those in a row of Q or dO the gradients of keys that are. The same call gives the same
 * bits every time on the same device, with the same plan and number of compute units (on CPUs, of the driver's threads;
 * splits makes bits independent of it): nothing is added up in an order that depends on chance. dQ, dK and dV are
 * stored as Q, K and V; arithmetic and sums are in f32 (f64: f64, but LSE is f32 unless CLATTN_LSE_F64 is set). Engines
 * that use matrix units multiply p and ds in 16 bits, in the type of Q, in sums for dQ, dK and dV only. What
 * dO holds beyond q_len never reaches a gradient.
 *
 * The error bound
 * ---------------
 * With E_k, u, eps and tiny as at the top, B_O and B_LSE what O and LSE as given may be off (the bound of the forward
 * call), all else exact, C(m) = 32 + 8 min(m, 64), tiny' = 2^-124 (f64: 2^-1020), and dp = z dot(dO[q], V[k]):
 *
 *     P   = p (e^(E_k + B_LSE) - 1), and p more where p < 2^-99 e^(E_k + B_LSE) (f64: 2^-899)
 *     Bdp = 96 z u sum_j |dO V| + z (1 + dv + sum_j (|dO| + |V|)) tiny'
 *     BD  = (96 + dv) u sum_j |dO O| + sum_j |dO| B_O + u |dLSE| + (1 + dv + sum_j (|dO| + |O|)) tiny'
 *     Bds = (p + P) (Bdp + BD) + (P + 8 u (p + P)) |dp - D| + tiny'        before softcap's derivative; that makes it
 *           Bds (1 - t^2) + (|ds| + Bds) min(1, 32 u + (96 u x_k + 2^-124 f_k) / c)     with t = tanh(s / c)
 *
 * A sum of m terms x, each of them off by X, is off by sum X + u C(m) sum (|x| + X) + m tiny', and what is stored, r,
 * is off by eps (|r| + that) + tiny more, in its type. For dV the terms are z p dO, off by z P |dO|; for dQ and dK
 * scale ds K and scale ds Q, off by (|scale| Bds + tiny') |K| + |scale| (|ds| + Bds) tiny' and likewise with Q; for
 * dBias ds, off by Bds; for dSlope ds |q + offset - k|, off by Bds times that (with slopes of a bias slope ds and bias
 * ds, likewise); for dSink p D, off by (p + P) BD + P |D|. m is nk for dQ, the queries of all heads and entries that
 * share a key for dK and dV, and b h nq max(nk, 1) for the others. Captured buffers are off as their texts make of what
 * ds is off. Without CLATTN_LSE_F64 f64 has 2^-24 |dLSE|. Matrix units have m u more beside u C(m), 2 eps (of the type
 * of Q) as well in dQ, dK and dV, and 2 d or 2 dv more beside 96, but not in BD; in f16 z P is 2^-32 (with dropout
 * 2^-32 / (1 - dropout_p)) larger in dV, and Bds 2^-32 max (|ds| + Bds) in dQ and dK, the largest of all. What mods and
 * their derivatives lose or enlarge is not included.
 *
 * It holds in the domain of the forward call as long as |scale| sum_d |Q K| and the scores after every step are at most
 * 2^18 (f64: 2^47) in magnitude, all these sums of magnitudes, times |scale| where that is a factor, and |scale ds| of
 * every element are at most 1e37, and results are in the range of their types: p is what s and LSE say, and LSE is as
 * coarse as its size.
 *
 * D inherits the rounding error of the stored O. In 16 bits it is multiplied by K and Q, and shows where sums over ds
 * cancel: dQ and dK where a row has nearly all of its weight on one key, dBias where a bias has no axis k. A problem
 * with o_type CLATTN_F32, whose O takes 2 bytes more for each element, loses nothing there; its dO is in the type of Q
 * like any other.
 *
 * A plan for a problem with CLATTN_BACKWARD has this call and no other. Its problem, but for that flag and what is read
 * with it only, is that of the plan whose O and LSE they are, without CLATTN_APPEND, CLATTN_ROTARY,
 * CLATTN_SCORES, CLATTN_BATCH_INVARIANT and splits. Quantised and paged K and V have no gradients.
 * examples/train.c is a whole program.
 *
 * Derivatives of score_mods
 * -------------------------
 * clattn_problem.mod_grads[i] belongs to mods[i] and is OpenCL C as well: statements that turn ds, the gradient with
 * respect to s after that mod, into that with respect to s before it, by assigning ds, e.g. "ds *= 1 - t * t;". An
 * empty text leaves it as it is. In scope are ds, s (the score before the mod), b, h, q, k and the captured buffers, in
 * the form that the mod has: with CLATTN_MOD_VECTOR ds and s are `real`, q and k `integer`, and the same rules apply.
 * Where a key is dropped the gradient stays 0, whatever the text makes of it. A problem with CLATTN_BACKWARD and a mod
 * without a derivative is CLATTN_ERROR_NOT_SUPPORTED.
 *
 * A captured buffer that is learnt (a table of relative positions, gates) is marked in clattn_problem.aux_grads. For
 * each buffer NAME of CLATTN_F32 or _F64, marked or not, a text may assign two variables more: NAME_index, an int or in
 * the vector form an `integer`, is the element that this query and key looked up, and -1 (none) before the text;
 * NAME_grad, of the type of ds, is what that element receives, and 0 before it. For a mod that adds table[h * 32 +
 * bucket] that is "table_index = h * 32 + bucket; table_grad = ds;". A buffer of which a mod looks up several elements
 * is captured under several names. An index outside [0, n) is ignored, and so is everything where ds is 0. Engines cpu
 * and simt have these gradients; with simt a text may run more than once for a query and key.
 */

/** Where the gradient of a captured buffer goes: clattn_backward_args.daux. */
typedef struct clattn_aux_gradient {
    clattn_array to;
    /**< Written unless mem is NULL: f32 (f64: double), 0 for elements that nothing looks up. */
    int64_t n;
    /**< Elements, 1 to 2^30. */
} clattn_aux_gradient;

/** The arguments of clattn_enqueue_backward(). */
typedef struct clattn_backward_args {
    size_t struct_size;
    /**< sizeof(clattn_backward_args) */
    const clattn_forward_args *forward;
    /**< Those of the forward call, with LSE; not NULL. All of it is read, O and LSE too, but workspace. splits is the
     *   number of stripes of keys that are summed separately (engine cpu: dQ; any engine: a bias without an axis of
     *   keys, captured buffers), at most one for each tile of keys, 1024 at most: the bits of gradients then do not
     *   depend on the number of compute units. 0: as many as keep the device busy. clattn_problem.splits is 0. */
    clattn_tensor dout;
    /**< Read: dO, in the type of Q and the shape of O. */
    clattn_tensor dlse;
    /**< Read unless mem is NULL: in the type and shape of LSE. In a row that sees no key it counts for nothing but
     *   dSinks: where there is a sink, LSE is the sink, and dSink receives it. So LSE and dLSE of rows beyond q_len are
     *   read where the gradient of sinks is wanted. */
    clattn_tensor dq, dk, dv;
    /**< Each is written unless its mem is NULL, and then not computed either. They have the types and shapes of Q, K
     *   and V. Where K has an axis b of stride 0 that of dk may be 0 as well, and then it is summed over b; likewise V
     *   and dv. Strides of 0 everywhere mean contiguous, with an axis b. They must not overlap each other, nor anything
     *   that is read. */
    clattn_tensor4 dbias;
    /**< Written unless mem is NULL: f32 (f64: double), whatever bias_type is, of the shape of the bias, and summed over
     *   what that is broadcast over, axes that it steps along by 0 included. */
    clattn_array dslopes, dsinks;
    /**< Written unless mem is NULL: f32, as slopes and sinks lie, dslopes slopes_stride apart; where that is 0 they are
     *   summed over b. */
    cl_mem workspace;
    /**< A buffer with at least clattn_backward_workspace_size() bytes from workspace_offset on. The caller frees it.
     *   Calls that may run at the same time need one each. */
    size_t workspace_offset, workspace_size;
    /**< Bytes; the offset is a multiple of 32. */
    const clattn_aux_gradient *daux;
    /**< [n_aux]; NULL: none is wanted. Only of buffers that clattn_problem.aux_grads marks. */
} clattn_backward_args;
#define CLATTN_BACKWARD_ARGS_INIT \
    { sizeof(clattn_backward_args), 0, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, \
      CLATTN_TENSOR_INIT, CLATTN_TENSOR4_INIT, { 0, 0 }, { 0, 0 }, 0, 0, 0, 0 }

/**
 * Computes the bytes of workspace that a backward call needs, exactly. No device work.
 *
 * A row of Q has 8 bytes there (f64: twice as much of all). With engine cpu it has 4 more for each element where dQ is
 * wanted, d being rounded up to a multiple of 16 at most, once for each stripe of keys that is worked on at the same
 * time. There are as many stripes as keep the device busy, 1 where b hk is large, and fewer where the plan's
 * max_workspace has no room for them; a dQ of a stripe of more than 64 tiles of keys takes twice as much. Engine simt
 * and those with matrix units have a pass of their own for dQ. Where there are more than 64 tiles of keys each of its
 * elements has 4 bytes with simt; where keys have more than 64 tiles of queries, in all heads and entries that share
 * them, each element of dK and dV of a work-group's tile has, with simt and cpu. Rows are whole tiles there, and
 * widths are rounded up as the engine does. max_workspace changes nothing of that. The gradient of slopes takes 4
 * bytes for each head, tile of keys and work-item of a group, that of a bias without an axis k 8 for each of its cells
 * and each stripe, with that axis 4 for each of its cells where one has more than 64 terms. Where the gradient of a
 * bias is wanted that heads or entries share, a work-group has the keys of all of them, so that there are more
 * stripes. Gradients of captured buffers take 8 bytes for each of their n elements and each work-group, with engine
 * simt for each 32 work-items of a group. There are b hk groups for each stripe or, where those would have more
 * elements than dQ, one that has the keys of all heads and entries.
 *
 * @param plan  its problem has CLATTN_BACKWARD; not NULL
 * @param args  sizes, splits, strides of K, V, dK and dV, strides and shape of the bias and n of captured buffers are
 *              read, and by their mem which gradients are wanted; not NULL
 * @param size  receives the bytes; not NULL
 * @return as clattn_workspace_size()
 */
CLATTN_API cl_int clattn_backward_workspace_size(clattn_plan plan, const clattn_backward_args *args, size_t *size)
    CLATTN_MUST_CHECK;

/**
 * Enqueues the backward pass. Asynchronous, as clattn_enqueue_forward().
 *
 * @param plan       its problem has CLATTN_BACKWARD; not NULL
 * @param queue      as for clattn_enqueue_forward()
 * @param args       not NULL; may be freed when the function returns, as may what it points to
 * @param n_wait     as for clattn_enqueue_forward()
 * @param wait_list  as for clattn_enqueue_forward()
 * @param event      receives an event that completes when all gradients are written, which the caller releases; may be
 *                   NULL
 * @return the statuses of clattn_enqueue_forward(), and
 *         CLATTN_ERROR_INVALID_ARGUMENT   also where the problem lacks CLATTN_BACKWARD
 */
CLATTN_API cl_int clattn_enqueue_backward(clattn_plan plan, cl_command_queue queue, const clattn_backward_args *args,
                                          cl_uint n_wait, const cl_event *wait_list, cl_event *event)
    CLATTN_MUST_CHECK;

/**
 * Gradients in one call: as clattn_forward(), for clattn_enqueue_backward().
 *
 * @param handle     the device
 * @param queue      as for clattn_enqueue_forward()
 * @param problem    that of the forward call, with mod_grads and aux_grads where it has score_mods. CLATTN_BACKWARD
 *                   need not be set; CLATTN_APPEND, CLATTN_ROTARY, CLATTN_SCORES, CLATTN_BATCH_INVARIANT and splits are
 *                   ignored. Not NULL.
 * @param args       as for clattn_enqueue_backward(); sizes of args->forward and workspace may be NULL, as they may for
 *                   clattn_forward()
 * @param n_wait     as for clattn_enqueue_forward()
 * @param wait_list  as for clattn_enqueue_forward()
 * @param event      as for clattn_enqueue_backward()
 * @return the statuses of clattn_plan_create() and of clattn_enqueue_backward(). On failure there is no event, and
 *         nothing was enqueued, with the exception that clattn_enqueue_forward() has.
 */
CLATTN_API cl_int clattn_backward(clattn_handle handle, cl_command_queue queue, const clattn_problem *problem,
                                  const clattn_backward_args *args, cl_uint n_wait, const cl_event *wait_list,
                                  cl_event *event) CLATTN_MUST_CHECK;

/* ---- Caches, and partial results ---- */

/**
 * How a program generates
 * -----------------------
 * A plan with CLATTN_KV_LEN and CLATTN_APPEND, and one buffer kv_len that starts with zeros, serve the prompt and every
 * token after it. For each step, on one in-order queue and without waiting for anything:
 *
 *     clattn_enqueue_rotary()     turns Q, whose rows are at positions kv_len[b] + i
 *     clattn_enqueue_append()     turns and stores the new rows of K and V, and advances kv_len[b]
 *     clattn_enqueue_forward()    with nk the room that a sequence has, and kv_len: causal masks, windows and ALiBi are
 *                                 bottom-right aligned, so they are right for one row as for a prompt.
 *                                 Where new_len is given, q_len (CLATTN_Q_LEN) is the same
 *
 * examples/generate.c is a whole program. The sizes of the plan's problem should be those of the step that is called
 * most.
 *
 * What partial results are good for
 * ---------------------------------
 * (O, LSE) of a query over some of its keys is all that the other keys need to know. A plan whose o_type is CLATTN_F32
 * hands it out, and clattn_enqueue_merge() joins them. Keys count from 0 in each part: where a mask or ALiBi asks for
 * the diagonal, take CLATTN_ALIGN_OFFSET and the offset of the whole less the part's first key. Sinks go with one part,
 * so the others have a plan without.
 *
 *     keys that do not fit        copy a chunk of K and V into a buffer, forward it into part 1 of two states, merge
 *     both into the device             into a third, and copy that to part 0; or keep all states and merge them at the
 *     end two queues                  each forwards half of the keys into its part, and the merge waits for both events
 *     two devices, or machines    each has a handle and a plan of its own; one of them receives the other's O and LSE
 *     as
 *                                 one more part of its own buffers, and merges
 *     keys that all share         forward the prefix for all queries at once (K and V with stride[0] = 0), the rest for
 *                                 each, and merge
 */

/**
 * Rotary embedding: element pairs of a row at position p are turned by an angle, whose cosine and sine stand in row p
 * of two tables. (x, y) becomes (x cos - y sin, x sin + y cos), with each product and sum rounded.
 */
typedef struct clattn_rotary {
    clattn_array cos, sin;
    /**< f32 [positions, width / 2] */
    int64_t positions;
    /**< Rows of the tables, at least 1. A position beyond is taken as the last one, a negative one as 0. */
    int32_t width;
    /**< The first elements of a row that are turned; the others are copied. Even, at most the width of the row; 0: no
     *   rotation. */
    int32_t interleaved;
    /**< 0: the pairs are elements i and i + width / 2 (half-split); 1: 2 i and 2 i + 1. */
    clattn_array given;
    /**< int32 [b,nq]: the position of each row; mem NULL: row i of a sequence is at kv_len[b] + i, kv_len[b] below 0
     *   being taken as 0. */
} clattn_rotary;

/** The arguments of clattn_enqueue_append(). */
typedef struct clattn_append_args {
    size_t struct_size;
    /**< sizeof(clattn_append_args) */
    const clattn_sizes *sizes;
    /**< b, hk, nq: the new rows of each sequence, and nk: the rows that a sequence has room for, at most; h is 0 or a
     *   multiple of hk. NULL: those of the plan's problem. */
    clattn_tensor new_k, new_v;
    /**< Read: [b,hk,nq,d] and [b,hk,nq,dv], of the problem's `type`. */
    clattn_array new_len;
    /**< int32 [b]: how many of the nq rows are there, clamped to [0, nq]; mem NULL: all of them. */
    clattn_tensor k, v;
    /**< The caches, as in clattn_forward_args. Written: rows kv_len[b] to kv_len[b] + new_len[b] - 1. */
    clattn_tensor4 k_scale, k_zero, v_scale, v_zero;
    /**< As in clattn_forward_args. Where shape[2] is 1, scales and zero points are read, and values beyond what the
     *   type holds become its least or greatest. Else (0, or all rows) those of the new rows are computed and written,
     *   and no other axis may be broadcast. So 0 and 1 differ where there is one row, as on pages of 1. */
    clattn_array block_table;
    int64_t block_table_stride, pages;
    int32_t page, reserved;
    /**< As in clattn_forward_args; reserved is 0. */
    clattn_array kv_len;
    /**< int32 [b]: the rows that each sequence has, below 0 taken as 0. Advanced by the rows that were written; also
     *   where there were none, so that it is not below 0 any more. */
    clattn_rotary rotary;
    /**< Turns the new rows of K, in f32 (f64 in f64), before they are converted; needs CLATTN_ROTARY. width 0: none. */
    clattn_array dropped;
    /**< int32 [b], written: how many of a sequence's new rows were not, because it has no room for them or its block
     *   table leads to no page. mem NULL: not wanted. */
} clattn_append_args;

/** The arguments of clattn_enqueue_rotary(). */
typedef struct clattn_rotary_args {
    size_t struct_size;
    /**< sizeof(clattn_rotary_args) */
    const clattn_sizes *sizes;
    /**< b, h, nq; NULL: those of the plan's problem. */
    clattn_tensor in, out;
    /**< [b,h,nq,d] of the problem's `type`; the same tensor, or two that do not overlap. */
    clattn_array kv_len;
    /**< int32 [b], read unless positions are given; below 0 taken as 0; mem NULL: zeros. */
    clattn_rotary rotary;
    /**< Its width is not 0. */
} clattn_rotary_args;

/** How logarithms of partial results are written: clattn_merge_args.flags. */
enum {
    CLATTN_LSE_IN_LOG2 = 1,       /**< lse_parts are in base 2 */
    CLATTN_LSE_IN_EMPTY_INF = 2,  /**< a part that saw nothing has +inf there, in place of -inf */
    CLATTN_LSE_OUT_LOG2 = 4,      /**< lse is written in base 2 */
    CLATTN_LSE_OUT_EMPTY_INF = 8  /**< and +inf for a row that saw nothing */
};

/** The arguments of clattn_enqueue_merge(). */
typedef struct clattn_merge_args {
    size_t struct_size;
    /**< sizeof(clattn_merge_args) */
    const clattn_sizes *sizes;
    /**< b, h, nq; NULL: those of the plan's problem. For varlen results b 1 and nq the total, with their strides. */
    int64_t parts;
    /**< How many, 0 to 2^30. */
    clattn_tensor o_parts;
    int64_t o_parts_stride;
    /**< Read: f32 (f64 with f64), axes b, h and n as ever; elements from one part to the next. All four 0: contiguous
     *   [parts,b,h,nq,dv]. */
    clattn_tensor lse_parts;
    int64_t lse_parts_stride;
    /**< Read: f32 (CLATTN_LSE_F64: double), likewise. */
    clattn_tensor o, lse;
    /**< Written: O of the problem's o_type, and LSE unless mem is NULL. Must not overlap what is read. */
    uint32_t flags, reserved;
    /**< CLATTN_LSE_*; reserved is 0. */
} clattn_merge_args;

#define CLATTN_ROTARY_INIT { { 0, 0 }, { 0, 0 }, 0, 0, 0, { 0, 0 } }
#define CLATTN_APPEND_ARGS_INIT \
    { sizeof(clattn_append_args), 0, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, { 0, 0 }, CLATTN_TENSOR_INIT, \
      CLATTN_TENSOR_INIT, CLATTN_TENSOR4_INIT, CLATTN_TENSOR4_INIT, CLATTN_TENSOR4_INIT, CLATTN_TENSOR4_INIT, \
      { 0, 0 }, 0, 0, 0, 0, { 0, 0 }, CLATTN_ROTARY_INIT, { 0, 0 } }
#define CLATTN_ROTARY_ARGS_INIT \
    { sizeof(clattn_rotary_args), 0, CLATTN_TENSOR_INIT, CLATTN_TENSOR_INIT, { 0, 0 }, CLATTN_ROTARY_INIT }
#define CLATTN_MERGE_ARGS_INIT \
    { sizeof(clattn_merge_args), 0, 0, CLATTN_TENSOR_INIT, 0, CLATTN_TENSOR_INIT, 0, CLATTN_TENSOR_INIT, \
      CLATTN_TENSOR_INIT, 0, 0 }

/**
 * Enqueues the writing of new rows of K and V behind those that each sequence has, in the storage types of the cache,
 * and then advances kv_len. Asynchronous, as clattn_enqueue_forward(). Rows of a sequence are written in order: from
 * the first that finds no place on all of them are dropped, so that no hole is left. New rows and caches must not
 * overlap, and what several sequences append to one page is up to the caller.
 *
 * The bytes of quantised rows are the same on every device, those of GGUF's types as ggml's reference quantisation
 * writes them.
 * In int8 and int4, with values from -m - 1 to m (m is 127 and 7),
 *
 *     scale    the largest |x| of the group / m; with zero points (largest - smallest) / (2 m + 1), where 0 counts as
 *              one of the group's elements. One below 2^-126 is written as 0.
 *     zero     -m - 1 - smallest / scale, rounded to an integer, at most m
 *     element  x / scale + zero, rounded to an integer and clamped; NaN becomes m. Where the scale is 0, subnormal,
 *              infinite or NaN, as given ones may be, every element is zero.
 *
 * in f32: / scale is a product with the rounded 1 / scale, and integers are the nearest, ties to even. Of a given scale
 * beyond 2^126 devices that have no subnormal numbers make the same as of an infinite one. An element that
 * is NaN or infinite makes a scale that is computed NaN, and so its whole group.
 *
 * @param plan       its problem has CLATTN_APPEND, and the types, widths, groups and paging of the cache
 * @param queue      as for clattn_enqueue_forward()
 * @param args       not NULL; may be freed when the function returns
 * @param n_wait     as for clattn_enqueue_forward()
 * @param wait_list  as for clattn_enqueue_forward()
 * @param event      receives an event that completes when all is written, which the caller releases; may be NULL
 * @return the statuses of clattn_enqueue_forward() but CLATTN_ERROR_WORKSPACE, and CLATTN_ERROR_INVALID_ARGUMENT also
 *         where the problem lacks a flag or has varlen K or V, or where nq rows exceed the room of nk without new_len
 */
CLATTN_API cl_int clattn_enqueue_append(clattn_plan plan, cl_command_queue queue, const clattn_append_args *args,
                                        cl_uint n_wait, const cl_event *wait_list, cl_event *event) CLATTN_MUST_CHECK;

/**
 * Enqueues the rotation of Q, in place or into another buffer. Before the append of the same tokens: that advances
 * kv_len, where positions come from.
 *
 * @param plan       its problem has CLATTN_ROTARY
 * @param queue      as for clattn_enqueue_forward()
 * @param args       not NULL; may be freed when the function returns
 * @param n_wait     as for clattn_enqueue_forward()
 * @param wait_list  as for clattn_enqueue_forward()
 * @param event      receives an event that completes when all is written, which the caller releases; may be NULL
 * @return the statuses of clattn_enqueue_append()
 */
CLATTN_API cl_int clattn_enqueue_rotary(clattn_plan plan, cl_command_queue queue, const clattn_rotary_args *args,
                                        cl_uint n_wait, const cl_event *wait_list, cl_event *event) CLATTN_MUST_CHECK;

/**
 * Enqueues the merge of partial results: of (O, LSE) of the same queries over disjoint sets of keys, however and
 * wherever they were computed. The result is that of one forward pass over all keys. Merging is associative and
 * commutative up to rounding. No part, or parts that saw nothing (LSE = -inf), give O = 0 and LSE = -inf; such a part
 * contributes nothing even when its O is NaN. A sink belongs to one part only. A merge is held to the bound of a
 * forward row whose keys are the parts but those with LSE = -inf: the score of a part is its LSE, x = |LSE|, y = |LSE -
 * lse|, f = 0, and V its O. What the LSE of a part is off itself is added to E, and what its O is off, at most the
 * largest of that, to W and to R. In base 2 (CLATTN_LSE_OUT_LOG2) the bound of LSE is log2(e) times as large.
 *
 * @param plan       any plan with the widths and the o_type of the result, but for gradients
 * @param queue      as for clattn_enqueue_forward()
 * @param args       not NULL; may be freed when the function returns
 * @param n_wait     as for clattn_enqueue_forward()
 * @param wait_list  as for clattn_enqueue_forward()
 * @param event      receives an event that completes when all is written, which the caller releases; may be NULL
 * @return the statuses of clattn_enqueue_forward() but CLATTN_ERROR_WORKSPACE
 */
CLATTN_API cl_int clattn_enqueue_merge(clattn_plan plan, cl_command_queue queue, const clattn_merge_args *args,
                                       cl_uint n_wait, const cl_event *wait_list, cl_event *event) CLATTN_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#include "clattn_tune.h" /* programs find all functions by this header alone */

#endif
