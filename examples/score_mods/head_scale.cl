// clattn: vector
// clattn: aux float factor[h]
// SPDX-License-Identifier: Apache-2.0
// A factor for each head, e.g. a temperature that is learnt.
s *= factor[h];
