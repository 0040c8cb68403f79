/* inside.h - what the files of the interpreter share: decoded kernels, and the state of one that runs
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reading: gen_module_read() -> object.c, metadata.c -> read.c -> statement.c, message.c. Running: gen_run() ->
 * launch.c -> run.c, where each instruction is a function of the thread: issue.c for lanes, access.c, control.c, .. */
#ifndef GEN_INSIDE_H
#define GEN_INSIDE_H

#include <string.h>

#include "gen.h"
#include "offline/frame/arena.h"
#include "offline/frame/lanes.h"
#include "offline/frame/shadow.h"
#include "offline/frame/small.h"
#include "offline/frame/why.h"

enum {
    MAX_LANES = 32,
    MAX_SOURCES = 3,
    BUFFER_SHIFT = 34,  /* addresses: (buffer + 1) << BUFFER_SHIFT | offset, in 47 bits as the hardware has them */
    MAX_BUFFERS = LAUNCH_BUFFERS_MAX, /* what the module and the launch have of their own lies behind them */
    MAX_SHARED = 1 << 17,
    SURFACE_SHIFT = 6,  /* handles of surfaces: (parameter + 1) << SURFACE_SHIFT */
    PAYLOAD_BASE = 1 << 16, /* offset of the arguments in what r0.0 points at */
    SHARED_TAG = 0x10000000, /* IGC puts this bit into pointers to SLM so that they are not null */
    N_FLAGS = 4
};

/* All registers of a thread are bytes of one array, each file from an offset on. */
enum {
    FILE_ACC = 256 * 64,
    FILE_FLAG = FILE_ACC + 16 * 64,
    FILE_ADDRESS = FILE_FLAG + 64,
    FILE_CONTROL = FILE_ADDRESS + 64,
    FILE_STATE = FILE_CONTROL + 64,
    FILE_SCALAR = FILE_STATE + 64,
    FILE_NULL = FILE_SCALAR + 64,
    FILE_BYTES = FILE_NULL + 4096
};

/* ---- decoded instructions ---- */

struct thread;
struct op;
typedef void thread_run(struct thread *t, const struct op *o);

union lane {
    int64_t i;
    uint64_t u;
    double r;
};

/* An instruction on its lanes. Whole numbers are extended to 64 bits, real ones are exact in double. */
struct lanes {
    const union lane *in[MAX_SOURCES];
    union lane *out;
    unsigned n;
    const struct op *op;
    struct thread *thread;
    int approximate;
    uint32_t mask, known; /* lanes that are on; whose results are defined */
};
typedef void lane_run(struct lanes *x);

enum type { TYPE_UB, TYPE_B, TYPE_UW, TYPE_W, TYPE_UD, TYPE_D, TYPE_UQ, TYPE_Q, TYPE_HF, TYPE_BF, TYPE_F, TYPE_DF,
            N_TYPES };
static inline int type_real(uint8_t type)
{
    return type >= TYPE_HF;
}

enum operand_file { IN_GRF, IN_ACC, IN_FLAG, IN_ADDRESS, IN_CONTROL, IN_STATE, IN_SCALAR, IN_NULL, IN_CONST };
struct operand {
    uint8_t file, type, size;
    uint8_t negate, absolute, invert;
    uint8_t indirect;            /* from where a word of a0 says, + 1; `at` begins there */
    uint16_t reg, sub;
    const uint16_t *at;          /* of each lane: offset in the registers, or in `constant` */
    const unsigned char *constant;
};

enum condition { COND_NONE, COND_EQ, COND_NE, COND_GT, COND_GE, COND_LT, COND_LE, COND_UN };

/* What of the sources has to be defined. */
enum form_flags {
    FORM_MOVE = 1,     /* nothing is computed: what is undefined stays so */
    FORM_SELECTS = 2,  /* by the predicate, which is no condition of execution then */
    FORM_WIDE = 4,     /* reads the accumulator, where products are whole */
    FORM_COMPARES = 8, /* the condition is its own, no flag is set by the result */
    FORM_BITS = 16,    /* the result is bits, of whatever type */
    FORM_PRODUCT = 32  /* of unsigned numbers of 32 bits it fills all 64 */
};

/* Messages to memory. */
enum message_op { MESSAGE_LOAD, MESSAGE_STORE, MESSAGE_ATOMIC };
enum surface { SURFACE_FLAT, SURFACE_BSS, SURFACE_SS, SURFACE_BTI };
struct message {
    uint8_t op, space;           /* enum space: global or shared */
    uint8_t address_bytes, width, stored, count; /* of an element: in memory, in registers; how many per address */
    uint8_t transposed, surface, atomic, vnni, block2d;
    uint8_t oword, scratch;      /* block messages of the older data port */
    uint32_t index;              /* of a bti, or which word of a0 has the surface */
    int32_t offset, offset_y;
    uint16_t to, from, data;     /* registers, NO_REGISTER: none */
    uint16_t gather;             /* the payload is registers that bytes of s0 name, from this one on; or NO_REGISTER */
    uint8_t gather_skips;        /* registers of the payload before the data */
};
enum { NO_REGISTER = 0xffff };

struct op {
    thread_run *run;
    lane_run *lanes;
    struct operand dst, src[MAX_SOURCES];
    struct operand accumulator;  /* of FORM_WIDE */
    uint8_t n_src, has_dst;
    uint8_t width, first;        /* lanes */
    uint8_t no_mask, saturate;
    uint8_t predicated, inverted, flag;     /* flag: register * 32 + its first bit */
    uint8_t condition, condition_flag;
    uint8_t real;                /* computes real numbers, of type: */
    uint8_t exec_type;
    uint8_t flags;               /* enum form_flags */
    uint8_t sub;                 /* the form's own */
    uint8_t is_matrix;
    uint8_t depth, repeat;       /* of dpas */
    const struct message *message;
    uint32_t jip, uip;           /* indices of instructions */
    uint32_t line, at;           /* at: byte of the text */
    uint32_t index;
};

struct reader;
struct statement;
struct form {
    const char *name; /* whole, or what stands before the first dot */
    uint8_t n_src;
    lane_run *whole, *real;
    thread_run *run;
    void (*read)(struct reader *r, const struct form *f, struct statement *s, struct op *o); /* NULL: by operands */
    uint8_t flags, sub;
};
struct forms {
    const struct form *forms;
    size_t n;
};
struct forms gen_whole_forms(void), gen_real_forms(void), gen_control_forms(void), gen_message_forms(void),
    gen_send_forms(void), gen_matrix_forms(void);

/* ---- modules ---- */

/* What of the arguments lies where. */
enum payload_kind {
    PAYLOAD_POINTER, PAYLOAD_SURFACE, PAYLOAD_SHARED, PAYLOAD_VALUE, PAYLOAD_BUFFER_OFFSET, PAYLOAD_GROUP_COUNT,
    PAYLOAD_LOCAL_SIZE, PAYLOAD_GLOBAL_OFFSET, PAYLOAD_GLOBAL_SIZE, PAYLOAD_WORK_DIM, PAYLOAD_PRIVATE,
    PAYLOAD_CONST, PAYLOAD_ZERO
};
struct payload {
    enum payload_kind kind;
    size_t offset, size, source;
    uint32_t param;
};
struct binding {
    uint32_t index, param;
};
struct gen_kernel {
    const struct gen_module *module;
    const char *name;
    struct gen_info info;
    struct gen_param *params;
    struct payload *payload;
    size_t n_payload, payload_bytes, inline_bytes;
    struct binding *bindings;
    size_t n_bindings;
    size_t local_id_bytes;     /* per thread; 0: kernels do not ask */
    size_t private_bytes;      /* per work-item, in global memory */
    int plain;                 /* of text: arguments are in registers from the beginning */
    uint32_t grf;              /* bytes of a register */
    char *text;
    struct op *ops;
    int shared_shift, global_shift; /* the narrowest access: checks keep a cell for so many bytes, a power of two */
};
struct gen_module {
    struct arena arena;
    struct gen_kernel *kernels;
    size_t n_kernels;
    unsigned char *constants;  /* of the program's scope */
    size_t constants_size;
};

/* ---- a launch that runs ---- */

struct launch {
    const struct gen_kernel *kernel;
    const struct gen_launch *asked;
    uint32_t work_dim, n_items, n_threads;
    uint64_t n_groups;
    struct group_order order;
    size_t shared_bytes, scratch_bytes;
    unsigned char *payload;    /* all arguments */
    size_t payload_bytes, rest, per_thread; /* in memory: what is not inline, rounded up; local ids of a thread */
    struct region *buffers, constants;
    uint64_t limit;
    int checked, threaded;
    struct state *state;       /* what workers share, see launch.c */
};
#define OWN_ADDRESS(k) ((uint64_t)(MAX_BUFFERS + 1 + (k)) << BUFFER_SHIFT)
enum { OWN_CONSTANTS, OWN_PRIVATE };

struct thread {
    unsigned char *file, *known; /* FILE_BYTES each; known: 1 for each byte that was written */
    int64_t wide[MAX_LANES];     /* products that do not fit into acc0's bytes */
    uint32_t flag_known[N_FLAGS];
    uint32_t existing, active;   /* lanes */
    uint32_t waits_for[MAX_LANES]; /* of lanes that are off: where they come back */
    uint32_t ip, index;
    int ended, signalled, waits;
    uint32_t ticket;             /* of the barrier that it has signalled */
    uint64_t executed;
    struct warp_order order;
    unsigned char *scratch, *scratch_known;
    struct region scratch_region;
    struct worker *worker;
};

/* One host thread: executes one group at a time. */
struct worker {
    struct launch *launch;
    struct thread *threads;
    struct region shared, payload, private_memory;
    void *allocations[8];        /* see launch.c */
    uint32_t group[3];
    uint64_t group_linear, last_epoch, executed, random;
    struct meeting meeting; /* at the barrier */
    int stop;                    /* the launch ends */
    struct gen_stats stats;
    uint64_t *per_op;
};

/* launch.c */
void launch_lock(struct launch *launch);
void launch_unlock(struct launch *launch);
int launch_tell(struct launch *launch, const struct op *o, struct finding *finding); /* true: the launch is to end */
void launch_end(struct launch *launch);
/* worker.c */
void *worker_new(void *launch, uint64_t number);
void worker_free(void *worker);
/* begin.c */
void begin_payload(struct launch *launch);
void begin_thread(struct thread *t);
/* run.c */
void run_group(struct worker *worker);
/* issue.c */
thread_run issue_lanes, issue_indirect;
uint32_t issue_mask(struct thread *t, const struct op *o); /* lanes that are on, the first one bit 0 */
uint32_t issue_flag(const struct thread *t, unsigned flag, unsigned first, unsigned width);
void issue_set_flag(struct thread *t, const struct op *o, uint32_t mask, uint32_t bits, uint32_t known);
/* fetch.c */
void fetch_lanes(const struct thread *t, const struct operand *o, unsigned n, union lane *to);
uint32_t fetch_known(const struct thread *t, const struct operand *o, unsigned n); /* lanes */
void fetch_put(struct thread *t, const struct op *o, const union lane *from, uint32_t mask, uint32_t known);
union lane fetch_stored(const struct thread *t, const struct op *o, union lane x); /* a result as dst will hold it */
void fetch_copy(struct thread *t, const struct op *o, uint32_t mask); /* bits as they are */
int fetch_rounding(const struct thread *t);
int fetch_flushes(const struct thread *t, uint8_t type);
/* memory.c */
struct access {
    uint64_t address[MAX_LANES];
    unsigned char *at[MAX_LANES];
    uint32_t good; /* lanes whose address is in bounds */
    uint64_t unwritten[UNWRITTEN_WORDS]; /* of a read: lanes that found in a word what nobody has written */
};
struct place {
    const struct region *region; /* NULL: by the address */
    enum space space;
    size_t alignment;
};
struct place memory_place(const struct thread *t, const struct message *m);
void memory_resolve(struct thread *t, const struct op *o, const struct place *p, uint32_t mask, size_t size, int access,
                    struct access *a);
unsigned char *memory_known(const struct thread *t, const unsigned char *at); /* of scratch; else NULL */
uint64_t memory_surface(const struct thread *t, const struct op *o); /* where a surface begins */
/* access.c: loads and stores of lanes; block.c: those of whole registers; atomic.c */
thread_run message_access, message_fence, message_end, block_transposed, block_2d, block_oword, block_scratch,
    atomic_access;
unsigned atomic_operands(uint8_t op); /* of an atomic message: 0 to 2 */
void access_addresses(struct thread *t, const struct op *o, uint32_t mask, struct access *a);
size_t access_data(const struct thread *t, const struct message *m, size_t offset); /* of a byte of the data */
void access_need(struct thread *t, const struct op *o, size_t at, size_t size, unsigned lane); /* has to be known */
/* barrier.c */
thread_run barrier_signal, barrier_wait;
void barrier_begin(struct worker *worker);
int barrier_waits(struct thread *t);
/* check.c */
touch_tell check_touch;
void check_lanes(struct thread *t, const struct op *o, enum finding_kind kind, uint32_t lanes);
void check_end(struct thread *t, const struct op *o, enum finding_kind kind, uint32_t lanes); /* ends the launch */

static inline uint32_t lanes_below(unsigned n)
{
    return n >= 32 ? 0xffffffffu : ((uint32_t)1 << n) - 1;
}

#endif
