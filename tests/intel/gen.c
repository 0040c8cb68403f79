/* gen.c - what Intel's instructions do beyond a lane: memory, branches, barriers, matrices, blocks of two dimensions
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "tests/intel/gen.h"

enum { LANES = 16, ROOM = 2048 };

/* Runs a body on words, of which word i is i at first, and tells what is found. */
static uint32_t *run_body(const char *name, const char *body, const struct how *how)
{
    static uint32_t data[ROOM];
    static const struct how plain;
    char text[8000];
    struct heard heard;
    for (uint32_t i = 0; i < ROOM; i++)
        data[i] = i;
    how = how ? how : &plain;
    snprintf(text, sizeof text, "%s%s%s", how->hpg ? BEGIN_HPG : BEGIN, body, END);
    const enum gen_status status = run_text(text, data, sizeof data, NULL, how, &heard);
    if (status || heard.all) {
        diag("%s: status %d, %s", name, status, heard.text);
        memset(data, 0xee, sizeof data);
    }
    return data;
}

/* ---- messages: word 1024 + i becomes what is expected of lane i ---- */

#define STORE "store.ugm.d32.a64 (16|M0) [r14:2+0x1000] r20:1\n"
#define SLM_ADDRESS "shl (16|M0) r18.0<1>:d r10.0<1;1,0>:d 4:w\n"
static uint32_t byte_of_words(int i)
{
    return i & 3 ? 0 : (uint32_t)i / 4;
}
static const struct {
    const char *name, *body;
    int kind;
} messages[] = {
    { "d32", "load.ugm.d32.a64 (16|M0) r20:1 [r14:2+0x40]\n" STORE, 0 },
    { "d32 by an offset before", "add (16|M0) r16.0<1>:q r14.0<1;1,0>:q 0x80:w\n"
                                 "load.ugm.d32.a64 (16|M0) r20:1 [r16:2-0x40]\n" STORE, 0 },
    { "d32x4",
      "shl (16|M0) r12.0<1>:q r10.0<1;1,0>:d 4:w\nadd (16|M0) r16.0<1>:q r12.0<1;1,0>:q r4.0<0;1,0>:q\n"
      "load.ugm.d32x4.a64 (16|M0) r20:4 [r16:2]\nmov (16|M0) r20.0<1>:d r22.0<1;1,0>:d\n" STORE, 1 },
    { "d64", "add (16|M0) r16.0<1>:q r14.0<1;1,0>:q r12.0<1;1,0>:q\nload.ugm.d64.a64 (16|M0) r20:2 [r16:2]\n"
             "mov (16|M0) r22.0<1>:d r20.1<2;1,0>:d\nmov (16|M0) r20.0<1>:d r22.0<1;1,0>:d\n" STORE, 2 },
    { "d8u32", "mov (16|M0) r16.0<1>:q r10.0<1;1,0>:d\nadd (16|M0) r16.0<1>:q r16.0<1;1,0>:q r4.0<0;1,0>:q\n"
               "load.ugm.d8u32.a64 (16|M0) r20:1 [r16:2]\n" STORE, 3 },
    { "d16u32", "shl (16|M0) r16.0<1>:q r10.0<1;1,0>:d 1:w\nadd (16|M0) r16.0<1>:q r16.0<1;1,0>:q r4.0<0;1,0>:q\n"
                "load.ugm.d16u32.a64 (16|M0) r20:1 [r16:2+0x1]\n" STORE, 4 },
    { "vectors of 8 lanes, whole registers each",
      "shl (8|M0) r12.0<1>:q r10.0<1;1,0>:d 3:w\nadd (8|M0) r16.0<1>:q r12.0<1;1,0>:q r4.0<0;1,0>:q\n"
      "load.ugm.d32x2.a64 (8|M0) r22:2 [r16:1+0x40]\nmov (8|M0) r20.0<2>:d r22.0<1;1,0>:d\n"
      "mov (8|M0) r20.1<2>:d r23.0<1;1,0>:d\n" STORE, 0 },
    { "vectors of 8, not transposed",
      "shl (16|M0) r12.0<1>:q r10.0<1;1,0>:d 5:w\nadd (16|M0) r16.0<1>:q r12.0<1;1,0>:q r4.0<0;1,0>:q\n"
      "load.ugm.d32x8.a64 (16|M0) r22:8 [r16:2]\nadd (16|M0) r20.0<1>:d r29.0<1;1,0>:d r28.0<1;1,0>:d\n"
      "shr (16|M0) r20.0<1>:d r20.0<1;1,0>:d 4:w\nadd (16|M0) r20.0<1>:d r20.0<1;1,0>:d 16:w\n" STORE, 0 },
    { "transposed", "(W) load.ugm.d32x16t.a64 (1|M0) r20:1 [r4:1+0x40]\n" STORE, 0 },
    { "transposed store", "mov (16|M0) r20.0<1>:d 16:w\nadd (16|M0) r20.0<1>:d r20.0<1;1,0>:d r10.0<1;1,0>:d\n"
                          "(W) store.ugm.d32x16t.a64 (1|M0) [r4:1+0x1000] r20:1\n", 0 },
    { "a descriptor", "send.ugm (16|M0) r20 r14 null:0 0x40000 0x04100580\n"
                      "send.ugm (16|M0) null r14 r20:1 0x1000000 0x04000584\n", 0 },
    { "registers that s0 lists", "load.ugm.d32.a64 (16|M0) r20:1 [r14:2+0x40]\n(W) mov (1|M0) s0.0<1>:uq 0x140F0E:uq\n"
                                 "send.ugm (16|M0) null r[s0.0] 0x1000000 0x06000584\n", 0 },
    { "a surface of a0", "(W) mov (1|M0) a0.0<1>:ud 0x40:ud\nshl (16|M0) r18.0<1>:d r10.0<1;1,0>:d 2:w\n"
                         "load.ugm.d32.a32 (16|M0) r20:1 bss[a0.0][r18:1+0x40]\n" STORE, 0 },
    { "one that a descriptor has", "(W) mov (1|M0) a0.2<1>:ud 0x40:ud\nshl (16|M0) r18.0<1>:d r10.0<1;1,0>:d 2:w\n"
                                   "send.ugm (16|M0) r20 r18 null:0 0x200000:a0.2 0x22100500\n" STORE, 0 },
    { "SLM", SLM_ADDRESS "add (16|M0) r20.0<1>:d r10.0<1;1,0>:d 16:w\nstore.slm.d32.a32 (16|M0) [r18:1+0x8] r20:1\n"
             "mov (16|M0) r20.0<1>:d 0:w\nload.slm.d32.a32 (16|M0) r20:1 [r18:1+0x8]\n" STORE, 0 },
    { "SLM by a pointer with IGC's bit",
      SLM_ADDRESS "add (16|M0) r20.0<1>:d r10.0<1;1,0>:d 16:w\nor (16|M0) r19.0<1>:d r18.0<1;1,0>:d 268435456:d\n"
                  "store.slm.d32.a32 (16|M0) [r19:1] r20:1\nload.slm.d32.a32 (16|M0) r20:1 [r18:1]\n" STORE, 0 },
    { "scratch", "(W) mov (1|M0) a0.2<1>:ud 0x0:ud\n(W) mov (1|M0) r18.0<1>:ud 0x10040:ud\n"
                 "add (16|M0) r20.0<1>:d r10.0<1;1,0>:d 16:w\n"
                 "(W) store.ugm.d32x16t.a32 (1|M0) ss[a0.2][r18:1-0x10000] r20:1\nmov (16|M0) r20.0<1>:d 0:w\n"
                 "(W) load.ugm.d32x16t.a32 (1|M0) r20:1 ss[a0.2][r18:1-0x10000]\n" STORE, 0 },
    { "scratch of the older port", "add (16|M0) r20.0<1>:d r10.0<1;1,0>:d 16:w\n"
                                   "send.dc0 (16|M0) null r0 r20:1 0x0 0x020F1002\nmov (16|M0) r20.0<1>:d 0:w\n"
                                   "(W) send.dc0 (16|M0) r20 r0 null:0 0x0 0x021C1002\n" STORE, 0 },
    { "an indirect register", "(W) mov (1|M0) a0.0<1>:uw 0x500:uw\nadd (16|M0) r30.0<1>:d r10.0<1;1,0>:d 16:w\n"
                              "mov (16|M0) r[a0.0]<1>:d r30.0<1;1,0>:d\n" STORE, 0 },
};

static uint32_t expected(int kind, int i)
{
    switch (kind) {
    case 0: return (uint32_t)i + 16;
    case 1: return 4u * (uint32_t)i + 2; /* the third word of four */
    case 2: return 2u * (uint32_t)i + 1; /* the upper half */
    case 3: return byte_of_words(i);
    default: return i % 2 ? ((uint32_t)(i / 2) + 1) << 8 & 0xffff : 0; /* of 16 bits at odd bytes */
    }
}

static void run_messages(void)
{
    for (size_t k = 0; k < sizeof messages / sizeof *messages; k++) {
        struct how how;
        int bad = 0;
        memset(&how, 0, sizeof how);
        how.shared = 1024, how.scratch = 1024;
        const uint32_t *data = run_body(messages[k].name, messages[k].body, &how);
        for (int i = 0; i < LANES; i++)
            bad |= data[1024 + i] != expected(messages[k].kind, i);
        ok(!bad, "message: %s", messages[k].name);
    }
}

/* Each of 32 items of two groups changes one word; old values are all there once. */
static void run_atomics(void)
{
    static const struct {
        const char *name;
        uint32_t last;
    } ops[] = { { "iadd", 32 * 3 }, { "or", 3 }, { "umax", 3 }, { "isub", 0u - 32 * 3 }, { "xor", 0 }, { "iinc", 32 } };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        char body[600];
        struct how how;
        memset(&how, 0, sizeof how);
        how.groups = 2;
        snprintf(body, sizeof body,
                 "mov (16|M0) r20.0<1>:d 3:w\nadd (16|M0) r16.0<1>:q r4.0<0;1,0>:q 0x0:w\n"
                 "atomic_%s.ugm.d32.a64 (16|M0) r22:1 [r16:2] %s\n",
                 ops[k].name, strcmp(ops[k].name, "iinc") ? "r20:1" : "null:0");
        const uint32_t *data = run_body(ops[k].name, body, &how);
        ok(data[0] == ops[k].last, "atomic_%s: %u", ops[k].name, data[0]);
    }
    const uint32_t *last = run_body("the last registers",
                                    "mov (16|M0) r127.0<1>:d 2:w\nmov (16|M0) r126.0<1>:d 0:w\n"
                                    "atomic_iadd.ugm.d32.a64 (16|M0) r126:1 [r14:2] r127:1\n"
                                    "mov (16|M0) r20.0<1>:d r126.0<1;1,0>:d\n" STORE, NULL);
    int wrong = 0;
    for (uint32_t i = 0; i < LANES; i++)
        wrong |= last[i] != i + 2 || last[1024 + i] != i;
    ok(!wrong, "an atomic message of the last registers");
    struct how slm;
    memset(&slm, 0, sizeof slm);
    slm.shared = 64;
    const uint32_t *data = run_body("SLM", "mov (16|M0) r18.0<1>:d 0:w\nmov (16|M0) r20.0<1>:d 0:w\n"
                                           "(W) store.slm.d32x1t.a32 (1|M0) [r18:1] r20:1\n"
                                           "add (16|M0) r20.0<1>:d r10.0<1;1,0>:d 1:w\n"
                                           "atomic_iadd.slm.d32.a32 (16|M0) r22:1 [r18:1] r20:1\n"
                                           "mov (16|M0) r20.0<1>:d r22.0<1;1,0>:d\n" STORE, &slm);
    int bad = 0;
    for (uint32_t i = 0; i < LANES; i++)
        bad |= data[1024 + i] != i * (i + 1) / 2;
    ok(!bad, "atomic_iadd of SLM gives what was there");
}

/* ---- lanes that part: a loop that lane i goes through f(i) times, counted in r20 ---- */

static uint32_t itself(uint32_t i)
{
    return i + 1;
}
static uint32_t odd_more(uint32_t i)
{
    return i % 2 ? 100 + i : i;
}
static uint32_t nested(uint32_t i)
{
    return (i % 4 + 1) * (i / 4 + 1);
}
static uint32_t uniform(uint32_t i)
{
    (void)i;
    return 9;
}
#define AGAIN "add (16|M0) r20.0<1>:d r20.0<1;1,0>:d 1:w\n"
#define ZERO "mov (16|M0) r20.0<1>:d 0:w\n"
static const struct {
    const char *name, *body;
    uint32_t (*times)(uint32_t i);
} loops[] = {
    { "goto.b", ZERO "again:\n" AGAIN "cmp (16|M0) (le)f0.0 null<1>:d r20.0<1;1,0>:d r10.0<1;1,0>:d\n"
                     "(f0.0) goto.b (16|M0) out again\nout:\njoin (16|M0) end\nend:\n", itself },
    { "while", ZERO "again:\n" AGAIN "cmp (16|M0) (le)f0.0 null<1>:d r20.0<1;1,0>:d r10.0<1;1,0>:d\n"
                    "(f0.0) while (16|M0) again\n", itself },
    { "two ways", "and (16|M0) (ne)f1.0 null<1>:d r10.0<1;1,0>:d 1:w\nmov (16|M0) r20.0<1>:d r10.0<1;1,0>:d\n"
                  "(~f1.0) goto (16|M0) else else\nadd (16|M0) r20.0<1>:d r20.0<1;1,0>:d 90:w\n"
                  "goto (16|M0) else out\nelse:\njoin (16|M0) out\n"
                  "add (16|M0) r20.0<1>:d r20.0<1;1,0>:d -10:w\nout:\njoin (16|M0) end\nend:\n"
                  "add (16|M0) r20.0<1>:d r20.0<1;1,0>:d 10:w\n", odd_more },
    { "a loop in a loop",
      ZERO "mov (16|M0) r22.0<1>:d 0:w\nshr (16|M0) r24.0<1>:d r10.0<1;1,0>:d 2:w\nand (16|M0) r25.0<1>:d "
           "r10.0<1;1,0>:d 3:w\nouter:\nmov (16|M0) r23.0<1>:d 0:w\ninner:\n" AGAIN
           "add (16|M0) r23.0<1>:d r23.0<1;1,0>:d 1:w\ncmp (16|M0) (le)f0.0 null<1>:d r23.0<1;1,0>:d r25.0<1;1,0>:d\n"
           "(f0.0) goto.b (16|M0) past inner\npast:\njoin (16|M0) out\n"
           "add (16|M0) r22.0<1>:d r22.0<1;1,0>:d 1:w\ncmp (16|M0) (le)f0.0 null<1>:d r22.0<1;1,0>:d r24.0<1;1,0>:d\n"
           "(f0.0) goto.b (16|M0) out outer\nout:\njoin (16|M0) end\nend:\n", nested },
    { "jmpi", ZERO "(W) mov (1|M0) r22.0<1>:d 0:w\nagain:\n" AGAIN "(W) add (1|M0) r22.0<1>:d r22.0<0;1,0>:d 1:w\n"
                   "(W) cmp (1|M0) (lt)f0.0 null<1>:d r22.0<0;1,0>:d 9:w\n(W&f0.0) jmpi again\n", uniform },
};

static void run_loops(void)
{
    for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
        char body[4000];
        int bad = 0;
        snprintf(body, sizeof body, "%s" STORE, loops[k].body);
        const uint32_t *data = run_body(loops[k].name, body, NULL);
        for (uint32_t i = 0; i < LANES; i++)
            bad |= data[1024 + i] != loops[k].times(i);
        ok(!bad, "%s: each lane goes its way", loops[k].name);
    }
}

/* ---- threads of a group: item i reads what item n - 1 - i wrote ---- */

static void run_barriers(void)
{
    static const char form[] = "shl (16|M0) r18.0<1>:d r10.0<1;1,0>:d 2:w\n"
                               "store.slm.d32.a32 (16|M0) [r18:1] r10:1\n" BARRIER
                               "add (16|M0) r18.0<1>:d -r18.0<1;1,0>:d %u:w\n"
                               "load.slm.d32.a32 (16|M0) r20:1 [r18:1]\n" STORE;
    for (int schedule = SCHEDULE_LOWEST; schedule <= SCHEDULE_RANDOM; schedule++)
        for (uint32_t items = 60; items <= 64; items += 4) {
            struct how how;
            char body[1000];
            int bad = 0;
            snprintf(body, sizeof body, form, 4 * (items - 1));
            memset(&how, 0, sizeof how);
            how.shared = 256, how.items = items, how.schedule = (enum schedule)schedule, how.seed = 3;
            const uint32_t *data = run_body("barrier", body, &how);
            for (uint32_t i = 0; i < items; i++)
                bad |= data[1024 + i] != items - 1 - i;
            ok(!bad && data[1024 + items] == 1024 + items, "a barrier of %u items, schedule %d", items, schedule);
        }
}

/* ---- dpas: C in r20, A in r40, B in r50, D to r60; all of it random numbers ---- */

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed ^ *seed >> 15;
}

static double small(int bf, uint32_t h) /* normal numbers only */
{
    const double x = bf ? ldexp(128 + (h & 127), (int)(h >> 7 & 255) - 127 - 7)
                        : ldexp(1024 + (h & 1023), (int)(h >> 10 & 31) - 25);
    return h & 0x8000 ? -x : x;
}

static float f_of(uint32_t x)
{
    float y;
    memcpy(&y, &x, sizeof y);
    return y;
}

struct product {
    int hpg, columns, rows;
    const char *type; /* hf, bf, b, ub */
    int approximate, null;
};

static void fill(uint32_t *data, const struct product *p, uint32_t *seed)
{
    for (int i = 0; i < 512; i++) {
        uint32_t x = next(seed);
        if (!strcmp(p->type, "hf"))
            x = (x & 0x83ff83ff) | (12u + x % 6) << 10 | (12u + x % 5) << 26;
        else if (!strcmp(p->type, "bf"))
            x = (x & 0x807f807f) | (124u + x % 6) << 7 | (124u + x % 5) << 23;
        data[i] = x;
    }
    for (int i = 0; i < 128; i++) { /* C */
        const float c = (float)ldexp((int32_t)next(seed), -29);
        if (p->type[1] == 'f')
            memcpy(&data[i], &c, 4);
    }
}

/* Element of D; *magnitude is the sum of the terms' sizes. */
static double element(const uint32_t *data, const struct product *p, int row, int column, double *magnitude)
{
    const int real = p->type[1] == 'f';
    double sum = p->null ? 0 : real ? f_of(data[row * p->columns + column])
                                      : (double)(int32_t)data[row * p->columns + column];
    *magnitude = fabs(sum);
    for (int d = 0; d < 8; d++)
        for (int k = 0; k < (real ? 2 : 4); k++) {
            const uint32_t a = data[128 + row * 8 + d], b = data[256 + d * p->columns + column];
            const double x = real ? small(*p->type == 'b', a >> 16 * k & 0xffff) :
                             p->type[0] == 'b' ? (int8_t)(a >> 8 * k) : (uint8_t)(a >> 8 * k);
            const double y = real ? small(*p->type == 'b', b >> 16 * k & 0xffff) :
                             p->type[0] == 'b' ? (int8_t)(b >> 8 * k) : (uint8_t)(b >> 8 * k);
            sum += x * y;
            *magnitude += fabs(x * y);
        }
    return sum;
}

static void run_product(const struct product *p)
{
    uint32_t data[1024], before[1024], seed = 11;
    char text[4000];
    struct heard heard;
    struct how how;
    double most = 0, least = 0;
    int bad = 0;
    const int real = p->type[1] == 'f', grf = 4 * p->columns;
    memset(&how, 0, sizeof how);
    how.hpg = p->hpg, how.approximate = p->approximate;
    fill(data, p, &seed);
    memset(data + 512, 0, 2048);
    memcpy(before, data, sizeof data);
    int n = snprintf(text, sizeof text, "%s", p->hpg ? BEGIN_HPG : BEGIN);
    for (int part = 0; part < 3; part++) /* C, A and B */
        for (int at = 0; at < (part == 2 ? 8 * grf : 512); at += grf)
            n += snprintf(text + n, sizeof text - (size_t)n, "(W) load.ugm.d32x%dt.a64 (1|M0) r%d:1 [r4:1+%d]\n",
                          p->columns, (part == 0 ? 20 : part == 1 ? 40 : 60) + at / grf,
                          (part == 0 ? 0 : part == 1 ? 512 : 1024) + at);
    n += snprintf(text + n, sizeof text - (size_t)n, "dpas.8x%d (%d|M0) r80:%s %s:%s r60:%s r40.0:%s\n", p->rows,
                  p->columns, real ? "f" : "d", p->null ? "null" : "r20", real ? "f" : "d", p->type, p->type);
    for (int row = 0; row < p->rows; row++)
        n += snprintf(text + n, sizeof text - (size_t)n, "store.ugm.d32.a64 (%d|M0) [r14:2+%d] r%d:1\n", p->columns,
                      2048 + row * grf, 80 + row);
    snprintf(text + n, sizeof text - (size_t)n, END);
    run_text(text, data, sizeof data, NULL, &how, &heard);
    for (int row = 0; row < p->rows; row++)
        for (int column = 0; column < p->columns; column++) {
            double magnitude;
            const uint32_t got = data[512 + row * p->columns + column];
            const double exact = element(before, p, row, column, &magnitude);
            const double error = real ? (f_of(got) - exact) / magnitude : (int32_t)got - exact;
            most = error > most ? error : most;
            least = error < least ? error : least;
        }
    if (p->approximate)
        bad = p->approximate > 0 ? least < 0 || most < 0x1p-25 || most > 0x1p-20 :
                                   most > 0 || least > -0x1p-25 || least < -0x1p-20;
    else
        bad = real ? most > 0x1p-24 || least < -0x1p-24 : most || least;
    ok(!bad && !heard.all, "dpas.8x%d of %s, %d columns%s, side %d: error %.3g to %.3g %s", p->rows, p->type,
       p->columns, p->null ? ", nothing to add to" : "", p->approximate, least, most, heard.text);
}

static void run_products(void)
{
    static const struct product products[] = {
        { 0, 16, 8, "hf", 0, 0 }, { 0, 16, 8, "bf", 0, 0 }, { 0, 16, 8, "b", 0, 0 },  { 0, 16, 8, "ub", 0, 0 },
        { 0, 16, 1, "hf", 0, 0 }, { 0, 16, 4, "bf", 0, 1 }, { 0, 16, 8, "hf", 1, 0 }, { 0, 16, 8, "hf", -1, 0 },
        { 1, 8, 8, "hf", 0, 0 },  { 1, 8, 8, "bf", 0, 0 },  { 1, 8, 8, "b", 0, 0 },   { 1, 8, 2, "hf", 0, 1 },
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        run_product(&products[i]);
}

/* What IGC puts before a product for DG2: in order it would destroy r20. */
static void run_dummy(void)
{
    struct how how;
    int bad = 0;
    memset(&how, 0, sizeof how);
    how.hpg = 1;
    static const char second[] = "dpas.8x8 (8|M0) r20:f r20:f r30:hf r40.0:hf {$2}\n";
    static const char stores[] =
        "store.ugm.d32.a64 (8|M0) [r14:2] r20:1\nstore.ugm.d32.a64 (8|M0) [r14:2+0x20] r27:1\n";
    char body[4000] = "";
    for (int i = 0; i < 40; i++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "mov (8|M0) r%d.0<1>:f 0x%s:f\n", 20 + i,
                 i < 8 ? "40400000" : "3C003C00"); /* 3; else pairs of 1 in f16 */
    strcat(body, "dpas.8x8 (8|M0) r20:f null:f r20:hf r20.0:hf {Atomic,$2}\n");
    const size_t n = strlen(body);
    strcat(strcat(body, second), stores);
    const uint32_t *data = run_body("dummy", body, &how);
    for (int i = 0; i < 16; i++)
        bad |= f_of(data[i]) != 19;
    ok(!bad, "a product that IGC puts before another into the same registers is left out (%g)", f_of(data[0]));
    body[n] = 0;
    strcat(body, stores);
    data = run_body("alone", body, &how);
    ok(f_of(data[0]) != 3, "one that stands alone is executed (%g)", f_of(data[0]));
}

/* Nothing to add to, but a product that counts. */
static void run_sum(void)
{
    struct how how;
    int bad = 0;
    memset(&how, 0, sizeof how);
    how.hpg = 1;
    char body[4000] = "";
    for (int i = 0; i < 40; i++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "mov (8|M0) r%d.0<1>:f 0x3C003C00:f\n", 20 + i);
    strcat(body, "dpas.8x8 (8|M0) r20:f null:f r30:hf r40.0:hf {Atomic,$2}\n"
                 "dpas.8x8 (8|M0) r20:f r20:f r30:hf r40.0:hf {$2}\nstore.ugm.d32.a64 (8|M0) [r14:2] r20:1\n");
    const uint32_t *data = run_body("sum", body, &how);
    for (int i = 0; i < 8; i++)
        bad |= f_of(data[i]) != 32;
    ok(!bad, "two products, of which the first is added to nothing (%g)", f_of(data[0]));
}

/* ---- blocks of two dimensions of a surface of 128 bytes x 20 rows: what documents of vISA say ---- */

struct block {
    const char *form;
    int bits, columns, rows, blocks, x, y, vnni, transposed;
};

static int power_above(int x)
{
    int p = 1;
    while (p < x)
        p *= 2;
    return p;
}

static void run_block(const struct block *b)
{
    static unsigned char data[8192];
    char text[4000];
    struct heard heard;
    const int size = b->bits / 8, per = b->vnni ? 4 / size : 1;
    int bad = 0, checked = 0;
    for (int i = 0; i < 8192; i++)
        data[i] = (unsigned char)(i < 4096 ? i * 7 + i / 128 : 0xee);
    snprintf(text, sizeof text,
             BEGIN "(W) mov (1|M0) r20.0<1>:q r4.0<0;1,0>:q\n(W) mov (1|M0) r20.2<1>:ud 99:ud\n" /* 100 bytes wide */
                   "(W) mov (1|M0) r20.3<1>:ud 19:ud\n(W) mov (1|M0) r20.4<1>:ud 127:ud\n"
                   "(W) mov (1|M0) r20.5<1>:d %d:d\n(W) mov (1|M0) r20.6<1>:d %d:d\n"
                   "(W) mov (1|M0) r20.7<1>:ud 0x%x:ud\n"
                   "(W) load_block2d.ugm.%s.a64 (1|M0) r30:16 [r20:1]\n", b->x, b->y,
             (unsigned)((b->columns - 1) | (b->rows - 1) << 8 | (b->blocks - 1) << 16), b->form);
    for (int i = 0; i < 16; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "store.ugm.d32.a64 (16|M0) [r14:2+%d] r%d:1\n",
                 4096 + 64 * i, i < 2 * b->blocks * 4 ? 30 + i : 10);
    strcat(text, END);
    run_text(text, data, sizeof data, NULL, NULL, &heard);
    const int lines = b->transposed ? b->columns : b->rows, of = power_above(b->transposed ? b->rows : b->columns);
    const int pitch = (lines * of * size + 63) / 64 * 64;
    for (int k = 0; k < b->blocks; k++)
        for (int row = 0; row < b->rows; row++)
            for (int column = 0; column < b->columns; column++) {
                const int x = (b->x + k * b->columns + column) * size, y = b->y + row;
                const int line = b->transposed ? column : row, in = b->transposed ? row : column;
                const int at = line / per * of * per + in * per + line % per;
                const int inside = y >= 0 && y < 20 && x >= 0 && x + size <= 100;
                for (int i = 0; i < size && k * pitch + at * size + i < 1024; i++, checked++) {
                    const int from = y * 128 + x + i;
                    bad |= data[4096 + k * pitch + at * size + i] !=
                           (inside ? (unsigned char)(from * 7 + from / 128) : 0);
                }
            }
    ok(!bad && !heard.n[FOUND_SURFACE] && !heard.n[FOUND_OUTSIDE] && checked >= 256,
       "load_block2d %s of %d x %d, %d of them, at %d, %d %s", b->form, b->columns, b->rows, b->blocks, b->x, b->y,
       heard.n[FOUND_SURFACE] ? heard.text : "");
}

static void run_blocks(void)
{
    static const struct block blocks[] = {
        { "d32", 32, 16, 8, 1, 2, 3, 0, 0 },   { "d16", 16, 16, 8, 2, 4, 1, 0, 0 }, { "d8", 8, 32, 16, 1, 4, 0, 0, 0 },
        { "d16v", 16, 16, 16, 1, 6, 2, 1, 0 }, { "d8v", 8, 16, 32, 1, 8, 0, 1, 0 },
        { "d32t", 32, 8, 16, 1, 1, 2, 0, 1 },  { "d16", 16, 16, 8, 1, 42, 15, 0, 0 },
        { "d32", 32, 16, 8, 1, -3, -2, 0, 0 }, { "d32", 32, 12, 8, 1, 0, 0, 0, 0 },
        { "d16v", 16, 16, 8, 2, 0, 0, 1, 0 },
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        run_block(&blocks[i]);
}

/* ---- work-items of three dimensions, groups of two ---- */

static void run_items(void)
{
    static uint32_t data[1024];
    static const struct how plain;
    static const char text[] = BEGIN "shl (16|M0) r20.0<1>:d r2.0<1;1,0>:uw 8:w\n"
                                     "shl (16|M0) r21.0<1>:d r3.0<1;1,0>:uw 16:w\n"
                                     "add3 (16|M0) r20.0<1>:d r20.0<1;0>:d r21.0<1;0>:d r1.0<1>:uw\n"
                                     "mad (16|M0) r20.0<1>:d r20.0<1;0>:d r0.6<0;0>:d 4096:w\n"
                                     "(W) mul (1|M0) r22.0<1>:d r0.6<0;1,0>:d 2:w\n"
                                     "(W) add (1|M0) r22.0<1>:d r22.0<0;1,0>:d r0.1<0;1,0>:d\n"
                                     "(W) mul (1|M0) r22.0<1>:d r22.0<0;1,0>:d 48:w\n"
                                     "(W) mul (1|M0) r23.0<1>:d r0.2<0;1,0>:d 16:w\n"
                                     "(W) add (1|M0) r22.0<1>:d r22.0<0;1,0>:d r23.0<0;1,0>:d\n"
                                     "mov (16|M0) r24.0<1>:uw 0x76543210:uv\n"
                                     "add (8|M8) r24.8<1>:uw r24.8<1;1,0>:uw 8:w\n"
                                     "add (16|M0) r25.0<1>:d r24.0<1;1,0>:uw r22.0<0;1,0>:d\n"
                                     "shl (16|M0) r26.0<1>:q r25.0<1;1,0>:d 2:w\n"
                                     "add (16|M0) r26.0<1>:q r26.0<1;1,0>:q r4.0<0;1,0>:q\n"
                                     "store.ugm.d32.a64 (16|M0) [r26:2] r20:1\n" END;
    char why[300] = "";
    struct heard heard;
    struct gen_module *m = read_text(text, &plain, why, sizeof why);
    struct launch_buffer buffer = { data, sizeof data, NULL };
    struct launch_arg arg = { ARG_BUFFER, 0, 0, NULL, 0 };
    struct gen_launch l = GEN_LAUNCH_INIT;
    int bad = !m;
    memset(&heard, 0, sizeof heard);
    l.grid[0] = 2, l.grid[1] = 3, l.block[0] = 4, l.block[1] = 5, l.block[2] = 2, l.threads = 2;
    l.args = &arg, l.n_args = 1, l.buffers = &buffer, l.n_buffers = 1, l.report = hear, l.context = &heard;
    bad = bad || gen_run(gen_kernel_at(m, 0), &l, why, sizeof why) || heard.all;
    for (uint32_t group = 0; group < 6 && !bad; group++)
        for (uint32_t i = 0; i < 48; i++)
            bad |= data[48 * group + i] !=
                   (i < 40 ? (i % 4 | i / 4 % 5 << 8 | i / 20 << 16) + group / 2 * 4096 : 0);
    ok(!bad, "work-items of three dimensions, groups of two: %s %s", why, heard.text);
    gen_module_free(m);
}

/* ---- counts ---- */

static void run_counts(void)
{
    uint64_t lines[20] = { 0 };
    struct gen_stats stats;
    struct how how;
    memset(&how, 0, sizeof how);
    memset(&stats, 0, sizeof stats);
    struct gen_module *m = read_text(ZERO END, &how, NULL, 0);
    ok(m && !strcmp(gen_kernel_listing(gen_kernel_at(m, 0)), ZERO END), "the listing that lines are counted of");
    gen_module_free(m);
    how.per_line = lines, how.n_lines = 20, how.stats = &stats, how.items = 40, how.groups = 3;
    run_body("counts", ZERO "again:\n" AGAIN "cmp (16|M0) (lt)f0.0 null<1>:d r20.0<1;1,0>:d 5:w\n"
                            "(f0.0) while (16|M0) again\n", &how);
    const int at = BODY_LINE - 1;
    ok(lines[at] == 9 && lines[at + 1] == 0 && lines[at + 2] == 45 && lines[at + 4] == 45 && lines[at + 5] == 9,
       "how often each line was executed");
    ok(stats.instructions == 9 * (4 + 1 + 15 + 1), "instructions: %llu", (unsigned long long)stats.instructions);
    ok(stats.lane_instructions == 9 * 2 + 3 * 40 * (3 + 1 + 15), "lanes: %llu",
       (unsigned long long)stats.lane_instructions);
}

int main(void)
{
    SKIP_BIG_ENDIAN;
    run_messages();
    run_atomics();
    run_loops();
    run_barriers();
    run_products();
    run_dummy();
    run_sum();
    run_blocks();
    run_items();
    run_counts();
    return done_testing();
}
