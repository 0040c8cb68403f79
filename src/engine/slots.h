/* slots.h - what fills slots that several passes have. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SLOTS_H
#define SLOTS_H

#include "engine/pass.h"
#include "engine/source.h"

/* Chosen by the problem, the device or the engine. */
const char *slots_acc(const struct target *t);
const char *slots_lengths(const struct target *t);
const char *slots_kv(const struct target *t);
const char *slots_rows(const struct target *t);
const char *slots_exp(const struct target *t);
const char *slots_prefetch(const struct target *t);
const char *slots_load(const struct target *t);
void slots_write_unit(struct text *to, const struct target *t); /* the fragments of its matrix unit, if it has one */
const char *slots_products(const struct target *t);
const char *slots_surfaces(const struct target *t);
const char *slots_gather(const struct target *t);

/* Written: storage types, each once; what the kernel takes (params.h); the caller's texts. */
void slots_write_types(struct text *to, const struct target *t);
void slots_write_params(struct text *to, const struct target *t);
void slots_write_mods(struct text *to, const struct target *t);

/* The fragment of a storage type: dtype_NAME.cl, or encode_NAME.cl. */
void slots_write_type(struct text *to, const char *what, int type);

/* How the slots of passes begin that go over rows of heads. */
#define SLOTS_FIND_ROWS \
    { .fragment = "args.h" }, { .fragment = "compilers.cl" }, { .choose = slots_acc }, \
        { .write = slots_write_types }, { .fragment = "env.cl" }, { .fragment = "transpose.cl" }, \
        { .write = slots_write_params }, { .fragment = "group.cl" }, { .choose = slots_lengths }, \
        { .choose = slots_kv }

#endif
