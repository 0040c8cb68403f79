/* pair_words.h - words of problem strings that tests cross with each other, pair by pair (pairwise.h)
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of those that a forward and a backward call know alike. In a list behind PAIR_PLACES the layout of each place. */
#ifndef PAIR_WORDS_H
#define PAIR_WORDS_H

#include "tests/lib/trial.h"

#define PAIR_MASKS \
    "", "causal", "causal-tl", "mask:bhqk", "mask:11qk", "causal mask:b11k", "mask:1hq1", "blocks:16,32", \
        "mask:bhqk blocks:32,16"
#define PAIR_SCORES \
    "", "softcap3", "alibi", "softcap9 alibi", "mod:document", "mod:strided", "mod:relative,pair_bias"
#define PAIR_SINKS "", "sink"
#define PAIR_DROPOUTS "", "dropout0.4"
#define PAIR_WINDOWS "", "window19,0", "window-1,12", "window25,6"
#define PAIR_DIAGONALS "", "off11", "off-9"
#define PAIR_PLACES \
    "b2 h4/2 q33 k70", "b2 h4/2 q47 k90", "b2 h4/2 q61 k61", "b3 h2/1 q33 k70", "b2 h4/2 q40 k66 bthd", \
        "b3 h2 q33 k70 qlen:33,20,0 kvlen:70,3,41 kvstart:5,0,9", "b3 h4/2 q41 k83 varlen", "b5 h2 q65 k65 varlen", \
        "b4 h2/1 q50 k50 varlen", "b2 h4/1 q70 k52", "b3 h8/2 q1 k90 kvlen:90,0,41", "b2 h4/1 q5 k83 kvlen:29,83"
static const enum layout pair_layouts[] = { PLAIN, PADDED, PACKED, SHARED, PADDED, REPEAT, PLAIN, UNEVEN, PACKED,
                                            OFFSETS, PADDED, PLAIN };

#endif
