// SPDX-License-Identifier: Apache-2.0
factor_index = h;
factor_grad = ds * s;
ds *= factor[h];
