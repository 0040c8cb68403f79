/* engine_list.c - the table of engines. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_list.h"

ENGINE_LIST(ENGINES);
