/* bad_gradients.c - gradients within the promised bound where sums are long and all terms have one sign
 * SPDX-License-Identifier: Apache-2.0
 *
 * bad_gradients.t PROBLEM CONFIG LAYOUT FILL WANTED: one row. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/graded.h"

/* In each column another constant, so that the rounding of one of them goes to the same side nearly always. */
static double constant(int64_t column)
{
    return (double)(float)(0.5 + 0.4999 * fmod((double)(column + 1) * 0.6180339887498949, 1));
}
static double in_turns(int64_t row, int64_t column)
{
    return row % 2 ? -constant(column) : constant(column);
}

/* All keys weigh alike, and dS is of one sign for each: dK and dV. */
static double for_keys(int which, int64_t row, int64_t column)
{
    return which == GRADED_K || which == GRADED_DLSE ? 0
           : which == GRADED_V                       ? in_turns(row, 0)
                                                     : constant(column);
}
/* As before, and K has the sign of dS: dQ. */
static double for_queries(int which, int64_t row, int64_t column)
{
    return which == GRADED_Q || which == GRADED_DLSE ? 0
           : which == GRADED_K                       ? in_turns(row, column)
           : which == GRADED_V                       ? in_turns(row, 0)
                                                     : constant(column);
}
/* dS is dLSE times the weight: bias, slopes, sinks and captured buffers. */
static double for_scores(int which, int64_t row, int64_t column)
{
    (void)row;
    (void)column;
    return which == GRADED_DLSE ? (double)0.7390851f : which == GRADED_V ? 1 : 0;
}

static const struct {
    const char *name;
    graded_value *value;
} fills[] = { { "keys", for_keys }, { "queries", for_queries }, { "scores", for_scores } };

static graded_value *fill_of(const char *name)
{
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        if (!strcmp(fills[i].name, name))
            return fills[i].value;
    bail("no fill '%s'", name);
    return NULL;
}

static void check(const struct device *d, const char *text, const char *config, enum layout layout, const char *fill,
                  unsigned wanted)
{
    const clattn_workload c = each_case(text);
    struct graded g;
    char why[1024] = "";
    double most = 0;
    cl_int e = graded_make_bad(&g, d->cl.context, d->queue, &c, layout, wanted, fill_of(fill));
    const clattn_plan plan = each_plan(d, config, &g.t.c.problem, text);
    if (plan) {
        e = e ? e : graded_run(&g, plan, d->queue);
        const int good = !e && graded_verify(&g, d->queue, &most, why, sizeof why);
        if (!ok(good, "%s, %s, %s, %s, %u: %s (%.3f of the bound)", d->name, config ? config : "default",
                layout_name(layout), fill, wanted, text, most))
            diag("%s %s", clattn_status_string(e), why);
    }
    graded_free(&g);
}

static char **arguments;
static void test(const struct device *d)
{
    if (arguments[1])
        check(d, arguments[1], *arguments[2] ? arguments[2] : NULL, layout_find(arguments[3]), arguments[4],
              (unsigned)atoi(arguments[5]));
}

int main(int argc, char **argv)
{
    (void)argc;
    arguments = argv;
    return each_device(test);
}
