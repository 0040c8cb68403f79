/* graded.h - gradients of a trial: made-up dO and dLSE, poisoned buffers, the verdict
 * SPDX-License-Identifier: Apache-2.0
 *
 * O and LSE are what float64 says, rounded as they are stored: a backward pass is judged on its own. dO of rows that
 * see nothing is poison, as Q is there, and as K and V are where nobody looks. */
#ifndef GRADED_H
#define GRADED_H

#include "tests/lib/trial.h"

enum { GRADED_DOUT, GRADED_DLSE, GRADED_DQ, GRADED_DK, GRADED_DV, GRADED_N };
enum { GRADED_Q = GRADED_N, GRADED_K, GRADED_V }; /* of the trial */
/* Element `column` of row `row` of one of Q, K, V, dO and dLSE. */
typedef double graded_value(int which, int64_t row, int64_t column);

/* The gradient of what goes with scores: cells of a bias, or a list of one for each head. `at` says where they lie; in
 * a list axis h alone has more than one, or b as well. count 0: the problem has no such thing, or it is not wanted. */
struct graded_cells {
    struct array4 at;
    int64_t count;
    int type;
    double *want, *bound, *got; /* got: what graded_fetch() read */
};
enum { GRADED_OTHERS = 1 << GRADED_N, GRADED_CAPTURED = 2 << GRADED_N };
enum { GRADED_ALL = 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV | GRADED_OTHERS };
enum { GRADED_DBIAS, GRADED_DSLOPES, GRADED_DSINKS, GRADED_DAUX, GRADED_CELLS = GRADED_DAUX + CLATTN_AUX_MAX };

struct graded {
    struct trial t;
    struct graded_cells cells[GRADED_CELLS];
    struct tensor x[GRADED_N]; /* by GRADED_*; value as in trial.h */
    double *bound[GRADED_N], *want[GRADED_N]; /* of dQ, dK and dV */
    struct image image[GRADED_N], workspace;
    clattn_backward_args args;
    clattn_aux_gradient daux[CLATTN_AUX_MAX];
    graded_value *value; /* NULL: inputs are random */
    double most; /* behind graded_verify() */
    int tainted; /* a test put NaN into an input: it belongs where float64 has it, and is an error elsewhere */
    int summed; /* a bit for each of dK and dV, by its GRADED_*, that has a batch axis of 1 */
};

/* `c` has CLATTN_BACKWARD. wanted: a bit for each of dQ, dK and dV by its GRADED_*, and GRADED_OTHERS for all that
 * bias, slopes and sinks have; GRADED_CAPTURED: of all captured buffers that derivatives of score_mods know of, which
 * marks them in t.c.problem; dLSE is given where its bit is there. Returns CL_SUCCESS or what failed; graded_free()
 * is due in both cases. */
cl_int graded_make(struct graded *g, cl_context context, cl_command_queue queue, const clattn_workload *c,
                   enum layout layout, unsigned wanted);
/* The same of inputs that are bad on purpose, which are allowed the whole bound. */
cl_int graded_make_bad(struct graded *g, cl_context context, cl_command_queue queue, const clattn_workload *c,
                       enum layout layout, unsigned wanted, graded_value *value);
/* One call, with just the workspace that it asks for unless the test gave it one, and waits. */
cl_int graded_run(struct graded *g, clattn_plan plan, cl_command_queue queue);
/* Writes x[which].value of dO or dLSE, after a test changed it, and rounds it as it is stored. */
cl_int graded_upload(struct graded *g, int which, cl_command_queue queue);
/* O, LSE and what float64 says once more, after a test changed inputs. */
cl_int graded_truth(struct graded *g, cl_command_queue queue);
/* Reads gradients back, into x[].value and cells[].got. 1 when nothing else was written; else 0 and `why`. */
int graded_fetch(struct graded *g, cl_command_queue queue, char *why, size_t len);
/* How many of the cells are asked for: some lists have a gap behind them. */
int64_t graded_cells_wanted(const struct graded *g, int which);
/* 1 when all gradients are within their bounds and nothing else was written; else 0 and `why`. g->most is then the
 * largest part of a bound that an error was. */
int graded_verify(struct graded *g, cl_command_queue queue, char *why, size_t len);
/* Poisons all gradients again, as graded_make() left them. */
cl_int graded_reset(struct graded *g, cl_command_queue queue);
/* 1 when no gradient was written since. */
int graded_is_blank(const struct graded *g, cl_command_queue queue);
/* The bits of what was written, after graded_verify(): whether another run gave the same. */
int graded_is_same(const struct graded *x, const struct graded *y);
void graded_free(struct graded *g);

#endif
