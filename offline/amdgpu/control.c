/* control.c - branches, ends, and what does nothing here
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "reader.h"

/* ---- branches ---- */

static void read_branch(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    if (s->n_operands != 1)
        fail(r, "%s takes one target", f->name);
    add_branch(r, o, s->operands[0]);
}

/* At every branch: has it gone on for too long? Are others to have a chance? */
static void go(struct wave *w, const struct op *o)
{
    struct worker *worker = w->worker;
    w->pc = o->target;
    if (worker->executed >= worker->launch->limit)
        check_end(w, o, FOUND_NO_PROGRESS, exec_of(w));
}

static void check_bits(struct wave *w, const struct op *o, int defined)
{
    if (!defined && w->worker->launch->checked)
        check_lanes(w, o, FOUND_READ_REGISTER, exec_of(w));
}

static void branch(struct wave *w, const struct op *o)
{
    go(w, o);
}

static void branch_scc(struct wave *w, const struct op *o)
{
    check_bits(w, o, (int)w->scc_defined);
    if (w->scc == o->sub)
        go(w, o);
}

static void branch_vcc(struct wave *w, const struct op *o)
{
    const uint64_t field = all_lanes(w);
    const uint64_t bits = (w->s[REG_VCC] | (uint64_t)w->s[REG_VCC + 1] << 32) & field;
    const uint64_t defined = (w->s_defined[REG_VCC] | (uint64_t)w->s_defined[REG_VCC + 1] << 32) & field;
    check_bits(w, o, defined == field || (bits & defined)); /* one that is set decides */
    if ((bits != 0) == o->sub)
        go(w, o);
}

static void branch_exec(struct wave *w, const struct op *o)
{
    if ((exec_of(w) != 0) == o->sub)
        go(w, o);
}

static void end_program(struct wave *w, const struct op *o)
{
    (void)o;
    w->ended = 1;
}

/* Behind the end of a kernel, or of the listing; where a compiler means that nobody comes. */
static void beyond(struct wave *w, const struct op *o)
{
    check_end(w, o, FOUND_OUTSIDE, exec_of(w));
}

void control_nothing(struct wave *w, const struct op *o)
{
    (void)w, (void)o;
}

/* ---- program counters ---- */

static void get_pc(struct wave *w, const struct op *o)
{
    issue_put_scalar(w, &o->dst[0], OWN_ADDRESS(OWN_IMAGE) + o->next, ~(uint64_t)0);
}

static void set_pc(struct wave *w, const struct op *o)
{
    const struct amdgpu_module *m = w->worker->launch->kernel->module;
    const uint64_t to = fetch_scalar(w, &o->src[0]) - OWN_ADDRESS(OWN_IMAGE);
    size_t low = 0, high = m->n_ops;
    check_bits(w, o, fetch_scalar_defined(w, &o->src[0]) == ~(uint64_t)0);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (m->ops[middle].address < to)
            low = middle + 1;
        else
            high = middle;
    }
    if (o->n_dst)
        get_pc(w, o);
    if (low < m->n_ops && m->ops[low].address == to)
        w->pc = (uint32_t)low;
    else
        beyond(w, o);
    if (w->worker->executed >= w->worker->launch->limit)
        check_end(w, o, FOUND_NO_PROGRESS, exec_of(w));
}

/* ---- EXEC saved and changed ---- */

enum save { SAVE_AND, SAVE_OR, SAVE_XOR, SAVE_AND_NOT1, SAVE_OR_NOT1, SAVE_AND_NOT0, SAVE_OR_NOT0, SAVE_NAND, SAVE_NOR,
            SAVE_XNOR };

static uint64_t combined(int what, uint64_t s, uint64_t e)
{
    switch (what) {
    case SAVE_AND: return s & e;
    case SAVE_OR: return s | e;
    case SAVE_XOR: return s ^ e;
    case SAVE_AND_NOT1: return s & ~e;
    case SAVE_OR_NOT1: return s | ~e;
    case SAVE_AND_NOT0: return ~s & e;
    case SAVE_OR_NOT0: return ~s | e;
    case SAVE_NAND: return ~(s & e);
    case SAVE_NOR: return ~(s | e);
    default: return ~(s ^ e);
    }
}

static void save_exec(struct wave *w, const struct op *o)
{
    const uint64_t exec = exec_of(w), s = fetch_scalar(w, &o->src[0]);
    const uint64_t defined = fetch_scalar_defined(w, &o->src[0]), all = all_lanes(w);
    const uint64_t either = combined(o->sub, s & defined, exec) ^ combined(o->sub, s | ~defined, exec);
    issue_put_scalar(w, &o->dst[0], exec, ~(uint64_t)0);
    issue_put_exec(w, o, combined(o->sub, s, exec) & all, ~either);
    w->scc = exec_of(w) != 0;
    w->scc_defined = 1;
}

/* Whole quads: all four lanes of those with one. */
static void whole_quads(struct wave *w, const struct op *o)
{
    uint64_t s = fetch_scalar(w, &o->src[0]), r = 0;
    for (int i = 0; i < 64; i += 4)
        if (s >> i & 15)
            r |= (uint64_t)15 << i;
    issue_put_scalar(w, &o->dst[0], r, fetch_scalar_defined(w, &o->src[0]) == ~(uint64_t)0 ? ~(uint64_t)0 : 0);
    w->scc = (r & all_lanes(w)) != 0;
}

/* ---- modes ---- */

enum { DENORM_F32 = 3, MODE_DENORM = 4 };

static void put_denorm(struct wave *w, uint32_t mode) /* two bits of f32, two of f16 and f64 */
{
    w->flush = ((mode & 3) != 3) | ((mode >> 2 & 3) != 3) << 1;
}

static void denorm_mode(struct wave *w, const struct op *o)
{
    put_denorm(w, (uint32_t)fetch_scalar(w, &o->src[0]));
}

/* `hwreg(HW_REG_MODE, at, bits)`: of the mode only the treatment of denormal numbers may change. */
static void read_setreg(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    const char mode[] = "hwreg(HW_REG_MODE, ";
    int64_t at = 0, bits = 0;
    if (s->n_operands != 2 || !word_begins(s->operands[0], mode))
        fail(r, "%s of something else than the mode", f->name);
    const char *p = s->operands[0].at + sizeof mode - 1, *end = s->operands[0].at + s->operands[0].length;
    const char *comma = memchr(p, ',', (size_t)(end - p));
    const struct word first = { p, comma ? (size_t)(comma - p) : 0 };
    const struct word second = { comma ? comma + 1 : p, comma ? (size_t)(end - comma - 2) : 0 };
    if (!word_number(word_trim(first), &at) || !word_number(word_trim(second), &bits) || at < MODE_DENORM ||
        at > MODE_DENORM + 3 || bits < 1 || bits > 4 || at + bits > MODE_DENORM + 4)
        fail(r, "%s changes rounding or exceptions", f->name);
    o->offset = (int32_t)(at - MODE_DENORM);
    o->offset1 = (int32_t)bits;
    read_operand(r, s->operands[1], 'c', &o->src[o->n_src++]);
}

static void set_register(struct wave *w, const struct op *o)
{
    const uint32_t now = (w->flush & 1 ? 0 : 3u) | (w->flush & 2 ? 0 : 12u);
    const uint32_t field = ((1u << o->offset1) - 1) << o->offset;
    put_denorm(w, (now & ~field) | ((uint32_t)fetch_scalar(w, &o->src[0]) << o->offset & field));
}

/* Registers of hardware that kernels read: where they run. 0 will do. */
static void read_getreg(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    (void)f;
    if (s->n_operands != 2)
        fail(r, "s_getreg_b32 takes two operands");
    read_kind(r, s->operands[0], 's', OPERAND_SCALAR, &o->dst[o->n_dst++]);
}

static void get_register(struct wave *w, const struct op *o)
{
    issue_put_scalar(w, &o->dst[0], 0, ~(uint64_t)0);
}

/* ---- registers by M0 (generation 9) ---- */

static void read_index(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    static const char *const names[] = { "SRC0", "SRC1", "SRC2", "DST" };
    (void)f;
    if (s->n_operands != 2)
        fail(r, "s_set_gpr_idx_on takes two operands");
    read_operand(r, s->operands[0], 'c', &o->src[o->n_src++]);
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k + strlen(names[i]) <= s->operands[1].length; k++)
            if (!memcmp(s->operands[1].at + k, names[i], strlen(names[i])))
                o->sub |= (uint8_t)(1 << i);
}

static void index_on(struct wave *w, const struct op *o)
{
    w->s[REG_M0] = (w->s[REG_M0] & ~0xffu) | ((uint32_t)fetch_scalar(w, &o->src[0]) & 0xff);
    w->s_defined[REG_M0] = ~0u;
    check_bits(w, o, fetch_scalar_defined(w, &o->src[0]) == ~(uint64_t)0);
    w->indexed = o->sub;
}

static void index_off(struct wave *w, const struct op *o)
{
    (void)o;
    w->indexed = 0;
}

/* ---- the table ---- */

static void read_ignored(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    (void)r, (void)f, (void)s, (void)o;
}

static void read_round_mode(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    int64_t n;
    (void)o;
    if (s->n_operands != 1 || !word_number(s->operands[0], &n) || n)
        fail(r, "%s to something else than to nearest", f->name);
}

#define BRANCH(name, run, sub) { name, "", NULL, NULL, run, 0, sub, DEFINE_ALL, read_branch, 0, 0, 0, 0, 0 }
#define PLAIN(name, operands, run, sub) { name, operands, NULL, NULL, run, 0, sub, DEFINE_ALL, NULL, 0, 0, 0, 0, 0 }
#define READ(name, run, read) { name, "", NULL, NULL, run, 0, 0, DEFINE_ALL, read, 0, 0, 0, 0, 0 }
#define NOTHING(name) READ(name, control_nothing, read_ignored)
#define SAVE(name, what)                                         \
    PLAIN("s_" name "_saveexec_b32", "s-w", save_exec, what),    \
    PLAIN("s_" name "_saveexec_b64", "L-l", save_exec, what)

static const struct form forms[] = {
    BRANCH("s_branch", branch, 0),
    BRANCH("s_cbranch_scc0", branch_scc, 0),
    BRANCH("s_cbranch_scc1", branch_scc, 1),
    BRANCH("s_cbranch_vccz", branch_vcc, 0),
    BRANCH("s_cbranch_vccnz", branch_vcc, 1),
    BRANCH("s_cbranch_execz", branch_exec, 0),
    BRANCH("s_cbranch_execnz", branch_exec, 1),
    PLAIN("s_endpgm", "", end_program, 0),
    READ("s_code_end", beyond, read_ignored),
    READ("s_trap", beyond, read_ignored), /* and what compilers put behind it */
    READ("s_sendmsg_rtn_b32", beyond, read_ignored),
    READ("s_sendmsg_rtn_b64", beyond, read_ignored),
    PLAIN("s_getpc_b64", "L-", get_pc, 0),
    PLAIN("s_setpc_b64", "l", set_pc, 0),
    PLAIN("s_swappc_b64", "L-l", set_pc, 0),
    SAVE("and", SAVE_AND),
    SAVE("or", SAVE_OR),
    SAVE("xor", SAVE_XOR),
    SAVE("and_not1", SAVE_AND_NOT1),
    SAVE("or_not1", SAVE_OR_NOT1),
    SAVE("and_not0", SAVE_AND_NOT0),
    SAVE("or_not0", SAVE_OR_NOT0),
    SAVE("nand", SAVE_NAND),
    SAVE("nor", SAVE_NOR),
    SAVE("xnor", SAVE_XNOR),
    PLAIN("s_wqm_b32", "s-w", whole_quads, 0),
    PLAIN("s_wqm_b64", "L-l", whole_quads, 0),
    PLAIN("s_denorm_mode", "w", denorm_mode, 0),
    READ("s_round_mode", control_nothing, read_round_mode),
    READ("s_setreg_b32", set_register, read_setreg),
    READ("s_setreg_imm32_b32", set_register, read_setreg),
    READ("s_getreg_b32", get_register, read_getreg),
    READ("s_set_gpr_idx_on", index_on, read_index),
    PLAIN("s_set_gpr_idx_off", "", index_off, 0),
    NOTHING("s_nop"), NOTHING("v_nop"), NOTHING("s_delay_alu"), NOTHING("s_clause"), NOTHING("s_waitcnt_depctr"),
    NOTHING("s_wait_alu"), NOTHING("s_wait_idle"), NOTHING("s_sendmsg"), NOTHING("s_set_inst_prefetch_distance"),
    NOTHING("s_inst_prefetch"), NOTHING("s_sleep"), NOTHING("s_setprio"), NOTHING("s_sethalt"), NOTHING("s_ttracedata"),
    NOTHING("s_icache_inv"), NOTHING("s_dcache_inv"), NOTHING("s_dcache_wb"), NOTHING("s_gl1_inv"),
    NOTHING("s_prefetch_inst"), NOTHING("s_prefetch_data"), NOTHING("buffer_gl0_inv"), NOTHING("buffer_gl1_inv"),
    NOTHING("buffer_wbl2"), NOTHING("buffer_inv"), NOTHING("buffer_invl2"), NOTHING("buffer_wbinvl1"),
    NOTHING("buffer_wbinvl1_vol"), NOTHING("global_inv"), NOTHING("global_wb"), NOTHING("global_wbinv"),
    NOTHING("v_pipeflush"), NOTHING("s_setvskip"),
};

struct forms amdgpu_control_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
