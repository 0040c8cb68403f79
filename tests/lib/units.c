/* units.c - whether a device has matrix units, and what emulations of some stand in for
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/harness.h"

#include <stdio.h>
#include <string.h>

static const char *const engines[] = { "mma_nv", "mfma", "wmma", "dpas", "dpas8" };
enum { MMA_NV, MFMA, WMMA, DPAS, DPAS8, ENGINES, TYPES = 2, KNOWN = 16 };
/* Emulations, and the engine that each is where a device has the units. mma_emu, whose tile tests ask for, is any. */
static const struct {
    const char *emulation;
    int engine;
} rows[] = { { "mma_emu", MMA_NV },  { "mma_emu", MFMA },    { "mma_emu", WMMA },    { "mma_emu", DPAS },
             { "mma_emu", DPAS8 },   { "mfma_emu", MFMA },   { "wmma_emu", WMMA },   { "wmma_emu11", WMMA },
             { "dpas_emu", DPAS },   { "dpas_emu8", DPAS8 } };
static const int types[TYPES] = { CLATTN_F16, CLATTN_BF16 };

/* What was found out: of each type a bit for each engine. A plan takes a second. */
static struct known {
    clattn_handle handle;
    unsigned engines[TYPES];
} known[KNOWN];
static size_t n_known;

static int runs(const struct device *d, const char *engine, int type)
{
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_plan plan = NULL;
    p.type = type;
    p.d = p.dv = 16;
    options.config = engine;
    const int has = !clattn_plan_create(&plan, d->handle, &p, &options);
    clattn_plan_release(plan);
    return has;
}

static const struct known *look(const struct device *d)
{
    for (size_t i = 0; i < n_known; i++)
        if (known[i].handle == d->handle)
            return &known[i];
    struct known *const k = &known[n_known < KNOWN - 1 ? n_known++ : KNOWN - 1];
    *k = (struct known){ .handle = d->handle };
    for (size_t t = 0; t < TYPES; t++)
        for (int i = 0; i < ENGINES; i++)
            k->engines[t] |= (unsigned)runs(d, engines[i], types[t]) << i;
    return k;
}

/* Of a type a bit for each engine. */
static unsigned has_engines(const struct device *d, int type)
{
    for (size_t t = 0; t < TYPES; t++)
        if (types[t] == type)
            return look(d)->engines[t];
    return 0;
}

int harness_has_units(const struct device *d, int type)
{
    return has_engines(d, type) != 0;
}

void harness_test_units(const struct device *d)
{
    (void)look(d);
}

const char *harness_real(const struct device *d, int type, const char *config, char *to, size_t len)
{
    const size_t n = strcspn(config, " ");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].emulation) == n && !strncmp(config, rows[i].emulation, n) &&
            has_engines(d, type) >> rows[i].engine & 1) {
            snprintf(to, len, "%s%s", engines[rows[i].engine], config + n);
            return to;
        }
    return config;
}
