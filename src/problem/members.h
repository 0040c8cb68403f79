/* members.h - the members of a problem and its flags: a row for each, and what each takes part in. Knows no device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * problem.c does not compile while a member of clattn_problem has no row here, and refuses flags that have none. Keys
 * leave out pointers by these rows. tests/unit/member_list.c holds each row that has words to what it says of classes,
 * programs and problem strings; tests/house/members.t looks for its names in clattn-run, clattn.hpp and Python. */
#ifndef MEMBERS_H
#define MEMBERS_H

/* Where a difference in a member alone shows. In keys it always does. */
enum member_part {
    MEMBER_CLASS = 1,  /* in their class, and so in what is measured and recorded */
    MEMBER_PROGRAM = 2 /* in the programs that are composed for them */
};

/* X(member, its type in C, parts, two words of problem strings that differ in it alone, the option of clattn-run that
 * fills it in, the setter of clattn.hpp, the argument of Python's functions). NULL and "": there is none, because the
 * shape or type of an array says it, or nobody needs it there. Members in their order; P: one that is a pointer, whose
 * texts are in the key in its place. */
#define PROBLEM_MEMBERS(X, P) \
    X(type, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "f32", "f16", "--type", "type", "") \
    X(k_type, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "k:f16", "k:bf16", "--k-type", "k_type", "k_type") \
    X(v_type, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "v:f16", "v:bf16", "--v-type", "v_type", "v_type") \
    X(d, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "d64/32", "d128/32", "", "width", "") \
    X(dv, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "d64/32", "d64/128", "", "width", "") \
    X(causal, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "", "causal", "--causal", "causal", "causal") \
    X(align, int32_t, 0, "causal", "causal-tl", "--align", "align", "align") \
    X(flags, uint32_t, 0, NULL, NULL, "", "flag", "") \
    X(scale, double, 0, "scale0.5", "scale0.25", "--scale", "scale", "scale") \
    X(sizes, clattn_sizes, MEMBER_CLASS, "q5", "q5000", "", "sizes", "") \
    X(softcap, double, 0, "softcap3", "softcap5", "--softcap", "softcap", "softcap") \
    X(window_left, int32_t, 0, "window3,4", "window5,4", "--window", "window", "window") \
    X(window_right, int32_t, 0, "window3,4", "window3,5", "--window", "window", "window") \
    X(bias_type, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "bias:bhqk:f16", "bias:bhqk:bf16", "--bias", "bias", "bias") \
    X(n_mods, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, NULL, NULL, "--score-mod", "score_mod", "score_mod") \
    X(n_aux, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, NULL, NULL, "--aux", "captured", "aux") \
    X(reserved, int32_t, 0, NULL, NULL, "", "", "") \
    P(mods, const clattn_score_mod *, MEMBER_CLASS | MEMBER_PROGRAM, NULL, NULL, "--score-mod", "score_mod", \
      "score_mod") \
    P(aux, const clattn_aux *, MEMBER_CLASS | MEMBER_PROGRAM, NULL, NULL, "--aux", "captured", "aux") \
    X(o_type, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "o:f16", "o:bf16", "--o-type", "o_type", "out_dtype") \
    X(k_group, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "k:int8:16", "k:int8:48", "--k-scale", "groups", "k_group") \
    X(v_group, int32_t, MEMBER_CLASS | MEMBER_PROGRAM, "v:int8:16", "v:int8:48", "--v-scale", "groups", "v_group") \
    X(page, int32_t, 0, "page16", "page32", "--block-table", "page", "block_table") \
    X(splits, int32_t, MEMBER_CLASS, "splits2", "splits9", "--splits", "splits", "splits") \
    X(aux_grads, uint32_t, MEMBER_CLASS | MEMBER_PROGRAM, NULL, NULL, "--daux", "captured", "aux_grads") \
    P(mod_grads, const char *const *, MEMBER_CLASS | MEMBER_PROGRAM, NULL, NULL, "--score-mod-grad", "mod_grad", \
      "score_mod_grad") \
    X(dropout_p, double, 0, "dropout0.1", "dropout0.5", "--dropout", "dropout", "dropout_p")

/* X(flag, parts, a word that has it and one that lacks it, option, setter, argument), likewise. */
#define PROBLEM_FLAGS(X) \
    X(CLATTN_SCALE, 0, NULL, NULL, "--scale", "scale", "scale") \
    X(CLATTN_Q_LEN, MEMBER_PROGRAM, "qlen:3", "", "--q-len", "q_len", "q_len") \
    X(CLATTN_KV_LEN, MEMBER_PROGRAM, "kvlen:9", "", "--kv-len", "kv_len", "kv_len") \
    X(CLATTN_KV_START, MEMBER_PROGRAM, "kvstart:1", "", "--kv-start", "kv_start", "kv_start") \
    X(CLATTN_CU_Q, MEMBER_CLASS | MEMBER_PROGRAM, "varlen", "", "--cu-q", "cu_q", "cu_seqlens_q") \
    X(CLATTN_CU_K, MEMBER_CLASS | MEMBER_PROGRAM, "varlen", "", "--cu-k", "cu_k", "cu_seqlens_k") \
    X(CLATTN_WINDOW, MEMBER_CLASS | MEMBER_PROGRAM, "window3,4", "", "--window", "window", "window") \
    X(CLATTN_ALIBI, MEMBER_CLASS | MEMBER_PROGRAM, "alibi", "", "--alibi", "alibi", "alibi") \
    X(CLATTN_SINKS, MEMBER_CLASS | MEMBER_PROGRAM, "sink", "", "--sinks", "sinks", "sinks") \
    X(CLATTN_MASK, MEMBER_CLASS | MEMBER_PROGRAM, "mask:bhqk", "", "--mask", "mask", "mask") \
    X(CLATTN_BLOCK_MAP, MEMBER_CLASS | MEMBER_PROGRAM, "blocks:32,32", "", "--block-map", "block_map", "block_map") \
    X(CLATTN_K_ZERO, MEMBER_CLASS | MEMBER_PROGRAM, "k:int8z", "k:int8", "--k-zero", "k_zero", "k_zero") \
    X(CLATTN_V_ZERO, MEMBER_CLASS | MEMBER_PROGRAM, "v:int8z", "v:int8", "--v-zero", "v_zero", "v_zero") \
    X(CLATTN_APPEND, MEMBER_PROGRAM, NULL, NULL, "", "append", "append") \
    X(CLATTN_ROTARY, MEMBER_PROGRAM, NULL, NULL, "", "rotary", "rotary") \
    X(CLATTN_BACKWARD, MEMBER_CLASS | MEMBER_PROGRAM, "bwd", "", "--dout", "backward", "gradients") \
    X(CLATTN_LSE_F64, MEMBER_PROGRAM, NULL, NULL, "", "lse_f64", "") \
    X(CLATTN_BATCH_INVARIANT, MEMBER_PROGRAM, "invariant", "", "--batch-invariant", "batch_invariant", \
      "batch_invariant") \
    X(CLATTN_SCORES, 0, "scores", "", "--scores", "scores", "return_scores") \
    X(CLATTN_REPEAT, MEMBER_PROGRAM, "mask:12qk", "mask:1hqk", "--repeat", "repeat", "") \
    X(CLATTN_BIAS_SLOPES, MEMBER_PROGRAM, "bias:1hqk slopes", "bias:1hqk", "--bias-slopes", "bias_slopes", "")

#endif
