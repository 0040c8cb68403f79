// clattn: vector
// SPDX-License-Identifier: Apache-2.0
// Strided sparse attention: a query sees itself, the 15 keys before it, and before those every eighth key.
const integer back = q - k;
s = (back >= 0) & ((back < 16) | (k % 8 == 0)) ? s : (real)(-INFINITY);
