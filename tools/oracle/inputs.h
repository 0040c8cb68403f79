/* inputs.h - seeded Q, K and V for a problem: the same numbers on every platform
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUTS_H
#define INPUTS_H

#include <clattn.h>

/* Fills q [b,h,nq,d], k [b,hk,nk,d] and v [b,hk,nk,dv] of `c`, contiguous ([h,total,width] where they are varlen), each
 * value already rounded to the type it will be stored in; what is to be quantised, which is up to stored_kv_make(), is
 * float. Logits have a standard deviation of 3: peaked, and yet every key counts for some query. */
void inputs_fill(const clattn_workload *c, double *q, double *k, double *v);

/* Elements of the four tensors and of LSE in a call of `c`; packed ones have one axis instead of b and rows. Returns 0,
 * or -1 when a size is negative or overflows. */
struct counts { size_t q, k, v, o, lse; };
int inputs_count(const clattn_workload *c, struct counts *n);

/* Rounds n values to storage type `type`: whole blocks of GGUF's types. Those of int8 and int4, which need scales, are
 * left as they are. */
void inputs_round(int type, double *x, size_t n);

/* The problem with nothing left to default: types, dv, groups, hk and the scale. */
clattn_problem inputs_defaults(const clattn_problem *p);

/* Random numbers: a stream of a seed, 64 bits of it, and a nearly normal number of deviation 1. */
uint64_t inputs_stream(uint64_t seed, uint64_t stream);
uint64_t inputs_bits(uint64_t *stream);
double inputs_normal(uint64_t *stream);

#endif
