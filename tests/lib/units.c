/* units.c - whether a device has matrix units, and what emulations of some stand in for
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/harness.h"

#include <stdio.h>
#include <string.h>

/* Emulations, and the engine that each is where a device has the units. mma_emu, whose tile tests ask for, is any. */
static const struct {
    const char *emulation, *engine;
} rows[] = { { "mma_emu", "mma_nv" }, { "mma_emu", "mfma" },     { "mma_emu", "wmma" },
             { "mfma_emu", "mfma" },  { "wmma_emu", "wmma" },    { "wmma_emu11", "wmma" } };
enum { ROWS = sizeof rows / sizeof *rows, DISTINCT = 3, TYPES = 2, KNOWN = 16 };
static const int types[TYPES] = { CLATTN_F16, CLATTN_BF16 };

/* What was found out: of each type a bit for each of the first rows. A plan takes a second. */
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
        for (size_t i = 0; i < DISTINCT; i++)
            k->engines[t] |= (unsigned)runs(d, rows[i].engine, types[t]) << i;
    return k;
}

int harness_has_units(const struct device *d, int type)
{
    for (size_t t = 0; t < TYPES; t++)
        if (types[t] == type)
            return look(d)->engines[t] != 0;
    return 0;
}

static int has_engine(const struct device *d, int type, const char *engine)
{
    for (size_t t = 0; t < TYPES; t++)
        for (size_t i = 0; i < DISTINCT && types[t] == type; i++)
            if (!strcmp(rows[i].engine, engine) && look(d)->engines[t] >> i & 1)
                return 1;
    return 0;
}

const char *harness_real(const struct device *d, int type, const char *config, char *to, size_t len)
{
    const size_t n = strcspn(config, " ");
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].emulation) == n && !strncmp(config, rows[i].emulation, n) &&
            has_engine(d, type, rows[i].engine)) {
            snprintf(to, len, "%s%s", rows[i].engine, config + n);
            return to;
        }
    return config;
}
