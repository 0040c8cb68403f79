/* inside.h - what the files of the interpreter share: decoded kernels, and the state of one that runs
 * SPDX-License-Identifier: Apache-2.0
 *
 *     arena, text -> read (+ forms) -> kernels of struct op        at ptx_module_read()
 *     launch -> run -> alu, mma, collective, memory -> check        at ptx_run() */
#ifndef PTX_INSIDE_H
#define PTX_INSIDE_H

#include "offline/frame/arena.h"
#include "offline/frame/shadow.h"
#include "offline/frame/small.h"
#include "offline/frame/why.h"
#include "ptx.h"

enum {
    LANES = 32,
    MAX_BARRIERS = 16,  /* of a group, as PTX has them */
    RECENT = 64,
    MAX_OPERANDS = 20,  /* registers of an instruction: mma has 14, ld.v4 and its kin fewer */
    VAR_SHIFT = 22,     /* shared, local and parameter addresses: (variable + 1) << VAR_SHIFT | offset */
    BUFFER_SHIFT = 40,  /* global addresses: (buffer + 1) << BUFFER_SHIFT | offset */
    MAX_BUFFERS = LAUNCH_BUFFERS_MAX, /* tables of the module lie behind them */
    MAX_VARS = 1000     /* of a space: addresses of 32 bits reach them */
};
/* Generic addresses outside global memory carry the window that they came from. */
#define WINDOW_SHARED ((uint64_t)1 << 61)
#define WINDOW_LOCAL ((uint64_t)1 << 62)
#define WINDOW_PARAM ((uint64_t)3 << 61)
#define WINDOWS ((uint64_t)3 << 61)

#if defined(__GNUC__)
#define PTX_MAY_ALIAS __attribute__((may_alias))
#else
#define PTX_MAY_ALIAS
#endif

/* A register is 32 lanes of 32 bits ("slot"), two slots if it has 64. What is narrower lies zero-extended in 32 bits. A
 * predicate is one bit per lane in the slot's first word. All kinds share one array, so these may alias. */
typedef uint32_t PTX_MAY_ALIAS lane_u32;
typedef int32_t PTX_MAY_ALIAS lane_s32;
typedef uint64_t PTX_MAY_ALIAS lane_u64;
typedef int64_t PTX_MAY_ALIAS lane_s64;
typedef float PTX_MAY_ALIAS lane_f32;
typedef double PTX_MAY_ALIAS lane_f64;

enum ptx_type {
    T_NONE, T_PRED, T_B8, T_U8, T_S8, T_B16, T_U16, T_S16, T_F16, T_BF16, T_B32, T_U32, T_S32, T_F32, T_F16X2, T_BF16X2,
    T_B64, T_U64, T_S64, T_F64, T_B128, T_TYPES
};

enum op_kind {
    OP_LANES,   /* run() on each lane for itself */
    OP_WARP,    /* run() when all lanes of the member mask have come */
    OP_FENCE,   /* bar.warp.sync: the same, and it orders memory */
    OP_LOAD, OP_STORE, OP_ATOM, OP_LDMATRIX,
    OP_BRANCH, OP_EXIT, OP_BARRIER,
    OP_NOTHING  /* membar and fence: lanes see memory in order here anyway */
};

struct warp;
struct op;
typedef void op_run(struct warp *w, const struct op *o, uint32_t mask);

struct op {
    op_run *run;
    uint8_t kind, n_dst, n_src;
    uint8_t type, type2;        /* enum ptx_type */
    uint8_t round, ftz, sat;
    uint8_t integral;           /* cvt .rni and its kin: round to a whole number */
    uint8_t sub;                /* comparison, mode, operation: by kind of instruction */
    uint8_t combine;            /* of setp: 0 none, .and .or .xor */
    uint8_t space;              /* enum space, NONE: generic */
    uint8_t width, count;       /* of accesses: bytes of an element, elements */
    uint8_t wide_address;       /* in 64 bits */
    uint8_t guarded, guard_not;
    uint8_t aligned;            /* of barriers: all lanes of a warp at one instruction */
    uint8_t whole;              /* all 32 lanes take part, else those of the last source */
    uint32_t guard;
    uint32_t reg[MAX_OPERANDS]; /* slots: destinations, then sources; of accesses the address is the first source */
    int64_t offset;             /* of the address */
    uint32_t target;            /* of branches */
    uint32_t line, at, file, file_line; /* at: byte of the text */
    uint32_t index;             /* in its kernel */
};

/* Comparisons, in the order of PTX's manual. */
enum compare { C_EQ, C_NE, C_LT, C_LE, C_GT, C_GE, C_EQU, C_NEU, C_LTU, C_LEU, C_GTU, C_GEU, C_NUM, C_NAN, N_COMPARE };
enum combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };
enum shfl_mode { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum vote_mode { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum atom_op { ATOM_ADD, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_MIN, ATOM_MAX, ATOM_INC, ATOM_DEC, ATOM_EXCH, ATOM_CAS };

/* Instructions that work on each lane by itself are a table: by name without rounding, .ftz and .sat; one character
 * per operand, destination first: p predicate, h 16 bits, w 32, l 64. */
enum { MOD_RN = 1, MOD_ROUND = 2 | MOD_RN, MOD_FTZ = 4, MOD_SAT = 8 };
struct form {
    const char *name, *operands;
    int mods;
    op_run *run;
    uint8_t sub;
};
/* All that is compiled once for every CPU and once for those with AVX2 (lanes.c, lanes_avx2.c). */
struct lane_code {
    const struct form *forms;
    size_t n_forms;
    op_run *compare[T_TYPES][N_COMPARE];
    op_run *convert, *move_w, *move_l, *move_p, *pack, *unpack, *mma, *shfl, *vote, *movmatrix, *redux;
    op_run *convert_s32_f32, *convert_f16_f32, *convert_f32_f16, *convert_s32_s64, *convert_u32_u64, *convert_low;
};
const struct lane_code *ptx_lane_code(void);
extern const struct lane_code ptx_lane_code_base, ptx_lane_code_avx2;

/* ---- modules ---- */

struct variable {
    const char *name;
    size_t size, align;
    size_t at;                 /* byte in the storage of its space */
    const unsigned char *init; /* of tables */
};
struct constant {
    uint64_t value;
    uint32_t slot;
    int width; /* 4, 8 */
};
enum special {
    S_TID_X, S_TID_Y, S_TID_Z, S_NTID_X, S_NTID_Y, S_NTID_Z, S_CTAID_X, S_CTAID_Y, S_CTAID_Z, S_NCTAID_X, S_NCTAID_Y,
    S_NCTAID_Z, S_ENVREG0, S_ENVREG9 = S_ENVREG0 + 9, S_LANEID, S_WARPID, S_NWARPID, S_MASK_EQ, S_MASK_LT, S_MASK_LE,
    S_MASK_GT, S_MASK_GE, N_SPECIAL
};
extern const char *const ptx_special_names[N_SPECIAL];

struct ptx_kernel {
    const struct ptx_module *module;
    const char *name;
    struct ptx_info info;
    struct ptx_param *params;
    size_t *param_at; /* byte in the block of parameters */
    size_t param_bytes;
    struct op *ops;
    size_t n_ops;
    uint32_t n_slots;
    uint32_t special[N_SPECIAL]; /* slot + 1, 0: not used */
    struct constant *constants;
    size_t n_constants;
    struct variable *shared, *local;
    size_t n_shared, n_local;
    size_t shared_bytes, local_bytes;
    int shared_grain, global_grain; /* the narrowest access: checks keep a cell for so many bytes.. */
    int shared_shift, global_shift; /* ..a power of two */
};

struct ptx_module {
    struct arena arena;
    char *text;
    size_t length;
    int target;
    struct ptx_kernel *kernels;
    size_t n_kernels;
    struct variable *tables;
    size_t n_tables;
    struct source_file {
        uint32_t number;
        const char *name;
    } *files;
    size_t n_files;
};

int ptx_type_bytes(enum ptx_type type);

/* ---- a launch that runs ---- */

struct launch {
    const struct ptx_kernel *kernel;
    const struct ptx_launch *asked;
    uint32_t total_grid[3], work_dim;
    uint64_t n_groups;
    struct group_order order;
    uint32_t n_threads, n_warps;
    struct variable *shared; /* the kernel's and those of arguments */
    size_t n_shared, shared_bytes;
    unsigned char *params;
    struct region *buffers, *tables, *param_regions;
    uint32_t *defined; /* per slot, at the beginning of a group */
    uint64_t limit;
    int checked, threaded;
    struct state *state; /* what workers share, see launch.c */
};

struct warp {
    lane_u32 *regs;
    uint32_t *defined;          /* per slot: lanes that were written */
    uint32_t pc[LANES];
    uint32_t alive, blocked;    /* blocked: at an instruction that waits for other lanes */
    uint32_t at_barrier;        /* lanes that wait at a barrier of the group */
    uint32_t index;
    int arrived;                /* at a barrier of the group with all lanes */
    int rotate;                 /* another choice of lanes than the schedule's: somebody may wait for them */
    uint64_t slice;             /* worker->executed at which others may run */
    struct warp_order order;
    struct region *local;       /* its copies of the kernel's local arrays */
    uint64_t recent[RECENT];    /* shared addresses that check_shared() said so of since the last fence, see memory.c */
    int approximate;
    struct worker *worker;
};

struct barrier {
    uint32_t threads, expected; /* come; wanted */
    uint32_t waiting, warps;    /* warps that wait; all that came */
};

/* One host thread: executes one group at a time. */
struct worker {
    struct launch *launch;
    struct warp *warps;
    struct region *shared, *local;
    unsigned char *registers, *shared_data, *local_data, *local_written; /* allocations, see launch.c */
    uint32_t *defined;
    uint64_t *stamps;
    uint32_t group[3];     /* %ctaid */
    uint64_t group_linear, last_epoch, executed, random;
    struct barrier barriers[MAX_BARRIERS];
    int stop;              /* the launch ends */
    struct ptx_stats stats;
};

/* launch.c */
void launch_lock(struct launch *launch);
void launch_unlock(struct launch *launch);
int launch_tell(struct launch *launch, const struct op *o,
                struct finding *finding); /* true: the launch is to end */
/* run.c */
void worker_group(struct worker *worker);
/* memory.c */
void memory_poison(unsigned char *to, size_t size);
void memory_clear(unsigned char *to, size_t size);
void memory_load(struct warp *w, const struct op *o, uint32_t mask);
void memory_store(struct warp *w, const struct op *o, uint32_t mask);
void memory_atom(struct warp *w, const struct op *o, uint32_t mask);
void memory_ldmatrix(struct warp *w, const struct op *o, uint32_t mask);
/* check.c */
touch_tell check_touch;
void check_registers(struct warp *w, const struct op *o, uint32_t missing);
void check_end(struct warp *w, const struct op *o, enum finding_kind kind, uint32_t lanes); /* ends the launch */
void check_fence(struct warp *w);                          /* what its lanes did is in order from now on */
void check_barrier(struct worker *worker, uint32_t warps); /* what these did */

/* ---- lanes ---- */

static inline lane_u32 *reg_u32(const struct warp *w, uint32_t slot)
{
    return w->regs + (size_t)slot * LANES;
}

#endif
