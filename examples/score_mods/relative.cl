// clattn: vector
// SPDX-License-Identifier: Apache-2.0
// A penalty that grows with the distance up to 64, and one more for keys behind the query.
const integer ahead = k - q;
const integer distance = ahead < 0 ? -ahead : ahead;
s -= 0.0625f * real_(distance < 64 ? distance : 64);
s = ahead > 0 ? s - 1.0f : s;
