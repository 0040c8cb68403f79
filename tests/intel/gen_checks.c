/* gen_checks.c - what the interpreter of Intel's code finds: each kind where it is, and nothing where it is not
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "tests/intel/gen.h"

enum { SILENT = -1 };
#define ANY UINT32_MAX
#define AMONG(kind) (-2 - (kind)) /* whatever else is found */
#define LOAD "load.ugm.d32.a64 (16|M0) r20:1 [r14:2]\n"
#define STORE "store.ugm.d32.a64 (16|M0) [r14:2] r20:1\n"
#define STORE_ITEM "store.ugm.d32.a64 (16|M0) [r14:2] r10:1\n"
#define SLM "shl (16|M0) r18.0<1>:d r10.0<1;1,0>:d 2:w\n" /* each item's word */
#define KEEP "store.slm.d32.a32 (16|M0) [r18:1] r10:1\n"
#define TAKE "load.slm.d32.a32 (16|M0) r20:1 [r18:1]\n"
#define OTHER "xor (16|M0) r18.0<1>:d r18.0<1;1,0>:d 64:w\n" /* that of the other thread */
#define FIRST "(W) and (1|M0) (eq)f1.0 null<1>:d r0.2<0;1,0>:d 255:w\n" /* f1.0: in the first thread */
#define BLOCK(base, width, pitch, x) BLOCK_TO("30", "0x10F", base, width, pitch, x)
#define BLOCK_TO(to, shape, base, width, pitch, x)                                                                     \
    "(W) add (1|M0) r20.0<1>:q r4.0<0;1,0>:q " base ":w\n(W) mov (1|M0) r20.2<1>:ud " width ":ud\n"                    \
    "(W) mov (1|M0) r20.3<1>:ud 3:ud\n(W) mov (1|M0) r20.4<1>:ud " pitch ":ud\n(W) mov (1|M0) r20.5<1>:d " x ":d\n"    \
    "(W) mov (1|M0) r20.6<1>:d 0:d\n(W) mov (1|M0) r20.7<1>:ud " shape ":ud\n"                                         \
    "(W) load_block2d.ugm.d16.a64 (1|M0) r" to ":1 [r20:1]\n"
#define SUM8(reg)                                                                                                      \
    "mov (16|M0) r" reg "0.0<1>:f 0x0:f\nmov (16|M0) r" reg "1.0<1>:f 0x0:f\nmov (16|M0) r" reg "2.0<1>:f 0x0:f\n"     \
    "mov (16|M0) r" reg "3.0<1>:f 0x0:f\nmov (16|M0) r" reg "4.0<1>:f 0x0:f\nmov (16|M0) r" reg "5.0<1>:f 0x0:f\n"     \
    "mov (16|M0) r" reg "6.0<1>:f 0x0:f\n"

/* Bodies on 32 work-items, two threads, in one group or more; the buffer has 512 bytes, SLM 128, scratch 128. */
static const struct {
    const char *name, *body;
    int kind; /* SILENT, an enum finding_kind, which is the only one, or AMONG() of one */
    int line; /* of the finding; lines of the body count from 0 */
    int64_t offset;
    uint32_t thread; /* ANY: not looked at */
    uint32_t groups;
} rows[] = {
    /* bounds and alignment */
    { "a read behind the buffer", "load.ugm.d32.a64 (16|M0) r20:1 [r14:2+0x184]\n", FOUND_OUTSIDE, 0, 512, 31, 1 },
    { "one byte of it is behind", "load.ugm.d32.a64 (16|M0) r20:1 [r14:2+0x181]\n", FOUND_OUTSIDE, 0, 509, 31, 1 },
    { "a read that ends there", "load.ugm.d32.a64 (16|M0) r20:1 [r14:2+0x180]\n", SILENT, 0, 0, 0, 1 },
    { "a write before the buffer", "mov (16|M0) r20.0<1>:d 0:w\nstore.ugm.d32.a64 (16|M0) [r14:2-0x4] r20:1\n",
      FOUND_OUTSIDE, 1, -4, 0, 1 },
    { "a vector that ends behind", "load.ugm.d32x4.a64 (16|M0) r20:4 [r14:2+0x178]\n", FOUND_OUTSIDE, 0, 500, 31, 1 },
    { "a block that ends behind", "(W) load.ugm.d32x16t.a64 (1|M0) r20:1 [r4:1+0x1C4]\n", FOUND_OUTSIDE, 0, 452, 0, 1 },
    { "a null pointer", "mov (16|M0) r16.0<1>:q 0:w\nload.ugm.d32.a64 (16|M0) r20:1 [r16:2]\n", FOUND_OUTSIDE, 1, 0, 0,
      1 },
    { "a surface that is none", "(W) mov (1|M0) a0.0<1>:ud 0x80:ud\nmov (16|M0) r18.0<1>:d 0:w\n"
                                "load.ugm.d32.a32 (16|M0) r20:1 bss[a0.0][r18:1]\n", FOUND_OUTSIDE, 2, 0, 0, 1 },
    { "lanes that are off access nothing",
      "cmp (16|M0) (lt)f0.0 null<1>:d r10.0<1;1,0>:d 16:w\n(f0.0) load.ugm.d32.a64 (16|M0) r20:1 [r14:2+0x1C0]\n",
      SILENT, 0, 0, 0, 1 },
    { "SLM behind its end", SLM "store.slm.d32.a32 (16|M0) [r18:1+0x4] r10:1\n", FOUND_OUTSIDE, 1, 128, 31, 1 },
    { "scratch behind its end", "send.dc0 (16|M0) null r0 r10:1 0x0 0x020F1003\n", FOUND_OUTSIDE, 0, 128, 0, 1 },
    { "an indirect register behind the last", "(W) mov (1|M0) a0.0<1>:uw 0x1FF0:uw\nmov (16|M0) r[a0.0]<1>:d 0:w\n",
      FOUND_OUTSIDE, 1, 0, ANY, 1 },
    { "a prefetch behind the buffer", "load.ugm.d32.a64 (16|M0) null:0 [r14:2+0x1000]\n", SILENT, 0, 0, 0, 1 },
    { "a prefetch of what another group writes", FIRST "(W) add (1|M0) r18.0<1>:d r0.1<0;1,0>:d r0.2<0;1,0>:d\n"
      "(W) cmp (1|M0) (eq)f1.0 null<1>:d r18.0<0;1,0>:d 0:w\nload.ugm.d32.a64 (16|M0) null:0 [r14:2]\n"
      "(W&f1.0) store.ugm.d32.a64 (1|M0) [r4:1] r10:1\n", SILENT, 0, 0, 0, 2 },
    { "a word at any address", "load.ugm.d32.a64 (16|M0) r20:1 [r14:2+0x2]\n", SILENT, 0, 0, 0, 1 },
    { "a vector of words at an odd one", "load.ugm.d32x2.a64 (16|M0) r20:2 [r14:2+0x2]\n", FOUND_MISALIGNED, 0, 2, 0,
      1 },
    { "a block at an odd one", "(W) load.ugm.d32x16t.a64 (1|M0) r20:1 [r4:1+0x2]\n", FOUND_MISALIGNED, 0, 2, 0, 1 },
    { "a misaligned word of SLM", SLM "add (16|M0) r18.0<1>:d r18.0<1;1,0>:d -1:w\n"
                                      "(W) and (1|M0) (eq)f0.0 null<1>:d r0.2<0;1,0>:d 255:w\n"
                                      "store.slm.d32.a32 (8|M8) [r18:1] r10:1\n", AMONG(FOUND_MISALIGNED), 3, ANY, ANY,
      1 },
    { "a misaligned atomic", "mov (16|M0) r20.0<1>:d 0:w\natomic_iadd.ugm.d32.a64 (16|M0) r22:1 [r14:2+0x1] r20:1\n",
      FOUND_MISALIGNED, 1, 1, 0, 1 },

    /* what nothing wrote */
    { "a register that nothing wrote is stored", "store.ugm.d32.a64 (16|M0) [r14:2] r40:1\n", FOUND_READ_REGISTER, 0, 0,
      0, 1 },
    { "it is computed with", "add (16|M0) r20.0<1>:d r40.0<1;1,0>:d r10.0<1;1,0>:d\n", FOUND_READ_REGISTER, 0, 0, 0,
      1 },
    { "it is only moved", "mov (16|M0) r20.0<1>:d r40.0<1;1,0>:d\nmov (16|M0) r21.0<1>:uw r20.0<2;1,0>:uw\n", SILENT, 0,
      0, 0, 1 },
    { "what it was moved to is stored", "mov (16|M0) r20.0<1>:d r40.0<1;1,0>:d\n" STORE, FOUND_READ_REGISTER, 1, 0, 0,
      1 },
    { "one byte of it is missing", "mov (16|M0) r40.0<1>:d 0:w\nmov (1|M0) r40.5<1>:d r50.0<0;1,0>:d\n"
                                   "not (16|M0) r20.0<1>:d r40.0<1;1,0>:d\n", FOUND_READ_REGISTER, 2, 0, 5, 1 },
    { "it is an address", "load.ugm.d32.a64 (16|M0) r20:1 [r40:2]\n", AMONG(FOUND_READ_REGISTER), 0, 0, ANY, 1 },
    { "it is a block's address", "(W) load.ugm.d32x16t.a64 (1|M0) r20:1 [r40:1]\n", AMONG(FOUND_READ_REGISTER), 0, 0,
      ANY, 1 },
    { "a word of a0 that nothing wrote", "mov (16|M0) r18.0<1>:d 0:w\n"
                                         "load.ugm.d32.a32 (16|M0) r20:1 bss[a0.2][r18:1]\n",
      AMONG(FOUND_READ_REGISTER), 1, 0, ANY, 1 },
    { "a flag decides", "(f0.0) mov (16|M0) r20.0<1>:d 0:w\n", FOUND_READ_REGISTER, 0, 0, 0, 1 },
    { "a flag selects", "(f0.0) sel (16|M0) r20.0<1>:d 0:w 1:w\n", FOUND_READ_REGISTER, 0, 0, 0, 1 },
    { "a flag branches", "(W&f0.0) jmpi on\non:\n", FOUND_READ_REGISTER, 0, 0, 0, 1 },
    { "lanes branch", "(f0.0) goto (16|M0) on on\non:\njoin (16|M0) end\nend:\n", FOUND_READ_REGISTER, 0, 0, 0, 1 },
    { "a flag of what nothing wrote", "(W) cmp (16|M0) (eq)f0.0 null<1>:d r40.0<1;1,0>:d 0:w\n"
                                      "(f0.0) mov (16|M0) r20.0<1>:d 0:w\n", FOUND_READ_REGISTER, 1, 0, 0, 1 },
    { "only some lanes were written",
      "cmp (16|M0) (lt)f0.0 null<1>:d r10.0<1;1,0>:d 20:w\n(f0.0) mov (16|M0) r20.0<1>:d 1:w\n" STORE,
      FOUND_READ_REGISTER, 2, 0, 20, 1 },
    { "those lanes store it",
      "cmp (16|M0) (lt)f0.0 null<1>:d r10.0<1;1,0>:d 20:w\n(f0.0) mov (16|M0) r20.0<1>:d 1:w\n"
      "(f0.0) store.ugm.d32.a64 (16|M0) [r14:2] r20:1\n", SILENT, 0, 0, 0, 1 },
    { "the other source is selected",
      "cmp (16|M0) (ge)f0.0 null<1>:d r10.0<1;1,0>:d 0:w\n(f0.0) sel (16|M0) r20.0<1>:d r10.0<1;1,0>:d r40.0<1;1,0>:d\n"
      STORE, SILENT, 0, 0, 0, 1 },
    { "what nothing wrote is selected",
      "cmp (16|M0) (ge)f0.0 null<1>:d r10.0<1;1,0>:d 7:w\n(f0.0) sel (16|M0) r20.0<1>:d r10.0<1;1,0>:d r40.0<1;1,0>:d\n"
      STORE, FOUND_READ_REGISTER, 2, 0, 0, 1 },
    { "all lanes compute, (W), those that are on use it",
      "cmp (16|M0) (lt)f0.0 null<1>:d r10.0<1;1,0>:d 20:w\n(f0.0) mov (16|M0) r20.0<1>:d 1:w\n"
      "(W) add (16|M0) r20.0<1>:d r20.0<1;1,0>:d 1:w\n(f0.0) store.ugm.d32.a64 (16|M0) [r14:2] r20:1\n", SILENT, 0, 0,
      0, 1 },
    { "and the others, too",
      "cmp (16|M0) (lt)f0.0 null<1>:d r10.0<1;1,0>:d 20:w\n(f0.0) mov (16|M0) r20.0<1>:d 1:w\n"
      "(W) add (16|M0) r20.0<1>:d r20.0<1;1,0>:d 1:w\n" STORE, FOUND_READ_REGISTER, 3, 0, 20, 1 },
    { "the accumulator of a product", "macl (16|M0) r20.0<1>:d r10.0<1;1,0>:d r10.0<1;1,0>:d\n", FOUND_READ_REGISTER, 0,
      0, 0, 1 },
    { "a carry of what nothing wrote", "(W) addc (16|M0) r22.0<1>:ud r40.0<1;1,0>:ud r10.0<1;1,0>:ud\n"
                                       "mov (16|M0) r20.0<1>:d acc0.0<1;1,0>:d\n" STORE, FOUND_READ_REGISTER, 2, 0, 0,
      1 },
    { "the carry of a lane that was off",
      "cmp (16|M0) (lt)f0.0 null<1>:d r10.0<1;1,0>:d 20:w\n"
      "(f0.0) addc (16|M0) r22.0<1>:ud r10.0<1;1,0>:ud r10.0<1;1,0>:ud\nmov (16|M0) r20.0<1>:d acc0.0<1;1,0>:d\n" STORE,
      FOUND_READ_REGISTER, 3, 0, 20, 1 },
    { "a matrix with a row that nothing wrote", SUM8("5") SUM8("6") "mov (16|M0) r57.0<1>:f 0x0:f\n"
                                                "dpas.8x8 (16|M0) r70:f null:f r50:hf r60.0:hf\n",
      SILENT, 0, 0, 0, 1 },
    { "a matrix with one that nothing wrote", SUM8("5") SUM8("6") "dpas.8x8 (16|M0) r70:f null:f r50:hf r60.0:hf\n",
      FOUND_READ_REGISTER, 14, 0, ANY, 1 },
    { "SLM that nothing wrote is stored", SLM TAKE STORE, FOUND_READ_REGISTER, 2, 0, 0, 1 },
    { "it is dropped", SLM TAKE "mov (16|M0) r20.0<1>:d 0:w\n" STORE, SILENT, 0, 0, 0, 1 },
    { "SLM that was written", SLM KEEP TAKE STORE, SILENT, 0, 0, 0, 1 },
    { "scratch that nothing wrote", "send.dc0 (16|M0) r20 r0 null:0 0x0 0x021C1000\n" STORE, FOUND_READ_REGISTER, 1, 0,
      0, 1 },
    { "scratch that is read into no register", "send.dc0 (16|M0) null r0 null:0 0x0 0x021C1000\n" STORE_ITEM, SILENT, 0,
      0, 0, 1 },
    { "a register that nothing wrote, through scratch",
      "send.dc0 (16|M0) null r0 r40:1 0x0 0x020F1000\nsend.dc0 (16|M0) r20 r0 null:0 0x0 0x021C1000\n" STORE,
      FOUND_READ_REGISTER, 2, 0, 0, 1 },
    { "one that was written, through scratch",
      "send.dc0 (16|M0) null r0 r10:1 0x0 0x020F1000\nsend.dc0 (16|M0) r20 r0 null:0 0x0 0x021C1000\n" STORE, SILENT, 0,
      0, 0, 1 },

    /* races */
    { "SLM of the other thread, no barrier", SLM KEEP OTHER TAKE STORE, AMONG(FOUND_RACE_GROUP), 3, ANY, ANY, 1 },
    { "with a barrier", SLM KEEP BARRIER OTHER TAKE STORE, SILENT, 0, 0, 0, 1 },
    { "it is written again", SLM KEEP BARRIER OTHER TAKE OTHER KEEP STORE, FOUND_RACE_GROUP, 5, ANY, ANY, 1 },
    { "with a second barrier", SLM KEEP BARRIER OTHER TAKE BARRIER OTHER KEEP STORE, SILENT, 0, 0, 0, 1 },
    { "one barrier in halves, the read between",
      SLM KEEP "(W) send.gtwy (1|M0) null r0 null:0 0x0 0x02000004\n" OTHER TAKE "(W) sync.bar null\n" STORE,
      AMONG(FOUND_RACE_GROUP), 4, ANY, ANY, 1 },
    { "the write between", SLM "(W) send.gtwy (1|M0) null r0 null:0 0x0 0x02000004\n" KEEP "(W) sync.bar null\n" OTHER
      TAKE STORE, AMONG(FOUND_RACE_GROUP), 5, ANY, ANY, 1 },
    { "one's own word between", SLM KEEP "(W) send.gtwy (1|M0) null r0 null:0 0x0 0x02000004\n" TAKE
      "(W) sync.bar null\n" STORE, SILENT, 0, 0, 0, 1 },
    { "two groups write a word", "mov (16|M0) r20.0<1>:d 0:w\n" STORE, FOUND_RACE_GRID, 1, ANY, ANY, 2 },
    { "words between words, one of each group",
      "(W) shl (1|M0) r16.0<1>:q r0.1<0;1,0>:d 2:w\n(W) add (1|M0) r16.0<1>:q r16.0<0;1,0>:q r4.0<0;1,0>:q\n"
      "(W) store.ugm.d32.a64 (1|M0) [r16:1+0x2] r10:1\n", SILENT, 0, 0, 0, 2 },
    { "two words between words, of both groups",
      "(W) store.ugm.d64.a64 (1|M0) [r4:1+0x2] r10:1\n", FOUND_RACE_GRID, 0, ANY, ANY, 2 },
    { "two groups read one", LOAD, SILENT, 0, 0, 0, 2 },
    { "two groups change one atomically",
      "mov (16|M0) r20.0<1>:d 0:w\natomic_or.ugm.d32.a64 (16|M0) null:0 [r14:2] r20:1\n", SILENT, 0, 0, 0, 2 },

    /* barriers and ends */
    { "a barrier that one thread reaches", FIRST "(W&f1.0) jmpi out\n" BARRIER "out:\n", FOUND_DIVERGED, 3, ANY, ANY,
      1 },
    { "a barrier that both reach", FIRST "(W&f1.0) jmpi out\nnop\nout:\n" BARRIER, SILENT, 0, 0, 0, 1 },
    { "a wait without a signal", "(W) sync.bar null\n", FOUND_DIVERGED, 0, ANY, ANY, 1 },
    { "two signals", "(W) send.gtwy (1|M0) null r0 null:0 0x0 0x02000004\n"
                     "(W) send.gtwy (1|M0) null r0 null:0 0x0 0x02000004\n", FOUND_DIVERGED, 1, ANY, ANY, 1 },
    { "a barrier with lanes off",
      "and (16|M0) (ne)f0.0 null<1>:d r10.0<1;1,0>:d 1:w\n(f0.0) goto (16|M0) on on\n" BARRIER
      "on:\njoin (16|M0) end\nend:\n", AMONG(FOUND_LANES_OFF), 2, ANY, ANY, 1 },
    { "no end", "again:\n(W) jmpi again\n", FOUND_NO_PROGRESS, 1, ANY, ANY, 1 },
    { "past the last instruction", "(W) jmpi behind\n" END "behind:\nnop\n(W) jmpi last\nlast:\nnop\n", SILENT, 0, 0, 0,
      1 },

    /* surfaces of two dimensions: address, width - 1, pitch - 1, first column */
    { "a surface as it should be", BLOCK("0", "63", "63", "2"), SILENT, 0, 0, 0, 1 },
    { "its address", BLOCK("16", "63", "63", "2"), FOUND_SURFACE, 7, 0, ANY, 1 },
    { "its width", BLOCK("0", "59", "63", "2"), FOUND_SURFACE, 7, 0, ANY, 1 },
    { "its width, not of words", BLOCK("0", "64", "79", "2"), FOUND_SURFACE, 7, 0, ANY, 1 },
    { "its pitch", BLOCK("0", "63", "71", "2"), FOUND_SURFACE, 7, 0, ANY, 1 },
    { "its pitch, less than its width", BLOCK("0", "79", "63", "2"), FOUND_SURFACE, 7, 0, ANY, 1 },
    { "a block between words", BLOCK("0", "63", "63", "1"), FOUND_SURFACE, 7, 0, ANY, 1 },
    { "a block that ends behind the last register", BLOCK_TO("127", "0x30F", "0", "63", "63", "2"), FOUND_SURFACE, 7, 0,
      ANY, 1 },
    { "one that ends there", BLOCK_TO("127", "0x10F", "0", "63", "63", "2"), SILENT, 0, 0, 0, 1 },
    { "a block beside the surface", BLOCK("0", "63", "63", "60"), SILENT, 0, 0, 0, 1 },
};

static int is_right(size_t k, enum gen_status status, const struct heard *h, int lead)
{
    const int kind = rows[k].kind, among = kind <= -2;
    const enum finding_kind wanted = (enum finding_kind)(among ? -2 - kind : kind);
    const int ends = wanted == FOUND_DIVERGED || wanted == FOUND_NO_PROGRESS ||
                     (wanted == FOUND_OUTSIDE && strstr(rows[k].name, "indirect"));
    if (kind == SILENT)
        return status == GEN_OK && !h->all;
    if (!h->n[wanted] || (!among && h->all != h->n[wanted]) || (status != GEN_OK) != ends)
        return 0;
    if (among)
        return 1;
    return h->first.line == lead + rows[k].line && (rows[k].offset == ANY || h->first.offset == rows[k].offset) &&
           (rows[k].thread == ANY || h->first.thread[0] == rows[k].thread);
}

static void run_rows(enum schedule schedule)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        static uint32_t data[128];
        char text[6000];
        struct heard heard;
        struct how how;
        memset(&how, 0, sizeof how);
        how.items = 32, how.groups = rows[k].groups, how.shared = 128, how.scratch = 128, how.schedule = schedule;
        how.limit = 10000;
        snprintf(text, sizeof text, BEGIN "%s" END, rows[k].body);
        const enum gen_status status = run_text(text, data, sizeof data, NULL, &how, &heard);
        const int lowest = schedule == SCHEDULE_LOWEST;
        const int right = lowest ? is_right(k, status, &heard, BODY_LINE) :
                          rows[k].kind == SILENT ? !heard.all : heard.all;
        ok(right, "%s%s%s%s", rows[k].name, lowest ? "" : ", in another order", right ? "" : ": ",
           right ? "" : heard.text);
    }
}

/* What nobody has written into a buffer is as undefined as a register. */
static void run_written(void)
{
    static const char text[] = BEGIN LOAD "add (16|M0) r20.0<1>:d r20.0<1;1,0>:d 1:w\n" STORE END;
    uint32_t data[128] = { 0 };
    unsigned char written[512];
    struct heard heard;
    memset(written, 1, sizeof written);
    written[21] = 0;
    run_text(text, data, sizeof data, written, NULL, &heard);
    ok(heard.all == 1 && heard.n[FOUND_READ_REGISTER] == 1 && heard.first.lanes == 0x20, "memory that nobody wrote: %s",
       heard.text);
    ok(written[21] == 1 && data[5] == 1, "and it is written then");
    run_text(text, data, sizeof data, written, NULL, &heard);
    ok(!heard.all && data[5] == 2, "so nothing is found any more");
    memset(written + 40, 1, 8);
    written[46] = 0;
    run_text(BEGIN "add (16|M0) r16.0<1>:q r14.0<1;1,0>:q r12.0<1;1,0>:q\nload.ugm.d64.a64 (16|M0) r20:2 [r16:2]\n"
                   "not (16|M0) r22.0<1>:q r20.0<1;1,0>:q\n" END, data, sizeof data, written, NULL, &heard);
    ok(heard.all == 1 && heard.first.lanes == 0x20, "nor the upper half of 64 bits: %s", heard.text);
    memset(written, 0, sizeof written);
    struct how how;
    memset(&how, 0, sizeof how);
    how.unchecked = 1;
    run_text(BEGIN LOAD STORE END, data, sizeof data, written, &how, &heard);
    ok(!heard.all, "nor without checks");
}

int main(void)
{
    SKIP_BIG_ENDIAN;
    run_rows(SCHEDULE_LOWEST);
    run_rows(SCHEDULE_HIGHEST);
    run_rows(SCHEDULE_RANDOM);
    run_written();
    return done_testing();
}
