/* inside.h - what the files of the interpreter share: decoded kernels, and the state of one that runs
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reading: amdgpu_module_read() -> object.c, metadata.c -> read.c -> statement.c. Running: amdgpu_run() -> launch.c ->
 * run.c, where each instruction is a function of the wave: issue.c for vectors, scalar.c, memory.c, .. */
#ifndef AMDGPU_INSIDE_H
#define AMDGPU_INSIDE_H

#include "amdgpu.h"
#include "offline/frame/arena.h"
#include "offline/frame/lanes.h"
#include "offline/frame/shadow.h"
#include "offline/frame/small.h"
#include "offline/frame/why.h"

enum {
    MAX_LANES = 64,
    CHUNK = 32,         /* lanes that a vector instruction computes in one loop */
    MAX_SOURCES = 6,
    FIRST_AGPR = 256,   /* a0 among the vector registers */
    MAX_VECTORS = 512,
    LANES_OF_PART = 32, /* of a mask's register */
    BUFFER_SHIFT = 34,  /* addresses: (buffer + 1) << BUFFER_SHIFT | offset, in 47 bits as the hardware has them */
    MAX_BUFFERS = LAUNCH_BUFFERS_MAX, /* what the module and the launch have of their own lies behind them */
    MAX_SHARED = 1 << 16 << 2
};
/* Scalar registers: s0 to s105 as they are called, and those with names. */
enum {
    REG_VCC = 106, REG_TTMP = 108, REG_M0 = 124, REG_EXEC = 126, REG_FLAT_SCRATCH = 128, REG_XNACK = 130,
    REG_NULL = 132, /* reads as 0 */
    N_SCALARS = 136
};
/* Flat addresses of LDS and of a lane's scratch: their upper 32 bits. */
#define APERTURE_SHARED ((uint64_t)0x20000000 << 32)
#define APERTURE_SCRATCH ((uint64_t)0x40000000 << 32)

#if defined(__GNUC__)
#define AMDGPU_MAY_ALIAS __attribute__((may_alias))
#else
#define AMDGPU_MAY_ALIAS
#endif
typedef uint32_t AMDGPU_MAY_ALIAS lane_u32;
typedef int32_t AMDGPU_MAY_ALIAS lane_i32;
typedef float AMDGPU_MAY_ALIAS lane_f32;

/* ---- decoded instructions ---- */

struct wave;
struct op;
typedef void wave_run(struct wave *w, const struct op *o);

/* A vector instruction on CHUNK lanes. Numbers of 64 bits have their upper halves `stride` behind the lower ones; those
 * of 16 bits are the lower half of a word, whose upper half may be anything. */
struct lanes {
    const lane_u32 *in[MAX_SOURCES];
    lane_u32 *out;
    size_t stride;
    uint32_t bits_in, bits_out; /* of a mask of lanes */
    uint32_t first;             /* lane */
    int approximate, sub, clamp;
};
typedef void lane_run(struct lanes *x);

/* A scalar instruction. */
struct scalar {
    uint64_t a, b, c, r;
    uint32_t scc;
};
typedef void scalar_run(struct scalar *x);

enum operand_kind { OPERAND_NONE, OPERAND_VECTOR, OPERAND_SCALAR, OPERAND_CONST, OPERAND_SCC };
enum fetch { FETCH_ABS = 1, FETCH_NEG = 2, FETCH_SEXT = 4, FETCH_PART = 8, FETCH_DPP = 16, FETCH_PAIR = 32,
             FETCH_MIX = 64, FETCH_FLUSH = 128 };
enum part { PART_BYTE_0, PART_BYTE_1, PART_BYTE_2, PART_BYTE_3, PART_LOW, PART_HIGH, PART_ALL };
struct operand {
    uint8_t kind;
    uint8_t words;  /* registers of 32 bits */
    char type;      /* as in struct form */
    uint8_t fetch;  /* enum fetch: what is between the register and the instruction; of constants nothing is left */
    uint8_t part;   /* enum part */
    uint8_t select_low, select_high, neg_low, neg_high; /* of pairs: which half becomes the lower one, .. */
    uint16_t reg;
    uint64_t value; /* of a constant */
};

enum dpp_kind { DPP_NONE, DPP_QUAD, DPP_EIGHT, DPP_SHL, DPP_SHR, DPP_ROR, DPP_SHARE, DPP_XMASK, DPP_MIRROR,
                DPP_HALF_MIRROR, DPP_BCAST, DPP_WAVE_SHL, DPP_WAVE_SHR, DPP_WAVE_ROL, DPP_WAVE_ROR };
struct dpp {
    uint8_t kind, by, row_mask, bank_mask, bound, inactive; /* inactive: lanes that are off are read, too (fi) */
    uint8_t select[8];
};

/* What of a result is defined when part of the sources is not. */
enum define {
    DEFINE_ALL,    /* all of it if all of them are */
    DEFINE_WORDS,  /* each word by the same words of them */
    DEFINE_CARRY,  /* the lower word by the lower words */
    DEFINE_SELECT, /* by the source that the mask selects */
    DEFINE_MOVE    /* the lower word by that of the first, the upper by the lower one of the second */
};
enum unused { UNUSED_PAD, UNUSED_SEXT, UNUSED_PRESERVE };

enum counter { COUNT_LOAD, COUNT_STORE, COUNT_LDS, COUNT_SCALAR, N_COUNTERS };

struct op {
    wave_run *run;
    lane_run *lanes;
    scalar_run *scalar;
    struct operand dst[2], src[MAX_SOURCES];
    uint8_t n_dst, n_src;
    uint16_t flags;                 /* enum form_flags */
    uint8_t sub, define;
    uint8_t omod, clamp;            /* omod: 1 x2, 2 x4, 3 /2 */
    uint8_t dst_part, dst_unused;   /* of SDWA; and where 16 bits go */
    uint8_t is_vector;              /* its lanes count */
    uint8_t keep_half;              /* of results of 16 bits: the other half stays */
    uint8_t mask_source;            /* index of the source that is a mask of lanes, + 1 */
    /* of memory */
    uint8_t space, width, signs, d16, returns, two; /* width: bytes of an element; two: of ds_load_2addr: the stride */
    uint8_t counter, count;
    int32_t offset, offset1;
    int8_t wait[N_COUNTERS];        /* -1: not waited for */
    struct dpp dpp;
    const struct op *pair;          /* v_dual_..: the other one */
    uint32_t target;                /* of branches */
    uint64_t address, next;         /* of it and what follows it, as far as known */
    uint32_t line, at;              /* at: byte of the text */
    uint32_t index;
};

/* Instructions by name, without _e32, _e64, _dpp and _sdwa. Operands, destinations first, one character each:
 *     w 32 bits   f f32   h f16 or bf16   i 16 bits, whole   p two of 16 bits (VOP3P)   q two f32   l 64 bits   d f64
 *     x f32 or half of a register, by op_sel_hi (fma_mix)   m a mask of lanes   M the mask vcc, not written
 *     s a scalar of 32 bits   L of 64   c a scalar or constant   k 16 bits, signed   u 16 bits   1 to 8 so many
 *     registers, A to D 4, 8, 16, 32, a dot any number of them
 * A dash ends the destinations. With + the first destination is the last source, too. */
enum form_flags {
    FORM_TIED = 1, FORM_EXEC = 2 /* v_cmpx */, FORM_SCC = 4 /* is written */, FORM_SCC_IN = 8, FORM_BITS = 16 /* bit by
    bit */, FORM_SATURATES = 32 /* clamp is its own */, FORM_ALWAYS = 64 /* whatever EXEC is */, FORM_MATRIX = 128,
    FORM_SHIFTS = 256 /* each bit of the result is one of the first source, which one by the second */
};
struct reader;
struct statement;
struct form {
    const char *name, *operands;
    lane_run *lanes;
    scalar_run *scalar;
    wave_run *run;
    uint16_t flags;
    uint8_t sub, define;
    void (*read)(struct reader *r, const struct form *f, struct statement *s, struct op *o); /* NULL: by operands */
    uint8_t space, width, count, d16, signs; /* d16: 1 the lower half of the destination, 2 the upper; 0 all */
};
/* statement.c: `bitop3:0x54` */
void amdgpu_read_table(struct reader *r, const struct form *f, struct statement *s, struct op *o);
struct forms {
    const struct form *forms;
    size_t n;
};
/* lanes.c, compiled once for every CPU and once for those with AVX2; scalar.c, cross.c, matrix.c, .. */
extern const struct forms amdgpu_lane_forms_base, amdgpu_lane_forms_avx2;
struct forms amdgpu_lane_forms(void), amdgpu_scalar_forms(void), amdgpu_cross_forms(void), amdgpu_matrix_forms(void),
    amdgpu_memory_forms(void), amdgpu_shared_forms(void), amdgpu_control_forms(void),
    amdgpu_wait_forms(void), amdgpu_barrier_forms(void), amdgpu_atomic_forms(void);

/* ---- modules ---- */

/* What the hardware puts into registers before a kernel begins, in this order; of a kernel descriptor. */
struct setup {
    uint8_t private_buffer, dispatch, queue, kernarg, dispatch_id, flat_scratch, private_size; /* user SGPRs, 0 or 1 */
    uint8_t preload_length, preload_offset, user_sgprs;
    uint8_t group_id[3], group_info, private_offset;
    uint8_t work_item;   /* 0: x, 1: x and y, 2: all */
    uint8_t packed_item; /* in v0 alone */
    uint8_t flush;       /* as in amdgpu_facts */
};
/* An argument that the runtime fills in. */
enum hidden_kind {
    HIDDEN_NONE, HIDDEN_BLOCKS, HIDDEN_GROUP_SIZE, HIDDEN_REMAINDER, HIDDEN_OFFSET, HIDDEN_DIMS, HIDDEN_SHARED_SIZE,
    HIDDEN_PRIVATE_BASE, HIDDEN_SHARED_BASE
};
struct hidden {
    enum hidden_kind kind;
    uint8_t dimension;
    size_t offset, size;
};
struct amdgpu_kernel {
    const struct amdgpu_module *module;
    const char *name;
    struct amdgpu_info info;
    struct amdgpu_param *params;
    struct hidden *hidden;
    size_t n_hidden;
    struct setup setup;
    uint64_t entry;            /* address */
    uint32_t first;            /* index of its first instruction */
    int shared_shift, global_shift; /* the narrowest access: checks keep a cell for so many bytes, a power of two */
};
struct amdgpu_module {
    struct arena arena;
    char target[32];
    int generation;       /* 9, 10, 11, 12 */
    int mi200;            /* gfx90a and later of generation 9: work-items packed */
    char *text;
    size_t length, n_lines;
    struct op *ops;
    size_t n_ops;
    uint32_t n_vectors;   /* registers that are used */
    unsigned char *image; /* of the object, by address */
    size_t image_size;
    struct amdgpu_kernel *kernels;
    size_t n_kernels;
};

/* ---- a launch that runs ---- */

struct launch {
    const struct amdgpu_kernel *kernel;
    const struct amdgpu_launch *asked;
    uint32_t work_dim, n_items, n_waves, wave;
    uint64_t n_groups;
    struct group_order order;
    size_t shared_bytes, scratch_bytes;
    unsigned char *kernarg, packet[64];
    struct region *buffers;
    struct region own[3]; /* image, kernarg, packet */
    uint64_t limit;
    int checked, threaded;
    struct state *state; /* what workers share, see launch.c */
};
enum { OWN_IMAGE, OWN_KERNARG, OWN_PACKET, N_OWN };
#define OWN_ADDRESS(k) ((uint64_t)(MAX_BUFFERS + 1 + (k)) << BUFFER_SHIFT)

/* Sources of a vector instruction as it takes them, and its results before they are written. */
struct issue {
    lane_u32 space[MAX_SOURCES][2 * MAX_LANES];
    const lane_u32 *source[MAX_SOURCES];
    uint64_t defined[MAX_SOURCES][2];
    lane_u32 out[2 * MAX_LANES];
    uint64_t out_defined[2], mask, bits;
};

struct wave {
    lane_u32 *v;               /* registers, of n lanes each */
    uint64_t *defined;         /* of each register: lanes */
    uint32_t *pending;         /* of each register's halves, the lower one first: the number of its load */
    uint8_t *pending_on;       /* the same: enum counter */
    uint32_t n;
    uint32_t s[N_SCALARS], s_defined[N_SCALARS]; /* bit by bit */
    uint32_t s_pending[N_SCALARS];
    uint32_t scc, scc_defined;
    uint32_t issued[N_COUNTERS], complete[N_COUNTERS], stores; /* stores: number of the last one to LDS */
    uint64_t existing;         /* lanes that are work-items */
    uint32_t pc, index;
    int ended, signalled, waits, flush;
    uint8_t indexed;           /* registers by M0: bits of sources 0 to 2 and the destination */
    uint32_t ticket;           /* of the barrier that it has signalled */
    struct warp_order order;
    unsigned char *scratch, *scratch_written;
    struct region scratch_region;
    uint64_t slice;
    struct worker *worker;
};

/* Where elements of the matrices of a shape lie, see matrix.c. Shapes are few in a program, so one is kept. */
struct matrix_map {
    int shape; /* + 1; 0: none */
    uint16_t row[MAX_LANES], block[MAX_LANES], k[MAX_LANES]; /* of a lane's first element of A; of B row is column */
    uint16_t d[32][MAX_LANES];                               /* [block][row][column] of elements of C and D */
};

/* One host thread: executes one group at a time. */
struct worker {
    struct launch *launch;
    struct wave *waves;
    struct issue issue[2];
    struct matrix_map map;
    struct region shared;
    void *allocations[8];      /* see launch.c */
    uint32_t group[3];
    uint64_t group_linear, last_epoch, executed, random;
    struct meeting meeting; /* at the barrier */
    int stop;                  /* the launch ends */
    struct amdgpu_stats stats;
    uint64_t *per_op;
};

/* launch.c */
void launch_lock(struct launch *launch);
void launch_unlock(struct launch *launch);
int launch_tell(struct launch *launch, const struct op *o, struct finding *finding); /* true: the launch is to end */
void launch_end(struct launch *launch);
/* run.c */
void worker_group(struct worker *worker);
/* begin.c */
void begin_wave(struct wave *w);
void begin_kernarg(struct launch *launch);
/* fetch.c */
void fetch_sources(struct wave *w, const struct op *o, struct issue *is);
uint64_t fetch_scalar(const struct wave *w, const struct operand *o);
uint64_t fetch_scalar_defined(const struct wave *w, const struct operand *o);
const lane_u32 *fetch_plain(struct wave *w, const struct operand *o, unsigned word, lane_u32 *space); /* n lanes */
uint64_t fetch_defined(const struct wave *w, const struct operand *o, unsigned word);
/* issue.c */
wave_run issue_lanes, issue_pair, issue_scalar;
void issue_put(struct wave *w, uint32_t reg, uint64_t mask, const lane_u32 *from, uint64_t defined);
void issue_put_scalar(struct wave *w, const struct operand *o, uint64_t x, uint64_t defined);
void issue_put_exec(struct wave *w, const struct op *o, uint64_t x, uint64_t defined);
/* memory.c */
struct access {
    uint64_t address[MAX_LANES];
    unsigned char *at[MAX_LANES];
    uint64_t good; /* lanes whose address is in bounds */
    uint64_t unwritten[UNWRITTEN_WORDS]; /* of a read: lanes that found in a word what nobody has written */
    unsigned char nowhere[64];
};
void memory_resolve(struct wave *w, const struct op *o, enum space space, uint64_t mask, size_t size, int access,
                    struct access *a);
void memory_poison(unsigned char *to, size_t size);
/* wait.c */
void wait_issued(struct wave *w, const struct op *o, const struct operand *to); /* to: NULL of stores */
void wait_check(struct wave *w, const struct op *o);
void wait_barrier(struct wave *w, const struct op *o);
/* barrier.c */
void barrier_begin(struct worker *worker);
int barrier_waits(struct wave *w);
/* check.c */
touch_tell check_touch;
void check_lanes(struct wave *w, const struct op *o, enum finding_kind kind, uint64_t lanes);
void check_address(struct wave *w, const struct op *o, const struct operand *a, unsigned words, uint64_t mask);
void check_end(struct wave *w, const struct op *o, enum finding_kind kind, uint64_t lanes); /* ends the launch */
wave_run control_nothing;

/* ---- lanes ---- */

static inline lane_u32 *vector_of(const struct wave *w, uint32_t reg)
{
    return w->v + (size_t)reg * w->n;
}

static inline uint64_t all_lanes(const struct wave *w)
{
    return w->n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << 32) - 1;
}

static inline uint64_t exec_of(const struct wave *w)
{
    return w->n == 64 ? (uint64_t)w->s[REG_EXEC + 1] << 32 | w->s[REG_EXEC] : w->s[REG_EXEC];
}

#endif
