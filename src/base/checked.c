/* checked.c - arithmetic that notices when a result does not fit
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/checked.h"

bool checked_mul(int64_t a, int64_t b, int64_t *r)
{
    return !__builtin_mul_overflow(a, b, r);
}

bool checked_add(int64_t a, int64_t b, int64_t *r)
{
    return !__builtin_add_overflow(a, b, r);
}

bool checked_signed(uint64_t a, int64_t *r)
{
    if (a > INT64_MAX)
        return false;
    *r = (int64_t)a;
    return true;
}
