/* division.c - dividing by multiplication is exact
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/division.h"

#include "tests/lib/tap.h"

static uint32_t quotient(const struct division *d, uint32_t x)
{
    return (uint32_t)((uint64_t)(2 * x) * d->magic >> 32) >> d->shift;
}

/* A quotient is right everywhere when it is at the ends of all that give the same one: it never falls. */
static int is_right_at_ends(uint32_t by, uint32_t q)
{
    const struct division d = division_by(by);
    const uint64_t first = (uint64_t)q * by, last = first + by - 1, most = ((uint64_t)1 << 31) - 1;
    return first > most ||
           (quotient(&d, (uint32_t)first) == q && quotient(&d, (uint32_t)(last > most ? most : last)) == q);
}

/* The proof, in numbers: magic by - 2^(31 + shift) is what magic is too large by, times `by`; below 2^shift it never
 * adds up to the next quotient for numbers below 2^31. */
static int is_proven(uint32_t by)
{
    const struct division d = division_by(by);
    const uint64_t product = (uint64_t)d.magic * by, power = (uint64_t)1 << (31 + d.shift);
    return product >= power && product - power < (uint64_t)1 << d.shift && (uint32_t)1 << d.shift >= by &&
           d.shift <= 30;
}

static void test_all_small(void)
{
    int bad = 0;
    for (uint32_t by = 1; by <= 1 << 16; by++)
        bad += !is_proven(by);
    is_int(bad, 0, "every divisor to 2^16");
    for (uint32_t by = 1 << 16; by < (uint32_t)1 << 30; by += 9973)
        bad += !is_proven(by);
    for (uint32_t shift = 0; shift <= 30; shift++)
        for (int around = -1; around <= 1; around++) {
            const uint32_t by = ((uint32_t)1 << shift) + (uint32_t)around;
            bad += by >= 1 && by <= 1 << 30 && !is_proven(by);
        }
    is_int(bad, 0, "and many to 2^30, those around powers of 2 among them");
}

static void test_quotients(void)
{
    static const uint32_t by[] = { 1, 2, 3, 5, 7, 16, 17, 63, 70, 641, 65535, 65537, (1 << 29) + 1, (1 << 30) - 1,
                                   1 << 30 };
    int bad = 0;
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        for (uint32_t q = 0; q < 100000; q++)
            bad += !is_right_at_ends(by[i], q);
        for (uint32_t q = (((uint32_t)1 << 31) - 1) / by[i], n = 0; q > 0 && n < 100000; q--, n++)
            bad += !is_right_at_ends(by[i], q);
    }
    is_int(bad, 0, "quotients at both ends of the numbers below 2^31");
}

int main(void)
{
    test_all_small();
    test_quotients();
    return done_testing();
}
