// clattn: aux float table[h * 32]
// SPDX-License-Identifier: Apache-2.0
// The relative positions of T5, 32 buckets per head: 16 for keys up to the query and 16 for those behind it; of each,
// 8 for one distance, the others wider by sqrt(2) every time. 127 and more share the last. Whole numbers only: a
// logarithm would put one distance into different buckets on different devices.
const int distance = min((int)abs(q - k), 127), octave = 28 - (int)clz(distance | 8);
const int bucket = distance < 8 ? distance : 8 + 2 * octave + (distance * distance >= 128 << 2 * octave);
s += table[h * 32 + (k > q ? 16 : 0) + bucket];
