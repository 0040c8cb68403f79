// clattn: aux uchar kind[q + k]
// clattn: aux float table[h * 32]
// SPDX-License-Identifier: Apache-2.0
// A bias by what the query and the key are, out of 4 kinds, and by head: the edges of a graph, parts of speech.
s += table[h * 32 + kind[q] * 4 + kind[k]];
