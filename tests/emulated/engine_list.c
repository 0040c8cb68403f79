/* engine_list.c - the table of engines that tests have: the shipped ones and emulations, which have no rank
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_list.h"

#define TEST_ENGINES(X) ENGINES(X) X(mma_emu) X(mfma_emu) X(wmma_emu) X(wmma_emu11) X(dpas_emu) X(dpas_emu8)
ENGINE_LIST(TEST_ENGINES);
