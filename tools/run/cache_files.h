/* cache_files.h - K and V of clattn-run as their files and options have them: quantised, in pages
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_FILES_H
#define CACHE_FILES_H

#include "tools/system/fault.h"
#include "tools/run/options.h"
#include "tools/oracle/stored.h"
#include "tools/run/tensor_file.h"

/* Reads the block table, if there is one: k and v get b and n of a call with q. Returns 0, or -1 with `f` set. */
int cache_files_table(const struct options *o, const struct tensor_file *q, struct tensor_file *k,
                      struct tensor_file *v, struct pages *p, struct fault *f);

/* Takes K and V into `c`, whose pages are known, and the values that they have in a call, [b,hk,n,width], into *values.
 * Sets what p says of their storage; p->type is set. Returns 0, or -1 with `f` set. */
int cache_files_read(const struct options *o, struct tensor_file *k, struct tensor_file *v, struct stored_kv *c,
                     clattn_problem *p, double **k_values, double **v_values, struct fault *f);

#endif
