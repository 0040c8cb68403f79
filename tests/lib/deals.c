/* deals.c - how much runs now
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/deals.h"

#include <stdlib.h>
#include <string.h>

int harness_flag(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0");
}

int harness_rest(void)
{
    return harness_flag("CLATTN_PART");
}

int harness_shares(unsigned i)
{
    const char *const part = getenv("CLATTN_PART"), *const of = part ? strchr(part, '/') : NULL;
    const unsigned long n = of ? strtoul(of + 1, NULL, 10) : 1;
    return harness_flag("CLATTN_FULL") || (harness_rest() && (n < 2 || i % n == strtoul(part, NULL, 10) % n));
}

int harness_alternates(unsigned i, unsigned n)
{
    const char *const part = getenv("CLATTN_PART");
    if (!harness_more())
        return i == 0;
    return harness_flag("CLATTN_FULL") || !strchr(part, '/') || strtoul(part, NULL, 10) % n == i;
}

int harness_more(void)
{
    return harness_rest() || harness_flag("CLATTN_FULL");
}

int harness_turn(unsigned i, int soon)
{
    return harness_more() ? harness_shares(i) : soon;
}

int harness_deals(unsigned i, unsigned n)
{
    return harness_turn(i, i % n == 0);
}
