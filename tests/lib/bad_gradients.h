/* bad_gradients.h - inputs that are made bad on purpose for gradients
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BAD_GRADIENTS_H
#define BAD_GRADIENTS_H

#include "tests/lib/bad.h"
#include "tests/lib/graded.h"

struct bad_gradient {
    const char *name, *words; /* what its problem is called behind the sizes */
    struct bad_shape q, k, v, dout, dlse;
    double sink;        /* of every head, where `words` have one */
    int d;              /* the width of Q that it asks for, 0 for any */
    unsigned types;     /* that can hold it: a bit for each of CLATTN_F32 and so on */
    enum demand demand; /* WHOLE, or PROMISED where roundings conspire */
};
extern const struct bad_gradient bad_gradients[]; /* ends with a name of NULL */

/* graded_make_bad() of such a problem. One at a time: what was made before keeps its values. */
cl_int bad_gradient_make(const struct bad_gradient *bad, struct graded *g, cl_context context, cl_command_queue queue,
                         const clattn_workload *c, enum layout layout, unsigned wanted);

#endif
