// SPDX-License-Identifier: Apache-2.0
// A sum: ds stays as it is, and is what the bucket that was looked up receives.
const int distance = min((int)abs(q - k), 127), octave = 28 - (int)clz(distance | 8);
const int bucket = distance < 8 ? distance : 8 + 2 * octave + (distance * distance >= 128 << 2 * octave);
table_index = h * 32 + (k > q ? 16 : 0) + bucket;
table_grad = ds;
