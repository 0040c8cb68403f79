/* rescale.c - maxima that rise late: what was summed before is rescaled once, by much, and has to cancel
 * SPDX-License-Identifier: Apache-2.0
 *
 * 4096 keys of score 0, and one of score 12 ln 2 among them or behind them all: every weight is a power of two, so that
 * P in 16 bits is exact as well, and the many weigh together what the one does. V is 1 for the many and -1 for the one,
 * or the other way round: O is 0, and what is left of it is the error of the factor, 1e-4 as 5e-5. Beside such an O
 * rounding to 16 bits is nothing. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/emulations.h"

#include <math.h>

enum { MANY = 4096 };
static const char words[] = "b1 h1 q3 k4097 d8 scale8.317766166719343 lse"; /* 12 ln 2 */

/* The one key, and what the many are worth: columns of V differ in sign and in size. */
static void fill(struct trial *t, int64_t one)
{
    for (int64_t q = 0; q < t->sizes.nq; q++)
        for (int64_t c = 0; c < t->d; c++)
            tensor_row(&t->q, 0, 0, q)[c] = c == 0;
    for (int64_t k = 0; k <= MANY; k++)
        for (int64_t c = 0; c < t->d; c++) {
            tensor_row(&t->k, 0, 0, k)[c] = c == 0 && k == one;
            tensor_row(&t->v, 0, 0, k)[c] = (k == one) == (c % 2 == 0) ? -1 : 1;
        }
}

/* O is 0, LSE 12 ln 2 and ln 2 more. The error allowed is that of 2^x in float, many times over. */
static int right(const struct trial *t, char *why, size_t len)
{
    const double most = 1e-5;
    double worst_o = 0, worst_lse = 0;
    for (int64_t i = 0; i < tensor_count(&t->o); i++)
        worst_o = fmax(worst_o, isnan(t->o.value[i]) ? INFINITY : fabs(t->o.value[i]));
    for (int64_t i = 0; i < tensor_count(&t->lse); i++) {
        const double x = t->lse.value[i] - 13 * log(2);
        worst_lse = fmax(worst_lse, isnan(x) ? INFINITY : fabs(x));
    }
    snprintf(why, len, "errors %.3g in O, %.3g in LSE", worst_o, worst_lse);
    return worst_o <= most && worst_lse <= most;
}

static void check(const struct device *d, const char *type, const char *engine, int64_t one)
{
    char text[128], why[1024] = "";
    struct trial t;
    clattn_plan plan = NULL;
    snprintf(text, sizeof text, "%s %s", type, words);
    const clattn_workload c = each_case(text);
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    if (!e) {
        fill(&t, one);
        e = trial_upload_inputs(&t, d->queue);
    }
    e = e ? e : harness_plan(d, &t.c.problem, engine, &plan, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED) {
        skip("%s, %s: %s", d->name, engine, why);
    } else {
        e = e ? e : trial_run(&t, plan, d->queue);
        const int good = !e && trial_fetch(&t, d->queue, why, sizeof why) && right(&t, why, sizeof why);
        ok(good, "%s, %s, key %lld counts for all others, %s: %s", d->name, engine, (long long)one, why, text);
        if (e)
            diag("%s", clattn_status_string(e));
    }
    trial_free(&t);
}

static void check_places(const struct device *d, const char *type, const char *engine)
{
    check(d, type, engine, MANY);     /* at the end */
    check(d, type, engine, MANY / 2); /* and in the middle, with as many behind it */
}

/* Each engine whose kernels are short in one of the types, and with CLATTN_PART=1 all in both. Emulations, which are in
 * no list of the library's, are for devices without matrix units. */
static void test_device(const struct device *d)
{
    static const char *const types[] = { "f16", "bf16" };
    const char *emulated;
    char engine[128];
    for (unsigned i = 0; i < 2; i++) {
        const int has_units = harness_has_units(d, i ? CLATTN_BF16 : CLATTN_F16); /* which are among the engines */
        for (unsigned e = 0; each_engine(d, types[i], words, e, engine, sizeof engine); e++)
            if (harness_turn(e + i, strcmp(engine, "simt") && (e + i) % 2 == 0))
                check_places(d, types[i], engine);
        for (unsigned e = 0; (emulated = emulation(e, "nw1,rt1,bk16,qreg1")); e++)
            if (harness_more() && harness_alternates(i, 2) && !has_units)
                check_places(d, types[i], emulated);
    }
}

int main(void)
{
    return each_device(test_device);
}
