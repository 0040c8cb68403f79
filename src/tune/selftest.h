/* selftest.h - whether an engine that relies on a device's special instructions computes right there
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "tune/config_lookup.h"

/* Called before a problem's first plan. Tests each engine that wants a self-test, could run the problem, and was not
 * tested on this device with this driver, on small samples against results in double; keeps the verdict. From then on
 * engine_verdict() says whether the engine may be used at all, and the log says when it may not. */
void selftest_engines(struct maker *maker, const clattn_problem *p);

/* The test itself, of any engine, in the maker's own context; selftest_engines() runs it in a separate one. */
cl_int selftest_run(struct maker *maker, const struct engine *engine, struct why *why);

#endif
