/* backward.c - what a backward call need not say: strides of axes that do not step, and lists of no entries
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/graded.h"


/* Strides that say nothing: of axes of one, and of what is not asked for. */
static void test_strides(const struct device *d)
{
    static const struct {
        const char *text;
        enum layout layout;
        unsigned wanted;
        int dk, dv; /* the axis that does not step; 3: none */
    } rows[] = {
        { "f32 b2 h2/1 q5 k9 d8 lse bwd", SHARED, GRADED_ALL, 1, 1 },
        { "f32 b2 h2 q5 k1 d8 lse bwd", SHARED, GRADED_ALL, 2, 2 },
        { "f32 b2 h2/1 q5 k9 d8 lse bwd", SHARED_K, GRADED_ALL, 1, 1 },
        { "f32 b2 h2/1 q5 k9 d8 lse bwd", SHARED_V, GRADED_ALL, 1, 1 },
        { "f32 b1 h2 q5 k9 d8 lse bwd", PADDED, GRADED_ALL, 0, 0 },
        { "f32 b2 h2 q5 k9 d8 lse bwd", PADDED, 1 << GRADED_DV, 0, 3 },
        { "f32 b2 h2 q5 k9 d8 lse bwd", PADDED, 1 << GRADED_DK, 3, 0 },
        { "f32 b3 h2 q9 k5 d8/6 varlen lse bwd", PLAIN, GRADED_ALL | 1 << GRADED_DLSE, 3,
          3 }, /* more rows of Q than of K */
        { "f32 b3 h2 q5 k9 d8/6 varlen lse bwd", PLAIN, GRADED_ALL | 1 << GRADED_DLSE, 3, 3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graded g;
        char why[1024] = "";
        const clattn_workload c = each_case(rows[i].text);
        clattn_plan plan = NULL;
        cl_int e = graded_make(&g, d->cl.context, d->queue, &c, rows[i].layout, rows[i].wanted);
        for (int axis = 0; axis < 3; axis++) {
            g.args.dk.stride[axis] = axis == rows[i].dk ? 0 : g.x[GRADED_DK].stride[axis];
            g.args.dv.stride[axis] = axis == rows[i].dv ? 0 : g.x[GRADED_DV].stride[axis];
        }
        e = e ? e : clattn_plan_create(&plan, d->handle, &c.problem, NULL);
        e = e ? e : graded_run(&g, plan, d->queue);
        ok(!e && graded_verify(&g, d->queue, why, sizeof why),
           "axes %d of dK and %d of dV do not step (%s %s): %s", rows[i].dk, rows[i].dv, clattn_status_string(e), why,
           rows[i].text);
        clattn_plan_release(plan);
        graded_free(&g);
    }
}

/* Slopes without entries: there are those that all entries would share, and none that each has of its own. */
static void test_no_entries(const struct device *d)
{
    static const char text[] = "f32 b0 h2 q3 k5 d8 alibi lse bwd";
    static const float canary[2] = { 3, 3 };
    const clattn_workload c = each_case(text);
    const clattn_plan plan = each_plan(d, "cpu", &c.problem, text);
    for (int own = 0; own < 2; own++)
        for (int n = 1; n < 3; n++) {
            struct graded g;
            float got[2] = { 3, 3 };
            const int fits = own || n == 2;
            const float want = own ? 3 : 0;
            cl_int e = graded_make(&g, d->cl.context, d->queue, &c, PADDED, GRADED_OTHERS);
            const cl_mem mem = each_buffer(d->cl.context, CL_MEM_READ_WRITE, (size_t)n * sizeof *got, canary);
            g.t.args.slopes_stride = own ? 2 : 0;
            g.args.dslopes = (clattn_array){ mem, 0 };
            if (e)
                bail("no call");
            e = graded_run(&g, plan, d->queue);
            if (clEnqueueReadBuffer(d->queue, mem, CL_TRUE, 0, (size_t)n * sizeof *got, got, 0, NULL, NULL))
                bail("dSlope cannot be read");
            ok(e == (fits ? CL_SUCCESS : CLATTN_ERROR_BUFFER_TOO_SMALL) && got[0] == (fits ? want : 3) &&
                   got[1] == (n == 2 ? want : 3),
               "slopes %s, room for %d (%s): %g %g", own ? "of each of no entries" : "of all entries, of none", n,
               clattn_status_string(e), (double)got[0], (double)got[1]);
            clReleaseMemObject(mem);
            graded_free(&g);
        }
}

static void test(const struct device *d)
{
    test_strides(d);
    test_no_entries(d);
}

int main(void)
{
    return each_device(test);
}
