/* cases.h - the problems that forward.c runs, without their TYPE
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows of one class (d, mask, lists) stand together: they share a kernel, and a kernel takes a second to build. */
#ifndef CASES_H
#define CASES_H

static const char *const cases[] = {
    /* no mask: heads, groups, lengths around the usual tiles */
    "b2 h4 q33 k70 d64 lse", "b2 h4/2 q33 k70 d64 lse", "b1 h8/1 q5 k130 d64 lse", "b3 h6/3 q9 k20 d64 bthd lse",
    "b1 h2 q33 k70 d64", "b2 h3/1 q129 k17 d64 lse", "b2 h2 q1 k257 d64 lse", "b1 h32/4 q1 k77 d64 lse",
    "b1 h2 q33 k1 d64 lse", "b1 h1 q1 k1 d64 lse", "b2 h2 q5 k0 d64 lse", "b2 h2 q0 k5 d64 lse", "b0 h2 q3 k5 d64 lse",
    "b0 h2 q0 k0 d64", "b2 h4/2 q3 k0 d64 bthd", "b1 h1 q15 k15 d64 lse", "b1 h1 q16 k16 d64 lse",
    "b1 h1 q17 k17 d64 lse", "b1 h1 q31 k33 d64 lse", "b1 h1 q32 k32 d64 lse", "b1 h1 q33 k31 d64 lse",
    "b1 h1 q63 k65 d64 lse", "b1 h1 q64 k64 d64 lse", "b1 h1 q65 k63 d64 lse", "b1 h1 q127 k129 d64 lse",
    "b1 h1 q128 k128 d64 lse", "b1 h1 q129 k127 d64 lse", "b1 h2 q2 k3 d64 lse", "b1 h2 q7 k8 d64 lse",
    "b1 h2 q8 k7 d64 lse", "b1 h2 q9 k9 d64 lse",

    /* causal, bottom-right; rows without a key where nq > nk */
    "b2 h2 q65 k65 d64 causal lse", "b1 h4/2 q33 k70 d64 causal lse", "b1 h2 q70 k33 d64 causal lse",
    "b2 h2 q1 k129 d64 causal lse", "b1 h2 q129 k1 d64 causal lse", "b1 h2 q5 k0 d64 causal lse",
    "b1 h1 q128 k128 d64 causal lse", "b1 h1 q127 k129 d64 causal lse", "b1 h1 q129 k127 d64 causal lse",
    "b1 h1 q16 k16 d64 causal lse", "b1 h1 q17 k15 d64 causal lse", "b1 h1 q64 k64 d64 causal bthd lse",
    "b2 h4/1 q63 k64 d64 causal lse", "b1 h2 q3 k200 d64 causal lse", "b1 h1 q66 k128 d64 causal lse",
    "b1 h1 q65 k128 d64 causal lse",

    /* causal, top-left and explicit diagonals; off62 and its kin end one key short of a tile of 64, 32 or 16 */
    "b2 h2 q65 k65 d64 causal-tl lse", "b1 h4/2 q33 k70 d64 causal-tl lse", "b1 h2 q70 k33 d64 causal-tl lse",
    "b1 h2 q1 k70 d64 causal-tl lse", "b1 h2 q33 k70 d64 causal off0 lse", "b1 h2 q33 k70 d64 causal off5 lse",
    "b1 h2 q33 k70 d64 causal off-20 lse", "b1 h2 q33 k70 d64 causal off-33 lse",
    "b1 h2 q33 k70 d64 causal off-1000 lse", "b1 h2 q33 k70 d64 causal off69 lse",
    "b1 h2 q33 k70 d64 causal off1000 lse", "b1 h1 q70 k33 d64 causal off-1 lse",
    "b1 h1 q130 k200 d64 causal off62 lse", "b1 h1 q130 k200 d64 causal off63 lse",
    "b1 h1 q130 k200 d64 causal off30 lse", "b1 h1 q130 k200 d64 causal off14 lse",
    "b1 h1 q130 k200 d64 causal off-2 lse",

    /* lengths of padded tensors */
    "b3 h2 q33 k70 d64 kvlen:70,1,0 lse", "b3 h4/2 q33 k70 d64 kvlen:69,32,64 lse", "b3 h2 q33 k70 d64 kvlen:0,0,0 lse",
    "b4 h8/2 q1 k150 d64 kvlen:150,149,3,64 lse", "b3 h2 q33 k70 d64 qlen:33,7,0 lse",
    "b2 h2 q40 k9 d64 qlen:1,39 bthd lse", "b3 h2 q33 k70 d64 kvstart:0,13,70 lse",
    "b2 h2 q5 k70 d64 kvstart:64,69 lse", "b3 h4/2 q33 k70 d64 causal kvlen:70,20,0 lse",
    "b2 h2 q20 k140 d64 causal kvlen:140,19 lse", "b3 h2 q33 k70 d64 causal-tl kvlen:70,20,0 lse",
    "b4 h2 q33 k70 d64 qlen:33,1,0,20 kvlen:70,5,33,64 kvstart:3,0,30,64 lse",
    "b4 h2 q33 k70 d64 qlen:33,32,31,30 kvlen:70,70,10,1 kvstart:3,69,30,1 lse",
    "b4 h2 q33 k70 d64 causal qlen:33,1,0,20 kvlen:70,5,33,64 kvstart:3,0,30,64 lse",
    "b2 h4/2 q40 k100 d64 causal qlen:40,40 kvlen:100,37 kvstart:90,0 lse",
    "b4 h2 q33 k70 d64 causal off3 qlen:33,1,0,20 kvlen:70,5,33,64 kvstart:3,0,30,64 bthd lse",

    /* scales: none, none at all, mirrored, and logits of 3e4 */
    "b1 h2 q33 k70 d64 scale0 lse", "b1 h2 q33 k70 d64 scale-0.25 lse", "b1 h2 q33 k70 d64 scale1 lse",
    /* two keys and small logits: the bound is tight, and an error in 2^x has nothing to average with */
    "b2 h8 q257 k2 d64 scale0.01 lse", "b1 h2 q33 k70 d64 scale1000 lse", "b1 h2 q33 k70 d64 causal scale-1000 lse",

    /* widths */
    "b1 h2 q17 k37 d1 lse", "b1 h2 q17 k37 d3 lse", "b1 h2 q17 k37 d8 lse", "b1 h2 q37 k17 d16 causal lse",
    "b1 h2 q17 k37 d33 lse", "b1 h2 q17 k37 d59 lse", "b1 h2 q17 k37 d80 lse", "b1 h2 q17 k37 d96 causal lse",
    "b1 h2 q17 k37 d111 lse", "b1 h2 q17 k37 d128 lse", "b1 h2 q33 k66 d192 lse", "b1 h2 q17 k37 d256 lse",
    "b1 h1 q9 k21 d512 lse", "b1 h2/1 q9 k21 d576/512 lse", "b1 h2 q17 k37 d64/32 lse", "b1 h2 q17 k37 d32/64 lse",
    "b1 h2 q17 k37 d1/16 lse", "b1 h2 q17 k37 d16/1 lse", "b1 h2 q17 k37 d192/128 causal lse",
    "b1 h1 q9 k21 d7/576 lse",

    /* storage of K and V on its own */
    "b1 h4/2 q33 k70 d64 k:f16 v:f16 lse", "b1 h4/2 q33 k70 d64 k:bf16 v:bf16 lse",
    "b1 h4/2 q33 k70 d64 k:f32 v:f32 lse", "b2 h2 q33 k70 d64 causal k:f16 v:bf16 kvlen:70,9 lse",
    "b1 h2 q17 k37 d33 v:f16 lse", "b1 h2 q17 k37 d33 k:bf16 lse"
};

/* What every engine shows itself on in every type, with several tiles, groups, ragged widths, and lengths. */
static const char *const engine_cases[] = { "b2 h4/2 q37 k83 d41/26 causal lse",
                                            "b3 h2/1 q33 k70 d19/35 qlen:33,1,20 kvlen:70,5,64 kvstart:3,0,30 lse" };
/* And every tile of every engine in f32: more keys and queries than any tile has, one less and one more than a multiple
 * of it, and diagonals that drop whole tiles and none. One program per tile serves them all. */
static const char *const tile_cases[] = { "b1 h2/1 q131 k261 d44/52 causal lse", "b1 h2/1 q127 k255 d44/52 causal lse",
                                          "b1 h2/1 q129 k257 d44/52 causal lse",
                                          "b1 h2/1 q129 k255 d44/52 causal off-100 lse",
                                          "b1 h2/1 q127 k257 d44/52 causal off1000 lse" };

/* A kernel of each kind on as little work as shows anything: for simulators and sanitizers. */
static const char *const quick_cases[] = { "b1 h2/1 q5 k9 d8 lse", "b2 h1 q6 k5 d8 causal lse",
                                           "b2 h1 q3 k7 d5/3 qlen:3,1 kvlen:6,0 kvstart:1,0 lse" };

enum {
    N_CASES = sizeof cases / sizeof *cases,
    N_QUICK = sizeof quick_cases / sizeof *quick_cases,
    N_ENGINE = sizeof engine_cases / sizeof *engine_cases,
    N_TILE = sizeof tile_cases / sizeof *tile_cases
};

#endif
