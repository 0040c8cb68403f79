// SPDX-License-Identifier: Apache-2.0
// ALiBi with the slopes of 8 heads, 2^-(h + 1); for n heads they are 2^(-8 (h + 1) / n).
s -= ldexp(1.0f, -1 - h) * (float)abs(q - k);
