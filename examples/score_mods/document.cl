// clattn: aux int document[q + k]
// SPDX-License-Identifier: Apache-2.0
// Documents packed into one sequence: a query sees the keys of its own one.
s = document[q] == document[k] ? s : -INFINITY;
