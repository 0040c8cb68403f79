/* bed.h - samples on a device, whose buffers are changed behind the library's back: what a look at them has to say
 * SPDX-License-Identifier: Apache-2.0
 *
 * Who includes it includes "src/api/handle.h" and "src/judge/judge.h" before. */
#ifndef BED_H
#define BED_H

#include "tests/lib/each.h"
#include "tools/oracle/convert.h"

#include <math.h>

struct place {
    const char *text;
    struct maker *maker;
    struct sample sample;
    struct launch launch;
    struct device_sample bed;
};

/* Builds the problem by a configuration, and sets its sample up; device_sample_open() and launch_clear() are due. */
static inline void place_build(struct place *x, const struct device *d, const char *text, const clattn_problem *given,
                               const char *engine)
{
    struct config config;
    struct why why;
    int binary;
    *x = (struct place){ .text = text, .maker = &d->handle->maker };
    x->sample = (struct sample){ .seed = 2, .ragged = true };
    if (problem_read(&x->sample.p, given, &why) ||
        tile_config_read(&config, engine, &x->maker->caps, &x->sample.p, &why) ||
        build_launch(&x->launch, x->maker, &x->sample.p, &config, true, &binary, &why))
        bail("%s: %s", text, why.text);
    x->sample.p.sizes = given->sizes;
    if (!x->sample.p.sizes.hk)
        x->sample.p.sizes.hk = x->sample.p.sizes.h;
    sample_set_totals(&x->sample.p);
}

static inline void place_open_bed(struct place *x, int64_t copies)
{
    struct why why;
    if (device_sample_open(&x->bed, x->maker->context, x->maker->device, &x->sample, true, copies, &why))
        bail("%s: %s", x->text, why.text);
}

/* Whether a look ends so. words: what it has to say; NULL: nothing, as all is right. */
static inline int place_judged(struct place *x, int64_t step, bool twice, const char *words)
{
    struct why why = { "" };
    const cl_int status = judge_sample(&x->bed, &x->launch, step, twice, &why);
    const int good = words ? status == CLATTN_ERROR_WRONG_RESULT && strstr(why.text, words) : !status;
    if (!good)
        diag("%s: status %d, %s; expected %s", x->text, (int)status, why.text, words ? words : "success");
    return good;
}

/* The number nearest to `want` and farther off than `bound`, or the farthest that is not, in steps of a hundredth. */
static inline void store_near(int type, double want, double bound, bool outside, bool below, unsigned char bytes[8])
{
    for (int i = 0; i <= 100; i++) {
        const double off = (outside ? 1 + 0.01 * i : 1 - 0.01 * i) * bound;
        double x = below ? want - off : want + off, got;
        convert_store(type, &x, bytes, 1);
        convert_load(type, bytes, &got, 1);
        if ((fabs(got - want) > bound) == outside && (!outside || bound > 0))
            return;
    }
    const double far = want + 1; /* where there is no room for error */
    convert_store(type, outside ? &far : &want, bytes, 1);
}

#endif
