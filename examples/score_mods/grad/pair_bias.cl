// SPDX-License-Identifier: Apache-2.0
// A sum: ds stays as it is, and is what the element that was looked up receives.
table_index = h * 32 + kind[q] * 4 + kind[k];
table_grad = ds;
