/* arrays.h - the files of clattn-run, checked against each other and turned into a case
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <clattn.h>

#include "tools/oracle/extras.h"
#include "tools/system/fault.h"
#include "tools/npy/npy.h"
#include "tools/run/options.h"
#include "tools/run/setup.h"

struct arrays {
    clattn_workload c;
    int long_lists, mixed; /* `in` has more lengths, or other offsets, than the problem string has words for */
    const char *q_form, *k_form, *v_form; /* axes of the files of Q, which are those of O, K and V; see tensor_file.h */
    double *q, *k, *v;     /* [b,h,n,width], or [h,total,width] when packed, as they will be stored */
    struct stored_kv caches;  /* K and V, as they lie there */
    struct npy q_len, kv_len, kv_start, offsets;
    struct extras x;       /* whatever else there is */
    struct setup_inputs in; /* points into the above */
};

/* Reads what `o` names. Returns 0, or -1 with `f` set; arrays_free() is due in both cases. */
int arrays_read(const struct options *o, struct arrays *a, struct fault *f);
void arrays_free(struct arrays *a);

#endif
