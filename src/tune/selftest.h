/* selftest.h - whether an engine that relies on a device's special instructions computes right there
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "tune/config_lookup.h"

/* Before a problem's first plan: each engine that wants a test and could run it, and was not tried on this device with this
 * driver, is tried now, on small samples against the answer in double; the verdict is kept. From then on engine_verdict()
 * says whether the engine may be used at all, and a line in the log that it may not. */
void selftest_engines(struct maker *maker, const clattn_problem *p);

/* The test itself, of any engine, in the maker's own context. selftest_engines() gives it another one. */
cl_int selftest_run(struct maker *maker, const struct engine *engine, struct why *why);

#endif
