/* cases.h - the problems that forward.c and engines.c run, without their TYPE
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows of one class (d, mask, lists) stand together: they share a kernel, and a kernel takes a second to build. */
#ifndef CASES_H
#define CASES_H

static const char *const case_types[] = { "f32", "f16", "bf16", "f64" };

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

    /* more work-groups than a grid is wide, and not a rectangle of them */
    "b23 h2999 q1 k2 d1 causal bthd lse", "b1 h1 q307 k301 d64 mask:11qk blocks:1,1 lse",

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
    "b1 h2 q17 k37 d33 v:f16 lse", "b1 h2 q17 k37 d33 k:bf16 lse",

    /* windows: one bound, both, none; the smaller right one wins; bounds at the edges of tiles; rows without a key */
    "b2 h2 q65 k65 d64 window7,0 lse", "b2 h4/2 q65 k129 d64 window0,0 lse", "b1 h2 q33 k70 d64 window-1,3 lse",
    "b1 h2 q33 k70 d64 window5,-1 lse", "b1 h2 q33 k70 d64 window-1,-1 lse", "b1 h2 q33 k70 d64 window20,9 causal lse",
    "b1 h2 q33 k70 d64 window3,20 causal lse", "b1 h2 q70 k33 d64 window10,10 lse",
    "b1 h2 q33 k70 d64 window16,0 causal-tl lse", "b1 h2 q70 k33 d64 causal-tl window4,-1 lse",
    "b1 h2 q33 k70 d64 window5,5 off-1000 lse", "b1 h2 q33 k70 d64 window5,5 off-20 lse",
    "b1 h1 q130 k261 d64 window63,0 lse", "b1 h1 q130 k261 d64 window64,0 lse", "b1 h1 q130 k261 d64 window63,63 lse",
    "b1 h1 q130 k261 d64 window127,1 off62 lse", "b1 h1 q130 k261 d64 window0,127 off63 lse",
    "b3 h4/2 q33 k70 d64 window9,4 kvlen:70,20,0 lse",
    "b4 h2 q33 k70 d64 window6,2 qlen:33,1,0,20 kvlen:70,5,33,64 kvstart:3,0,30,64 lse",

    /* caps that bend every score, and none; far below the logits */
    "b1 h4/2 q33 k70 d64 softcap0.5 lse", "b1 h2 q33 k70 d64 softcap50 lse", "b1 h2 q33 k70 d64 softcap5 scale10 lse",
    "b2 h2 q65 k65 d64 causal softcap1000 scale1000 lse", "b1 h2 q33 k70 d64 softcap0.001 lse",
    "b1 h2 q33 k70 d64 softcap1000000 lse", "b2 h2 q20 k9 d64 softcap0.01 scale0.01 lse",
    /* two keys again, and small scores that the cap bends */
    "b2 h8 q257 k2 d64 softcap0.25 scale0.01 lse", "b2 h8 q257 k2 d1 softcap0.3 lse",

    /* dropout: nearly none, nearly all; keys that begin anywhere, parts, heads that share keys */
    "b2 h4/2 q33 k70 d64 dropout0.1 lse", "b1 h2 q37 k83 d16 dropout0.00001 lse", "b1 h2 q37 k83 d16 dropout0.99 lse",
    "b3 h4/2 q33 k70 d41/26 causal dropout0.5 qlen:33,1,20 kvlen:70,5,64 kvstart:3,0,30 lse",
    "b1 h2 q65 k131 d64 window9,6 dropout0.3 sink lse", "b4 h4/2 q9 k300 d64 varlen dropout0.7 splits5 lse",
    "b1 h4/1 q1 k1000 d64 dropout0.4 splits7 lse", "b2 h4/2 q33 k70 d64 k:int8 v:q4_0 page9 dropout0.2 lse",
    "b1 h2 q20 k700 d64 blocks:16,7 dropout0.2 mod:relative lse",

    /* slopes, around every kind of diagonal */
    "b2 h4/2 q33 k70 d64 alibi lse", "b2 h8 q65 k65 d64 causal alibi lse", "b1 h2 q70 k33 d64 causal-tl alibi lse",
    "b1 h2 q33 k70 d64 alibi off5 lse", "b1 h2 q33 k70 d64 alibi off-30 lse", "b1 h2 q1 k257 d64 alibi lse",
    "b4 h2 q33 k70 d64 causal alibi qlen:33,1,0,20 kvlen:70,5,33,64 kvstart:3,0,30,64 lse",
    "b1 h2 q33 k70 d64 alibi off100000 lse",

    /* bias: every set of axes, every type */
    "b2 h4/2 q33 k70 d64 bias:1111 lse", "b2 h4/2 q33 k70 d64 bias:111k lse", "b2 h4/2 q33 k70 d64 bias:11q1 lse",
    "b2 h4/2 q33 k70 d64 bias:11qk lse", "b2 h4/2 q33 k70 d64 bias:1h11 lse", "b2 h4/2 q33 k70 d64 bias:1h1k lse",
    "b2 h4/2 q33 k70 d64 bias:1hq1 lse", "b2 h4/2 q33 k70 d64 bias:1hqk lse", "b2 h4/2 q33 k70 d64 bias:b111 lse",
    "b2 h4/2 q33 k70 d64 bias:b11k lse", "b2 h4/2 q33 k70 d64 bias:b1q1 lse", "b2 h4/2 q33 k70 d64 bias:b1qk lse",
    "b2 h4/2 q33 k70 d64 bias:bh11 lse", "b2 h4/2 q33 k70 d64 bias:bh1k lse", "b2 h4/2 q33 k70 d64 bias:bhq1 lse",
    "b2 h4/2 q33 k70 d64 bias:bhqk lse", "b2 h4/2 q129 k127 d64 bias:bhqk lse", "b2 h2 q5 k0 d64 bias:bhqk lse",
    "b2 h2 q0 k5 d64 bias:bhqk lse", "b1 h2 q33 k70 d64 bias:bhqk:f16 lse", "b2 h2 q33 k70 d64 bias:b11k:f16 lse",
    "b1 h2 q33 k70 d64 bias:11qk:bf16 lse", "b2 h2 q33 k70 d64 bias:1h1k:bf16 lse",
    "b2 h2 q65 k65 d64 causal bias:bhqk lse",
    "b3 h2 q33 k70 d64 bias:bhqk qlen:33,7,0 kvlen:70,1,33 kvstart:3,0,30 lse",

    /* as many entries and heads as divide those of the call */
    "b2 h4/2 q33 k70 d64 bias:12qk lse", "b4 h6/2 q33 k70 d64 bias:23qk lse", "b6 h4/2 q20 k70 d64 bias:321k:f16 lse",
    "b2 h4/2 q33 k70 d64 mask:12qk lse", "b6 h2 q33 k70 d64 bias:2hq1 mask:3hqk lse",
    "b4 h4/2 q70 k150 d64 causal mask:2211 lse", "b4 h2 q65 k65 d64 varlen bias:2hqk mask:b1qk lse",
    "b4 h4/1 q150 k300 d64 mask:22qk blocks:32,16 lse", "b4 h8/4 q9 k70 d64 mask:b41k lse",

    /* a bias times slopes */
    "b2 h4/2 q33 k70 d64 bias:11qk slopes lse", "b2 h4/2 q33 k70 d64 softcap5 bias:bhqk:f16 slopes lse",
    "b4 h8/4 q33 k70 d64 causal bias:22qk slopes sink lse", "b3 h2 q33 k70 d64 varlen bias:1h1k slopes lse",

    /* masks: every set of axes */
    "b2 h4/2 q33 k70 d64 mask:1111 lse", "b2 h4/2 q33 k70 d64 mask:111k lse", "b2 h4/2 q33 k70 d64 mask:11q1 lse",
    "b2 h4/2 q33 k70 d64 mask:11qk lse", "b2 h4/2 q33 k70 d64 mask:1h11 lse", "b2 h4/2 q33 k70 d64 mask:1h1k lse",
    "b2 h4/2 q33 k70 d64 mask:1hq1 lse", "b2 h4/2 q33 k70 d64 mask:1hqk lse", "b2 h4/2 q33 k70 d64 mask:b111 lse",
    "b2 h4/2 q33 k70 d64 mask:b11k lse", "b2 h4/2 q33 k70 d64 mask:b1q1 lse", "b2 h4/2 q33 k70 d64 mask:b1qk lse",
    "b2 h4/2 q33 k70 d64 mask:bh11 lse", "b2 h4/2 q33 k70 d64 mask:bh1k lse", "b2 h4/2 q33 k70 d64 mask:bhq1 lse",
    "b2 h4/2 q33 k70 d64 mask:bhqk lse", "b2 h4/2 q129 k127 d64 mask:bhqk lse", "b2 h2 q5 k0 d64 mask:bhqk lse",
    "b2 h2 q65 k65 d64 causal mask:bhqk lse", "b2 h2 q33 k70 d64 window9,5 mask:11qk lse",
    "b2 h4/2 q100 k70 d64 mask:b1qk lse", "b1 h6/2 q150 k70 d64 mask:11qk lse",
    "b3 h2 q33 k70 d64 mask:bhqk qlen:33,7,0 kvlen:70,1,33 kvstart:3,0,30 lse",

    /* blocks: uploaded, and made of the mask on the device */
    "b2 h4/2 q150 k300 d64 blocks:16,16 lse", "b1 h4/2 q300 k700 d64 blocks:64,64 lse",
    "b1 h2 q300 k1100 d64 blocks:128,128 lse", "b2 h2 q150 k300 d64 blocks:33,17 lse",
    "b1 h2 q33 k70 d64 blocks:1,1 lse", "b1 h2 q9 k20 d64 blocks:64,64 lse",
    "b1 h2 q150 k300 d64 causal blocks:16,16 lse",
    "b3 h2 q100 k200 d64 blocks:16,32 qlen:100,70,0 kvlen:200,40,90 kvstart:3,0,60 lse",
    "b2 h4/2 q150 k300 d64 mask:bhqk blocks:16,16 lse", "b1 h4/2 q300 k700 d64 mask:1hqk blocks:64,64 lse",
    "b1 h2 q300 k1100 d64 mask:11qk blocks:128,128 lse", "b2 h2 q150 k300 d64 mask:b1qk blocks:33,17 lse",
    "b2 h2 q150 k300 d64 mask:b11k blocks:16,16 lse", "b2 h2 q150 k70 d64 mask:1hq1 blocks:16,16 lse",
    "b1 h2 q9 k20 d64 mask:bhqk blocks:64,64 lse", "b1 h2 q150 k300 d64 causal mask:11qk blocks:32,64 lse",

    /* sinks, also where nothing else is seen */
    "b2 h4/2 q33 k70 d64 sink lse", "b1 h2 q70 k33 d64 causal sink lse", "b3 h2 q33 k70 d64 sink kvlen:70,1,0 lse",
    "b1 h2 q33 k70 d64 sink scale1000 lse", "b1 h2 q33 k1 d64 sink lse", "b2 h2 q5 k0 d64 sink lse",
    "b2 h2 q33 k70 d64 sink scale0.01 lse", "b1 h2 q33 k70 d64 sink",

    /* heads that share keys as rows of one tile, which the queries of one leave empty. The first of a class decides for
     * the plan: calls of other sizes are next */
    "b2 h8/2 q5 k70 d40 causal bthd lse", "b2 h6/1 q13 k70 d40 causal lse", "b2 h4/2 q100 k130 d40 causal lse",
    "b2 h3 q5 k70 d40 causal lse", "b2 h6/2 q7 k70 d40/24 window9,3 softcap5 sink lse",
    "b3 h6/2 q5 k70 d40 causal sink qlen:5,2,0 kvlen:70,9,33 kvstart:1,0,30 lse", "b4 h8/2 q9 k70 d40 varlen sink lse",

    /* few rows, which are engine row's on CPUs: every number of them, and what is read by query and key */
    "b2 h3 q1 k133 d40/72 lse", "b2 h3 q2 k133 d40/72 window30,5 sink lse",
    "b1 h2 q3 k133 d72/40 softcap4 bias:bhqk lse", "b2 h4/2 q4 k70 d41/26 causal alibi mask:bhqk lse",
    "b1 h4/2 q2 k70 d41/26 causal sink scale0.01 lse", "b1 h2 q7 k300 d41/26 blocks:2,5 lse",
    "b1 h2 q1 k283 d41/26 mask:11qk blocks:2,32 bias:1h1k:f16 lse", "b2 h2 q4 k40 d20 bias:bhq1 mask:11q1 lse",
    "b3 h2 q4 k70 d20 varlen mod:document,relative lse", "b1 h2 q3 k37 d9/5 causal lse",

    /* varlen sequences */
    "b4 h4/2 q33 k70 d64 varlen lse", "b6 h4/2 q33 k70 d64 varlen lse", "b4 h4/2 q70 k70 d64 varlen lse",
    "b4 h2 q65 k65 d64 varlen causal lse", "b4 h2 q130 k70 d64 varlen causal lse",
    "b4 h2 q70 k130 d64 varlen causal lse", "b7 h2 q4 k9 d64 varlen lse", "b1 h2 q33 k70 d64 varlen causal-tl lse",
    "b8 h2 q40 k33 d64 varlen lse", "b5 h2 q65 k65 d64 varlen causal off3 lse", "b0 h2 q3 k5 d64 varlen lse",
    "b3 h2 q0 k5 d64 varlen lse", "b3 h2 q5 k0 d64 varlen lse",
    "b3 h2 q33 k70 d64 varlen causal qlen:9,33,20 kvlen:70,5,64 kvstart:1,0,30 lse", "b4 h2 q65 k65 d64 varlen",
    "b4 h4/1 q65 k65 d48/80 varlen causal lse", "b4 h2 q65 k65 d64 varlen alibi lse",
    "b4 h2 q65 k65 d64 varlen window9,5 lse", "b4 h2 q65 k65 d64 varlen sink lse",
    "b4 h2 q65 k65 d64 varlen bias:bhqk lse", "b4 h2 q65 k65 d64 varlen mask:bhqk lse",
    "b4 h2 q65 k65 d64 varlen mask:bhqk blocks:16,16 lse",

    /* score_mods, alone and together; few rows where many take long to compile */
    "b2 h4/2 q33 k70 d64 mod:alibi lse", "b2 h4/2 q13 k70 d64 mod:causal lse", "b2 h4/2 q13 k70 d64 mod:document lse",
    "b2 h4/2 q13 k70 d64 mod:pair_bias lse", "b2 h4/2 q13 k70 d64 mod:relative lse",
    "b2 h4/2 q13 k270 d64 mod:relative_bias lse", "b2 h4/2 q13 k70 d64 mod:softcap scale10 lse",
    "b2 h4/2 q13 k70 d64 mod:tanh_gate lse", "b2 h4/2 q13 k70 d64 mod:strided lse",
    "b2 h4/2 q70 k150 d64 mod:strided,relative lse", "b3 h4/2 q70 k90 d64 varlen mod:strided lse",
    "b2 h4/2 q65 k65 d33/49 causal mod:document,relative lse", "b2 h4/1 q13 k70 d64 mod:softcap,relative lse",
    "b2 h4/1 q13 k70 d64 mod:relative,softcap scale10 lse", "b2 h4/2 q13 k70 d64 mod:causal,tanh_gate lse",
    "b2 h4/2 q13 k70 d64 mod:causal,softcap lse", "b4 h2 q33 k70 d64 varlen mod:document,tanh_gate lse",
    "b3 h2 q33 k70 d64 mod:tanh_gate,alibi qlen:33,7,0 kvlen:70,1,33 kvstart:3,0,30 lse",

    /* pages, smaller and larger than tiles; sequences end within one, at its end and before the first */
    "b2 h4/2 q3 k70 d64 page16 lse", "b3 h4/2 q33 k70 d64 page7 kvlen:70,9,33 lse", "b2 h2 q1 k257 d64 page1 lse",
    "b3 h4/2 q20 k70 d64 page128 causal kvlen:70,0,13 lse", "b2 h2 q5 k64 d64 page64 kvlen:64,63 lse",
    "b2 h4/2 q40 k130 d64 page33 causal kvlen:130,66 kvstart:60,0 qlen:40,13 bthd lse", "b2 h2 q5 k0 d64 page4 lse",
    "b0 h2 q5 k9 d64 page4 lse", "b2 h2 q0 k9 d64 page4 lse", "b3 h2 q7 k90 d64 page3 kvlen:90,1,44 lse",
    "b2 h4/1 q4 k300 d40/24 page16 window30,5 softcap4 alibi sink kvlen:300,77 lse",
    "b2 h4/2 q20 k90 d64 page10 bias:bhqk mask:b1qk kvlen:90,33 lse",
    "b2 h2 q37 k150 d64 page24 causal mask:11qk blocks:16,32 kvlen:150,90 lse",
    "b2 h4/2 q13 k70 d64 page5 mod:relative,document kvlen:70,31 lse", "b1 h2/1 q129 k257 d41/26 page20 causal lse",

    /* quantised K, V and both: every type, with groups of all sizes, and zero points */
    "b2 h4/2 q3 k70 d64 k:int8 lse", "b2 h4/2 q33 k70 d64 v:int8 lse", "b2 h4/2 q3 k70 d64 k:int4 lse",
    "b2 h4/2 q33 k70 d64 v:int4 lse", "b2 h4/2 q3 k70 d64 k:q8_0 lse", "b2 h4/2 q33 k70 d64 v:q8_0 lse",
    "b2 h4/2 q3 k70 d64 k:q4_0 lse", "b2 h4/2 q33 k70 d64 v:q4_0 lse", "b2 h4/2 q33 k70 d64 k:int8:32 v:int8:16z lse",
    "b2 h2 q5 k70 d64 k:int4:16z v:int4:32 lse", "b2 h2 q33 k70 d64 k:int8:1z v:int4:1 bthd lse",
    "b2 h2 q4 k70 d64 k:int4:1z v:int8:1 lse", "b2 h4/1 q9 k70 d41/26 k:int8z v:int4z lse",
    "b1 h2 q17 k37 d42/27 k:int4 v:int8:16 lse", "b1 h2 q17 k37 d72/40 k:int8:32z v:int4:16z causal lse",
    "b2 h2 q20 k90 d96/32 k:q8_0 v:q4_0 causal kvlen:90,31 kvstart:9,0 lse",
    "b2 h4/2 q1 k257 d64/160 k:q4_0 v:q8_0 lse", "b2 h4/2 q33 k70 d128 k:int8:32 v:q4_0 lse",
    "b1 h2 q70 k33 d1/3 k:int8 v:int8z causal lse", "b1 h2 q5 k40 d256/288 k:q4_0 v:int4:64 lse",
    "b1 h1 q3 k40 d576/512 k:int8:64 v:int8:64 lse", "b4 h4/2 q33 k70 d64 varlen causal k:int8:32 v:q8_0 lse",
    "b4 h2 q7 k40 d64 varlen k:q4_0 v:int4:16z lse",
    "b2 h4/2 q20 k90 d64 window20,9 softcap5 alibi bias:1hqk mask:b1qk sink k:int4:32 v:int8 lse",
    "b2 h2 q37 k150 d64 k:q8_0 v:int8:32 blocks:16,32 lse", "b2 h4/2 q13 k70 d64 k:int8 v:q4_0 mod:relative lse",
    "b2 h4/2 q5 k0 d64 k:int8 v:int4z lse", "b2 h2 q33 k1 d64 k:q4_0 v:int8z lse",
    "b1 h4/2 q65 k65 d64 k:int8 v:int8 bthd lse", "b2 h4/2 q3 k70 d64 k:f16 v:int8:32 lse",
    "b2 h4/2 q3 k70 d64 k:int4 v:bf16 lse", "b2 h4/2 q3 k70 d64 k:q4_1 lse", "b2 h4/2 q33 k70 d64 v:q4_1 lse",
    "b2 h4/2 q3 k70 d64 k:q5_0 lse", "b2 h4/2 q33 k70 d64 v:q5_0 lse", "b2 h4/2 q3 k70 d64 k:q5_1 lse",
    "b2 h4/2 q33 k70 d64 v:q5_1 lse", "b2 h2 q20 k90 d96/32 k:q5_1 v:q4_1 causal kvlen:90,31 kvstart:9,0 lse",
    "b2 h4/2 q1 k257 d64/160 k:q4_1 v:q5_0 lse", "b4 h2 q7 k40 d64 varlen k:q5_0 v:q5_1 lse",
    "b2 h2 q33 k70 d64 softcap5 alibi bias:1hqk mask:b1qk sink k:q5_0 v:q4_1 lse",

    /* quantised, in pages */
    "b2 h4/2 q3 k70 d64 page16 kvlen:70,9 k:int8:32 v:q4_0 lse", "b2 h4/2 q33 k70 d64 page16 k:q8_0 v:int4:16z lse",
    "b3 h2 q1 k150 d64 page7 kvlen:150,3,60 k:int4 v:int8z lse",
    "b2 h4/1 q8 k90 d40/26 page9 causal k:int8z v:int8 lse", "b2 h4/2 q4 k70 d64 page1 kvlen:70,33 k:q4_0 v:q8_0 lse",
    "b2 h2 q5 k130 d64 page64 v:int8:1z lse", "b2 h4/2 q3 k70 d64 page16 kvlen:70,9 k:q4_1 v:q5_1 lse",
    "b2 h4/2 q33 k70 d64 page1 k:q5_0 v:q4_1 lse",

    /* keys in parts: fewer than keys, as many, more; parts that see nothing, and rows that do */
    "b2 h4/2 q3 k70 d64 splits1 lse", "b2 h4/2 q3 k700 d64 splits2 lse", "b1 h4/2 q1 k1000 d64 splits7 lse",
    "b1 h8/1 q5 k513 d64 splits64 lse", "b2 h2 q33 k300 d64 splits3 lse", "b1 h2 q2 k3 d64 splits5 lse",
    "b2 h2 q5 k0 d64 splits4 lse", "b0 h2 q3 k5 d64 splits2 lse", "b2 h2 q0 k5 d64 splits2 lse",
    "b4 h4/2 q2 k600 d64 splits6 kvlen:600,1,0,333 kvstart:5,0,0,300 lse", "b2 h2 q70 k300 d64 splits4 causal lse",
    "b2 h2 q130 k70 d64 splits3 causal lse", "b3 h2 q9 k400 d64 splits5 sink kvlen:400,3,0 lse",
    "b1 h2 q33 k300 d64 splits4",
    "b2 h4/2 q4 k500 d40/24 splits9 window100,20 softcap4 alibi bias:bhqk mask:b1qk sink lse",
    "b4 h4/2 q9 k300 d64 varlen causal splits5 lse", "b1 h2 q20 k700 d64 splits6 blocks:16,64 lse",
    "b2 h4/2 q13 k300 d64 splits4 mod:relative,document lse", "b1 h2/1 q3 k1025 d33/49 splits1024 lse",
    "b1 h2 q3 k300 d64 splits3 scale1000 lse", "b3 h2 q5 k400 d64 splits7 page16 causal kvlen:400,17,300 lse",
    "b2 h4/2 q3 k300 d64 splits3 k:int8:32 v:q4_0 bthd lse",
    "b2 h4/2 q3 k300 d64 splits5 page16 kvlen:300,70 k:q8_0 v:int4:16z lse",

    /* O of other types than Q */
    "b2 h4/2 q33 k70 d64 o:f32 lse", "b2 h4/2 q3 k70 d64 o:f16 lse", "b2 h4/2 q33 k70 d40/26 o:bf16 causal lse",
    "b2 h4/2 q3 k300 d64 splits4 o:f32 lse", "b4 h2 q33 k70 d64 varlen o:f16 lse", "b1 h2 q33 k0 d64 o:f32 sink lse",
    "b2 h4/2 q3 k300 d64 splits3 page16 kvlen:300,70 k:int8 v:int8 o:f32 bthd lse",

    /* several at once */
    "b2 h4/2 q33 k70 d64 causal window20,9 softcap5 alibi bias:1hqk mask:b1qk sink mod:relative lse",
    "b3 h4/2 q70 k70 d48/32 varlen window20,9 softcap5 alibi bias:bhqk:f16 mask:bhqk blocks:16,16 sink mod:document lse"
};

/* What every engine shows itself on in every type, with several tiles, groups, ragged widths, and lengths. */
static const char *const engine_cases[] = { "b2 h4/2 q37 k83 d41/26 causal lse",
                                            "b3 h8/2 q33 k70 d19/35 qlen:33,1,20 kvlen:70,5,64 kvstart:3,0,30 lse" };
/* And every tile of every engine in f32: more keys and queries than any tile has, one less and one more than a multiple
 * of it, and diagonals that drop whole tiles and none. One program per tile serves them all. */
static const char *const tile_cases[] = { "b1 h2/1 q131 k261 d44/52 causal lse", "b1 h2/1 q127 k255 d44/52 causal lse",
                                          "b1 h2/1 q129 k257 d44/52 causal lse",
                                          "b1 h2/1 q129 k255 d44/52 causal off-100 lse",
                                          "b1 h2/1 q127 k257 d44/52 causal off1000 lse" };

/* One, two and four rows that share keys: in engine row's tiles for so many. */
static const char *const few_cases[] = { "b1 h2 q1 k133 d41/26 lse", "b2 h2 q2 k83 d41/26 causal lse",
                                         "b2 h4/2 q2 k83 d41/26 causal lse" };

/* Every fragment of the scores and masks at least once in every engine. */
static const char *const feature_cases[] = {
    "b2 h4/2 q37 k83 d41/26 window30,20 softcap4 bias:b1qk sink lse",
    "b3 h4/2 q37 k83 d41/26 varlen causal alibi mask:11qk mod:document,relative lse",
    "b1 h4/2 q130 k283 d41/26 blocks:16,32 lse", "b2 h4/2 q37 k83 d41/26 window30,20 alibi dropout0.4 sink lse",
    "b1 h4/2 q130 k283 d41/26 causal mask:1hqk blocks:32,16 bias:1h1k:f16 lse",
    "b2 h4/2 q37 k83 d41/26 page9 kvlen:83,20 causal lse", "b2 h4/2 q37 k83 d40/26 k:int8:16z v:int4z causal lse",
    "b2 h4/2 q37 k83 d32/64 k:q8_0 v:q4_0 lse", "b2 h4/2 q37 k83 d64/32 page9 kvlen:83,20 k:q4_0 v:int8:16 lse",
    "b2 h4/2 q37 k83 d64/32 k:q5_1 v:q5_0 lse", "b2 h4/2 q37 k83 d32/64 page9 kvlen:83,20 k:q4_1 v:q5_1 lse",
    "b2 h4/2 q3 k283 d41/26 splits5 sink lse",
    "b2 h4/2 q37 k283 d40/26 splits3 page16 kvlen:283,70 k:int4 v:int8 o:f16 lse"
};

/* A kernel of each kind on as little work as shows anything: for simulators and sanitizers. */
static const char *const quick_cases[] = { "b1 h2/1 q5 k9 d9/6 lse", "b2 h1 q6 k5 d8 causal lse",
                                           "b2 h1 q3 k7 d5/3 qlen:3,1 kvlen:6,0 kvstart:1,0 lse" };
/* The same for what changes and drops scores, in f32 alone. */
static const char *const quick_features[] = { "b1 h2/1 q5 k9 d8 window3,1 softcap4 sink lse",
                                              "b2 h2/1 q6 k9 d8 causal alibi bias:1h1k:bf16 mask:b1qk lse",
                                              "b3 h2/1 q6 k9 d8 varlen mod:tanh_gate,relative bias:11qk lse",
                                              "b1 h1 q9 k20 d8 mask:11qk blocks:4,8 lse",
                                              "b2 h2/1 q5 k9 d8 causal dropout0.4 lse",
                                              "b1 h2 q9 k40 d8 blocks:4,8 lse",
                                              "b2 h2/1 q5 k9 d8/6 page4 kvlen:9,3 lse",
                                              "b2 h2/1 q3 k9 d8/6 k:int8 v:int4z lse",
                                              "b1 h2/1 q3 k9 d32 page2 k:q4_0 v:q8_0 lse",
                                              "b1 h2/1 q3 k9 d32 k:q5_1 v:q4_1 lse",
                                              "b2 h2/1 q3 k40 d8 splits3 kvlen:40,7 o:f16 lse" };

enum {
    N_CASE_TYPES = sizeof case_types / sizeof *case_types,
    N_CASES = sizeof cases / sizeof *cases,
    N_QUICK = sizeof quick_cases / sizeof *quick_cases,
    N_QUICK_FEATURES = sizeof quick_features / sizeof *quick_features,
    N_FEATURES = sizeof feature_cases / sizeof *feature_cases,
    N_ENGINE = sizeof engine_cases / sizeof *engine_cases,
    N_FEW = sizeof few_cases / sizeof *few_cases,
    N_TILE = sizeof tile_cases / sizeof *tile_cases
};

#endif
