// SPDX-License-Identifier: Apache-2.0
const real t = tanh(s / 30.0f);
ds *= 1.0f - t * t;
