/* suites.c - problems that are measured together, by name
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/run/suites.h"

#include <string.h>

/* One problem without a mask and one causal. */
#define BOTH(problem) problem, problem " causal"

static const char *const prefill[] = {
    BOTH("f32 b1 h8 q128 k128 d64"),     BOTH("f32 b1 h8 q256 k256 d64"),     BOTH("f32 b1 h8 q512 k512 d64"),
    BOTH("f32 b1 h8 q1024 k1024 d64"),   BOTH("f32 b1 h8 q2048 k2048 d64"),   BOTH("f32 b1 h8 q4096 k4096 d64"),
    BOTH("f32 b1 h8 q8192 k8192 d64"),   BOTH("f32 b1 h8 q16384 k16384 d64"), BOTH("f32 b1 h8 q128 k128 d128"),
    BOTH("f32 b1 h8 q256 k256 d128"),    BOTH("f32 b1 h8 q512 k512 d128"),    BOTH("f32 b1 h8 q1024 k1024 d128"),
    BOTH("f32 b1 h8 q2048 k2048 d128"),  BOTH("f32 b1 h8 q4096 k4096 d128"),  BOTH("f32 b1 h8 q8192 k8192 d128"),
    BOTH("f32 b1 h8 q16384 k16384 d128"), NULL,
};
static const char *const widths[] = {
    BOTH("f32 b1 h8 q1024 k1024 d32"),  BOTH("f32 b1 h8 q1024 k1024 d64"),  BOTH("f32 b1 h8 q1024 k1024 d80"),
    BOTH("f32 b1 h8 q1024 k1024 d96"),  BOTH("f32 b1 h8 q1024 k1024 d128"), BOTH("f32 b1 h8 q1024 k1024 d192/128"),
    BOTH("f32 b1 h8 q1024 k1024 d256"), BOTH("f32 b1 h8/1 q1024 k1024 d576/512"), NULL,
};
static const char *const gqa[] = {
    BOTH("f32 b1 h8 q1024 k1024 d64"),    BOTH("f32 b1 h8/2 q1024 k1024 d64"),  BOTH("f32 b1 h8/1 q1024 k1024 d64"),
    BOTH("f32 b1 h8 q1024 k1024 d128"),   BOTH("f32 b1 h8/2 q1024 k1024 d128"), BOTH("f32 b1 h8/1 q1024 k1024 d128"),
    NULL,
};
static const char *const small[] = {
    BOTH("f32 b8 h8 q16 k16 d64"),   BOTH("f32 b8 h8 q32 k32 d64"),   BOTH("f32 b8 h8 q64 k64 d64"),
    BOTH("f32 b8 h8 q128 k128 d64"), BOTH("f32 b1 h8 q1 k128 d64"),   BOTH("f32 b1 h1 q64 k64 d64"),
    NULL,
};
static const char *const odd[] = {
    BOTH("f32 b1 h8 q1023 k1023 d64"),  BOTH("f32 b1 h8 q2049 k2049 d64"),  BOTH("f32 b1 h8 q1023 k1023 d128"),
    BOTH("f32 b1 h8 q2049 k2049 d128"), NULL,
};
static const char *const types[] = {
    BOTH("f32 b1 h8 q1024 k1024 d64"),   BOTH("f16 b1 h8 q1024 k1024 d64"),  BOTH("bf16 b1 h8 q1024 k1024 d64"),
    BOTH("f32 b1 h8 q1024 k1024 d128"),  BOTH("f16 b1 h8 q1024 k1024 d128"), BOTH("bf16 b1 h8 q1024 k1024 d128"),
    NULL,
};
/* One problem with its keys and values stored in all ways. */
#define STORED(problem) problem, problem " k:int8:32 v:int8:32", problem " k:int8 v:int8", problem " k:q8_0 v:q8_0", \
                        problem " k:int4:32 v:int4:32", problem " k:q4_0 v:q4_0"
/* Rows of a few tokens at once, for a head of keys and a number of heads that share it. */
#define TOKENS(heads) "f32 b1 " heads " q1 k4096 d128", "f32 b1 " heads " q2 k4096 d128", \
                      "f32 b1 " heads " q4 k4096 d128", "f32 b1 " heads " q8 k4096 d128", \
                      "f32 b1 " heads " q16 k4096 d128"
#define SHORT7 ",128,128,128,128,128,128,128"
static const char *const decode[] = {
    TOKENS("h8"), TOKENS("h8/2"), TOKENS("h8/1"), TOKENS("h32/8"),
    "f32 b4 h32 q1 k4096 d128", "f32 b4 h32/8 q1 k4096 d128", "f16 b4 h32/8 q1 k4096 d128",
    STORED("f32 b1 h1 q1 k8192 d128"), STORED("f32 b1 h1 q1 k32768 d128"), STORED("f32 b1 h1 q1 k65536 d128"),
    "f16 b1 h1 q1 k8192 d128", "f16 b1 h1 q1 k32768 d128", "f16 b1 h1 q1 k65536 d128",
    STORED("f32 b1 h8/2 q1 k16384 d128"), "f16 b1 h8/2 q1 k16384 d128", "bf16 b1 h8/2 q1 k16384 d128",
    "f32 b1 h8/2 q1 k16384 d128 page16", "f32 b1 h8/2 q1 k16384 d128 page256",
    "f16 b1 h8/2 q1 k16384 d128 page16", "f16 b1 h8/2 q1 k16384 d128 page16 k:int8:32 v:int8:32",
    "f16 b1 h8/2 q1 k16384 d128 page16 k:q4_0 v:q4_0", "f16 b4 h8/2 q4 k4096 d128 causal page16 k:int8:32 v:int8:32",
    "f32 b1 h8/2 q1 k4096 d128 page16 kvlen:4096",
    /* a long sequence beside 31 short ones, and each kind alone */
    "f32 b32 h8/2 q1 k4096 d128 page16 kvlen:4096" SHORT7 SHORT7 SHORT7 SHORT7 ",128,128,128",
    "f32 b31 h8/2 q1 k128 d128 page16", NULL,
};

const struct suite suites[] = {
    { "prefill", "q = k from 128 to 16384, d 64 and 128", prefill },
    { "widths", "d from 32 to 256, and 576/512", widths },
    { "gqa", "1, 4 and 8 query heads for a key head", gqa },
    { "small", "short sequences", small },
    { "odd", "lengths that are a multiple of nothing", odd },
    { "types", "f32, f16, bf16", types },
    { "decode", "1 to 16 queries and 4096 to 65536 keys, stored in every way", decode },
    { 0 },
};

const struct suite *suite_find(const char *name)
{
    for (const struct suite *s = suites; s->name; s++)
        if (!strcmp(s->name, name))
            return s;
    return 0;
}
