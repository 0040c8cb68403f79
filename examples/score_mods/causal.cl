// SPDX-License-Identifier: Apache-2.0
// What clattn_problem.causal does with CLATTN_ALIGN_TOP_LEFT, only slower: a score_mod leaves no key out unseen.
if (k > q)
    s = -INFINITY;
