/* engine_list.h - the words of the table of engines. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_LIST_H
#define ENGINE_LIST_H

#include "engine/engine.h"

/* A new engine is one more word here: engine_NAME, of a file of its own. */
#define ENGINES(X) X(simt) X(cpu) X(row) X(naive) X(mma_nv) X(mfma) X(wmma) X(dpas) X(dpas8)

/* The table, which ends with NULL. Each library is linked with one of its own: what is installed with that of
 * engine_list.c, tests with one that has more (tests/emulated). */
extern const struct engine *const engine_list[];

#define ENGINE_DECLARE(name) extern const struct engine engine_##name;
#define ENGINE_ADDRESS(name) &engine_##name,
#define ENGINE_LIST(WORDS) \
    WORDS(ENGINE_DECLARE) \
    const struct engine *const engine_list[] = { WORDS(ENGINE_ADDRESS) NULL }; \
    typedef char engine_verdicts_fit[sizeof engine_list / sizeof *engine_list - 1 <= CAPS_ENGINES ? 1 : -1]

#endif
