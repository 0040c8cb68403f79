// clattn: vector
// SPDX-License-Identifier: Apache-2.0
// Scores bounded by 30, as clattn_problem.softcap does it.
s = 30.0f * tanh(s / 30.0f);
