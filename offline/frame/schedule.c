/* schedule.c - who goes first
 * SPDX-License-Identifier: Apache-2.0 */
#include "offline/frame/schedule.h"

uint64_t dice_throw(uint64_t *dice)
{
    *dice += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t x = *dice;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct group_order group_order(enum schedule schedule, uint64_t seed, uint64_t n)
{
    struct group_order order = { n, 0, 1 };
    uint64_t dice = seed;
    if (schedule == SCHEDULE_HIGHEST) {
        order.first = order.step = n - 1;
    } else if (schedule == SCHEDULE_RANDOM) {
        order.first = dice_throw(&dice) % n;
        do
            order.step = dice_throw(&dice) % n;
        while (common_divisor(order.step, n) != 1);
    }
    return order;
}

uint64_t group_at(const struct group_order *order, uint64_t k, const uint32_t grid[3], uint32_t group[3])
{
    const uint64_t g = (order->first + k * order->step) % order->n;
    group[0] = (uint32_t)(g % grid[0]);
    group[1] = (uint32_t)(g / grid[0] % grid[1]);
    group[2] = (uint32_t)(g / grid[0] / grid[1]);
    return g;
}
