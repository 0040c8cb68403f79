/* backward_captured.c - derivatives of score_mods and gradients of captured buffers: what is refused, classes, bytes
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/graded_call.h"

#include <clattn_tune.h>

static struct graded_call on;

static void refused(cl_int want, const char *words, const char *what)
{
    graded_call_refused(&on, want, words, what);
}

/* A problem with two mods and two captured buffers that nothing is wrong with. */
struct modded {
    clattn_problem p;
    clattn_score_mod mods[2];
    clattn_aux aux[2];
    const char *grads[2];
};

static void make_modded(struct modded *m, const char *problem)
{
    const clattn_workload c = each_case(problem);
    m->p = c.problem;
    m->mods[0] = (clattn_score_mod){ "s += table[h];", "first.cl", 0 };
    m->mods[1] = (clattn_score_mod){ "s = 2 * s;", NULL, CLATTN_MOD_VECTOR };
    m->grads[0] = "table_index = h; table_grad = ds;";
    m->grads[1] = "ds = 2 * ds;";
    m->aux[0] = (clattn_aux){ "kind", CLATTN_I32 };
    m->aux[1] = (clattn_aux){ "table", CLATTN_F32 };
    m->p.mods = m->mods;
    m->p.mod_grads = m->grads;
    m->p.aux = m->aux;
    m->p.n_mods = m->p.n_aux = 2;
    m->p.aux_grads = 2;
}

/* No plan, in these words. */
static void no_plan(const clattn_problem *p, cl_int want, const char *words, const char *what)
{
    char why[512] = "";
    clattn_plan plan = NULL;
    const cl_int s = clattn_supports(on.d->handle, p, why, sizeof why);
    const cl_int e = clattn_plan_create(&plan, on.d->handle, p, NULL);
    each_refused(on.d, e, NULL, want, words, what);
    ok(!plan && (s == want || want == CLATTN_ERROR_BUILD), "no plan, and supports() says so (%s): %s",
       clattn_status_string(s), why);
}

#define NO_PLAN(want, words, change) \
    do { \
        struct modded m; \
        make_modded(&m, "f32 b1 h2 q9 k40 d8 lse bwd"); \
        change; \
        no_plan(&m.p, want, words, #change); \
    } while (0)

static void test_derivatives(void)
{
    static char endless[(1 << 20) + 2];
    memset(endless, ' ', sizeof endless - 1);
    NO_PLAN(CLATTN_ERROR_NOT_SUPPORTED, "score_mod 0, first.cl has no derivative", m.p.mod_grads = NULL);
    NO_PLAN(CLATTN_ERROR_NOT_SUPPORTED, "score_mod 1 has no derivative: mod_grads[1] is NULL", m.grads[1] = NULL);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "mod_grads[1] is longer than", m.grads[1] = endless);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "aux_grads is 0x6, but n_aux is 2", m.p.aux_grads = 6);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "aux_grads is 0x80000000", m.p.aux_grads = 1u << 31);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "marks aux[0], \"kind\", whose type 5", m.p.aux_grads = 1);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "marks aux[1], \"table\", whose type 2", m.aux[1].type = CLATTN_F16);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "\"table_index\" means something else", m.aux[0].name = "table_index");
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "\"table_grad\" means something else", m.aux[0].name = "table_grad");
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "aux[1].name \"kind_grad\" means something else",
            m.aux[0].type = CLATTN_F32; m.aux[1].name = "kind_grad");
    NO_PLAN(CLATTN_ERROR_BUILD, "derivative of first.cl:2:", m.grads[0] = "ds = ds;\nds = nowhere;");
    NO_PLAN(CLATTN_ERROR_BUILD, "derivative of score_mod:1:", m.grads[1] = "ds = nowhere;");
}

/* No plan is refused without need: a text that is as long as it may be, gradients of doubles, and names that only
 * those of a buffer of numbers may not be. */
static void supported(struct modded *m, const char *what)
{
    char why[512] = "";
    if (harness_may_refuse(on.d, &m->p, NULL))
        skip("%s has no f64: %s", on.d->name, what);
    else
        ok(!clattn_supports(on.d->handle, &m->p, why, sizeof why), "%s: %s", what, why);
}
static void test_supported(void)
{
    static char longest[(1 << 20) + 1];
    struct modded m;
    memset(longest, ' ', sizeof longest - 1);
    make_modded(&m, "f32 b1 h2 q9 k40 d8 lse bwd");
    m.grads[1] = longest;
    supported(&m, "a derivative of 1 MiB");
    make_modded(&m, "f64 b1 h2 q9 k40 d8 lse bwd");
    m.aux[1].type = CLATTN_F64;
    supported(&m, "a gradient of doubles");
    make_modded(&m, "f32 b1 h2 q9 k40 d8 lse bwd");
    m.aux[1].name = "kind_index";
    supported(&m, "a name behind that of integers");
    make_modded(&m, "f32 b1 h2 q9 k40 d8 lse bwd");
    m.aux[0].name = "other_grad";
    supported(&m, "a name that ends alike");
}

/* What only gradients need is nothing to the others. */
static void test_ignored(void)
{
    struct modded m;
    static const char *const none[2] = { NULL, NULL };
    clattn_plan plan = NULL;
    char class[256] = "", again[256] = "", kept[256] = "", unmarked[256] = "", other[256] = "";
    make_modded(&m, "f32 b1 h2 q9 k40 d8 lse bwd");
    clattn_class_of(on.d->handle, &m.p, kept, sizeof kept, NULL);
    m.p.aux_grads = 0;
    clattn_class_of(on.d->handle, &m.p, unmarked, sizeof unmarked, NULL);
    m.grads[1] = "ds = 3 * ds;";
    clattn_class_of(on.d->handle, &m.p, other, sizeof other, NULL);
    ok(*kept && strcmp(kept, unmarked) && strcmp(unmarked, other),
       "marks and derivatives make other classes: %s, %s, %s", kept, unmarked, other);
    m.aux[0].type = CLATTN_F32;
    m.p.aux_grads = 1;
    clattn_class_of(on.d->handle, &m.p, class, sizeof class, NULL);
    m.p.aux_grads = 2;
    clattn_class_of(on.d->handle, &m.p, again, sizeof again, NULL);
    ok(*class && strcmp(class, again), "and so do other marks: %s, %s", class, again);
    m.p.flags &= ~(uint32_t)CLATTN_BACKWARD;
    clattn_class_of(on.d->handle, &m.p, class, sizeof class, NULL);
    m.p.mod_grads = none;
    m.p.aux_grads = UINT32_MAX;
    clattn_class_of(on.d->handle, &m.p, again, sizeof again, NULL);
    is_str(again, class, "a forward problem is the same class whatever they are");
    is_int(clattn_plan_create(&plan, on.d->handle, &m.p, NULL), CL_SUCCESS, "and has a plan");
    clattn_plan_release(plan);
}

/* A plan that may be asked for the gradient of `table`, and calls that ask in wrong ways. */
static void test_captured(void)
{
    struct modded m;
    clattn_backward_args *const a = &on.g.args;
    const clattn_backward_args good = *a;
    const clattn_plan plain = on.plan;
    const cl_mem mem = each_buffer(on.d->cl.context, CL_MEM_READ_WRITE, 64, NULL);
    const cl_mem constant = graded_call_read_only(&on, 64);
    clattn_array aux[2] = { { mem, 0 }, { mem, 0 } };
    clattn_aux_gradient daux[2] = { { { NULL, 0 }, 0 }, { { mem, 0 }, 16 } };
    size_t without = 0, with = 0;
    make_modded(&m, graded_call_text);
    a->daux = daux;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "the problem has no captured buffers", "a gradient of none");
    on.plan = each_own_plan(on.d->handle, &m.p, NULL);
    on.g.t.args.aux = aux;
    daux[0] = daux[1];
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "aux_grads of the problem does not mark aux[0]", "one that is not marked");
    daux[0].to.mem = NULL;
    daux[0].n = -1;
    static const int64_t counts[] = { 0, -1, INT64_MIN, (1 << 30) + 1, INT64_MAX };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        daux[1].n = counts[i];
        refused(CLATTN_ERROR_INVALID_ARGUMENT, "daux[1].n is", "a wrong number of elements");
        ok(clattn_backward_workspace_size(on.plan, a, &with) == CLATTN_ERROR_INVALID_ARGUMENT, "its workspace, too");
    }
    daux[1].n = 17;
    refused(CLATTN_ERROR_BUFFER_TOO_SMALL, "daux[1] reaches to byte", "more than the buffer has");
    daux[1].n = 16;
    daux[1].to.offset = 1;
    refused(CLATTN_ERROR_BUFFER_TOO_SMALL, "daux[1] reaches to byte", "an offset too far");
    daux[1].to = (clattn_array){ constant, 0 };
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "daux[1] is written, but its buffer is CL_MEM_READ_ONLY", "a constant one");
    daux[1].to.mem = mem;
    const cl_int e = clattn_backward_workspace_size(on.plan, a, &with);
    a->daux = NULL;
    ok(!e && !clattn_backward_workspace_size(on.plan, a, &without) && with > without, "workspace: %zu bytes, and %zu",
       without, with);
    on.g.t.args.aux = NULL;
    *a = good;
    clattn_plan_release(on.plan);
    on.plan = plain;
    clReleaseMemObject(mem);
    clReleaseMemObject(constant);
}

/* Each work-group's own elements and what additions to them lose, or where these are more than dQ has those of one
 * for all heads. Query heads that share keys have their dQ beside one table. */
static void test_tables_of(int heads)
{
    struct modded m;
    enum { ENTRIES = 16 };
    char problem[64];
    const size_t plain = (size_t)(2 * ENTRIES * heads) * 2 * sizeof(float);
    clattn_forward_args forward = CLATTN_FORWARD_ARGS_INIT;
    clattn_backward_args a = CLATTN_BACKWARD_ARGS_INIT;
    clattn_aux_gradient daux[2] = { { { NULL, 0 }, 0 }, { { on.g.args.dsinks.mem, 0 }, 0 } };
    const int64_t most = 16 * heads, counts[] = { 1, most, most + heads, 1000 };
    snprintf(problem, sizeof problem, "f32 b16 h%d/1 q2 k1 d8 lse bwd", heads);
    make_modded(&m, problem);
    const clattn_plan plan = each_own_plan(on.d->handle, &m.p, NULL);
    a.forward = &forward;
    a.daux = daux;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t size = 0;
        daux[1].n = counts[i];
        const size_t groups = counts[i] > most ? 1 : ENTRIES;
        const size_t want = (plain + (size_t)counts[i] * groups * 2 * sizeof(float) + 31) / 32 * 32;
        const cl_int e = clattn_backward_workspace_size(plan, &a, &size);
        ok(!e && size == want, "%lld elements, %d heads: %zu bytes, expected %zu", (long long)counts[i], heads, size,
           want);
    }
    clattn_plan_release(plan);
}
static void test_tables(void)
{
    test_tables_of(1);
    test_tables_of(2);
}

static void test(const struct device *d)
{
    graded_call_open(&on, d, graded_call_text, GRADED_ALL);
    test_derivatives();
    test_supported();
    test_ignored();
    test_captured();
    test_tables();
    graded_call_close(&on);
}

int main(void)
{
    return each_device(test);
}
