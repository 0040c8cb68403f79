/* real.h - instructions on real numbers, for the tables
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GEN_REAL_H
#define GEN_REAL_H

#include "inside.h"

lane_run real_move, real_add, real_multiply, real_multiply_add, real_compare, real_choose, real_choose_by;

#endif
