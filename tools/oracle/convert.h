/* convert.h - storage types on the host
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONVERT_H
#define CONVERT_H

#include <stddef.h>

/* type: CLATTN_F32, _F16, _BF16 or _F64 of clattn.h. */
size_t convert_size(int type);                                         /* bytes of an element */
void convert_store(int type, const double *from, void *to, size_t n);  /* round to nearest even, inf and NaN kept */
void convert_load(int type, const void *from, double *to, size_t n);   /* exact */

#endif
