/* harness.h - devices, plans kept by problem class, and one call that checks one problem
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a test is made of:
 *
 *   each_device()            the whole program: a function that is run on each device
 *   each_case(), each_open() a problem from text; the same with its arrays, and a plan that the harness keeps
 *   each_handle(), each_own_plan(), each_buffer(), each_gate(), ..
 *                            what is the test's own. All of each.h ends a test where there is none
 *   trial_make()             the arrays of a forward call by a seed: what must not be read is NaN or inf, what must not
 *                            be written canaries; trial_make_caches(): K and V on pages, of any codes
 *   graded_make()            the same of gradients; states_make(): of a merge; appended_make(): of an append
 *   harness_run()            runs a trial and compares every element with float64, every other byte with what was
 *                            there; harness_fetch(): reads only; harness_check(): does all of it
 *   image.h                  one buffer, and every byte that it has to have
 *   cache_fixture.h, scratch.h  directories of a test's own: with handles and plans, or with files alone
 *   in_child() of process.h  what a child of fork() does */
#ifndef HARNESS_H
#define HARNESS_H

#include "tests/lib/deals.h"
#include "tests/lib/trial.h"

struct device {
    struct opencl cl;
    cl_command_queue queue;
    clattn_handle handle;
    char name[520]; /* "platform / device" */
};

/* Opens the devices under test: those of CLATTN_TEST_DEVICES (texts joined by ';'), else every device found. Returns
 * their number; *why says what went wrong when it is 0. With CLATTN_NEED_DEVICE=1 that ends the test as a failure. */
unsigned harness_open(const struct device **devices, const char **why);
void harness_close(void);
/* Releases all plans; part of harness_close(). */
void harness_forget(void);

/* Whether the device has matrix units that the library uses, for a type. */
int harness_has_units(const struct device *d, int type);
/* Runs the self-tests of their engines, which are listed once they have passed. */
void harness_test_units(const struct device *d);
/* Where it has those that the engine of `config` emulates, the engine that uses them, in `to`; else `config`. */
const char *harness_real(const struct device *d, int type, const char *config, char *to, size_t len);

/* A plan for the class of `problem` with `config` (NULL: the default), made once and kept: building takes a second. The
 * harness holds the reference. Emulations are the engine itself where the device has units that take the tile, see
 * harness_real(). `why` gets the words of a failure. */
cl_int harness_plan(const struct device *d, const clattn_problem *problem, const char *config, clattn_plan *plan,
                    char *why, size_t len);

/* What was logged of kernels that compute wrong since the last call; "": nothing. A plan that has taken another
 * configuration in the place of one is CLATTN_ERROR_WRONG_RESULT to harness_plan(). */
const char *harness_passed_over(void);

/* A status, and what the handle says about it. */
void harness_words(clattn_handle handle, cl_int e, char *why, size_t len);

/* The index-th configuration for a problem string, score_mods and all; 0 when there is none. */
int harness_config(const struct device *d, const char *problem, size_t index, char *config, size_t len);

/* The engines that every device runs, one after the other; NULL behind the last. */
const char *harness_engine(size_t index);
/* Whether a device may refuse this problem by this configuration (NULL: the default): f64 that it lacks, and what only
 * matrix units take. Whatever else is refused has lost an engine. */
int harness_may_refuse(const struct device *d, const clattn_problem *problem, const char *config);
int harness_may_refuse_text(const struct device *d, const char *problem, const char *config);

/* Runs what trial_make() made by a plan and judges it: 1, or 0 and `why`. */
int harness_run(const struct device *d, struct trial *t, clattn_plan plan, char *why, size_t len);
/* Poisons its outputs, runs it and reads it back, for tests that judge it in their own way: 1, or 0 and `why`. */
int harness_fetch(const struct device *d, struct trial *t, clattn_plan plan, char *why, size_t len);

/* Runs one problem once and judges it. 1 right, 0 wrong, or refused without a right to, -1 not supported here; `why`
 * says how. */
int harness_check(const struct device *d, const clattn_workload *c, const char *config, enum layout layout, char *why,
                  size_t len);

/* The same from text. */
int harness_check_text(const struct device *d, const char *problem, const char *config, enum layout layout, char *why,
                       size_t len);

/* A problem set up with its plan, for tests that look closer. */
struct fixture {
    const struct device *d;
    const char *text;
    struct trial t;
    clattn_plan plan; /* the harness's */
};
/* Returns CL_SUCCESS or the status with its words; fixture_close() is due only after CL_SUCCESS. */
cl_int fixture_open(struct fixture *f, const struct device *d, const char *problem, enum layout layout, char *why,
                    size_t len);
cl_int fixture_open_by(struct fixture *f, const struct device *d, const char *problem, const char *config,
                       enum layout layout, char *why, size_t len);
void fixture_close(struct fixture *f);

/* From now on PoCL does not optimise kernels, which takes minutes for some, unless the environment says what else or it
 * would compute wrong (doc/runtimes). */
void harness_never_optimised(void);
/* Likewise, but not with CLATTN_FULL. */
void harness_unoptimised(void);

#endif
