/* compiled.h - what a driver's compiler made of a kernel, as far as anything tells
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPILED_H
#define COMPILED_H

#include <stddef.h>

/* NaN: not known. */
struct compiled {
    double registers;   /* of a work-item, or in waves of AMD's vector registers of a lane */
    double spill_bytes; /* of a work-item, stored or loaded */
};

/* Reads what NVIDIA's ptxas says in a build log: "Used 64 registers", "8 bytes spill stores". */
void compiled_read_log(struct compiled *c, const char *log);

/* Reads the metadata that AMD's code objects carry, as MessagePack: .vgpr_count, .vgpr_spill_count and
 * .sgpr_spill_count. The largest ones of all kernels in it. */
void compiled_read_binary(struct compiled *c, const unsigned char *bytes, size_t n);

#endif
