// clattn: aux float gate[h]
// clattn: aux float level[b]
// clattn: aux float worth[k]
// SPDX-License-Identifier: Apache-2.0
// A gate on each score, by head and by batch entry, and a bias per key.
s = s * (0.5f + 0.5f * tanh(gate[h] * s + level[b])) + worth[k];
