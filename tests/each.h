/* each.h - a whole test program: one function, run on each device
 * SPDX-License-Identifier: Apache-2.0
 *
 * In a header like tap.h, whose counters are the program's own. */
#ifndef EACH_H
#define EACH_H

#include "harness.h"
#include "tap.h"

/* Runs `test` on each device, or skips and says why there is none. Returns main()'s status. */
static inline int each_device(void (*test)(const struct device *))
{
    const struct device *devices;
    const char *why;
    const unsigned n = harness_open(&devices, &why);
    if (!n)
        return skip_all("%s", why);
    for (unsigned i = 0; i < n; i++) {
        diag("%s", devices[i].name);
        test(&devices[i]);
    }
    harness_close();
    return done_testing();
}

#endif
