/* sample_gradients.c - what the library sees of gradients that are changed behind its back
 * SPDX-License-Identifier: Apache-2.0
 *
 * As device_sample.c does for O and LSE: every call is right, and is changed when it is over. make check has two of the
 * problems, in which each gradient is; CLATTN_PART=1: all. */
#include "config.h"

#include "src/api/handle.h"
#include "src/problem/mod_grads.h"
#include "src/judge/device_gradients.h"
#include "src/judge/judge.h"
#include "tests/tune/bed.h"

static const char *name_of(int which)
{
    static const char *const names[] = { "dQ", "dK", "dV", "dBias", "dSlopes", "dSinks", "dAux" };
    return names[which < SAMPLE_DAUX ? which : SAMPLE_DAUX];
}

/* Texts that would read far beyond what the library has for captured buffers, if they ran. Of the buffers that are
 * marked both texts look one up. */
static const clattn_score_mod mods[] = { { "s += table[(h + 1) << 28];", NULL, 0 },
                                         { "s *= gate[(h + 1) << 28];", NULL, CLATTN_MOD_VECTOR } };
static const char *const mod_grads[] = { "table_index = q - k;\ntable_grad = table[(h + 1) << 28];",
                                         "gate_index = k;\ngate_grad = ds * s;\nds *= gate[(h + 1) << 28];\n"
                                         "table_index = q;\n" };
static const clattn_aux aux[] = { { "table", CLATTN_F32 }, { "list", CLATTN_I32 }, { "gate", CLATTN_F32 } };

/* ---- Calls that are changed afterwards ---- */

static struct {
    int which;  /* the gradient that is; SAMPLE_GRADIENTS: none */
    size_t at, n;
    unsigned char bytes[8];
    int from, calls; /* calls from the from-th on are */
    bool none_runs;
} fault;

static cl_mem mem_of(const clattn_backward_args *a, int which)
{
    const cl_mem mem[SAMPLE_DAUX] = { a->dq.mem, a->dk.mem, a->dv.mem, a->dbias.mem, a->dslopes.mem, a->dsinks.mem };
    return which == SAMPLE_GRADIENTS ? NULL : which >= SAMPLE_DAUX ? a->daux[which - SAMPLE_DAUX].to.mem : mem[which];
}

cl_int __real_launch_run(struct launch *, const struct operation *, cl_command_queue, const void *args,
                         const struct waits *, struct why *);
cl_int __wrap_launch_run(struct launch *l, const struct operation *what, cl_command_queue queue, const void *args,
                         const struct waits *waits, struct why *why);

cl_int __wrap_launch_run(struct launch *l, const struct operation *what, cl_command_queue queue, const void *args,
                         const struct waits *waits, struct why *why)
{
    const cl_int status = fault.none_runs ? clEnqueueMarkerWithWaitList(queue, 0, NULL, waits->event)
                                          : __real_launch_run(l, what, queue, args, waits, why);
    const cl_mem mem = mem_of(args, fault.which);
    if (!status && ++fault.calls >= fault.from && mem &&
        (clFinish(queue) || clEnqueueWriteBuffer(queue, mem, CL_TRUE, fault.at, fault.n, fault.bytes, 0, NULL, NULL)))
        bail("a buffer cannot be changed");
    return status;
}

static void arm(int which, size_t at, const void *bytes, size_t n, int from)
{
    memset(&fault, 0, sizeof fault);
    fault.which = which;
    fault.at = at;
    fault.n = n;
    fault.from = from;
    memcpy(fault.bytes, bytes, n);
}
static void disarm(void)
{
    arm(SAMPLE_GRADIENTS, 0, "", 0, 1);
}

/* ---- Beds ---- */

static double *want, *bound; /* a row's */

/* By the first configuration of the table. */
static void open_place(struct place *x, const struct device *d, const char *text, bool captured)
{
    clattn_workload c = each_case(text);
    char name[128];
    disarm();
    if (captured) {
        c.problem.n_mods = 2;
        c.problem.mods = mods;
        c.problem.mod_grads = mod_grads;
        c.problem.n_aux = 3;
        c.problem.aux = aux;
        c.problem.aux_grads = 1 | 4;
    }
    if (clattn_config_at(d->handle, &c.problem, 0, name, sizeof name))
        bail("%s: no configuration", text);
    place_build(x, d, text, &c.problem, name);
    const size_t widest = (size_t)(x->sample.p.d + x->sample.p.dv + x->sample.p.sizes.nk) + MOD_GRADS_N;
    want = calloc(2 * widest, sizeof *want);
    if (!want)
        bail("no memory");
    bound = want + widest;
}

static void close_place(struct place *x)
{
    disarm();
    launch_clear(&x->launch);
    free(want);
}

/* ---- Elements ---- */

static bool element_is_seen(struct place *x, int which, const int64_t at[3], int64_t c)
{
    const struct sample_gradient_shape shape = sample_gradient_shape(&x->sample, which);
    const size_t size = convert_size(shape.type);
    const int64_t row = device_gradients_row(&x->sample, which, at[0], at[1], at[2]);
    const size_t place = DEVICE_SAMPLE_GUARD + (size_t)(row * shape.width + c) * size;
    unsigned char bytes[8];
    char words[80];
    snprintf(words, sizeof words, "%s, row %d of head %d, entry %d", name_of(which), (int)at[2], (int)at[1],
             (int)at[0]);
    sample_gradient(&x->sample, which, x->bed.gradients.lse, at[0], at[1], at[2], want, bound);
    store_near(shape.type, want[c], bound[c], true, false, bytes);
    arm(which, place, bytes, size, 1);
    const bool seen = place_judged(x, 1, false, words);
    store_near(shape.type, want[c], bound[c], false, false, bytes);
    arm(which, place, bytes, size, 1);
    return seen && place_judged(x, 1, false, NULL);
}

/* The first and the last element of every row. */
static void test_elements(struct place *x, int which)
{
    const struct sample_gradient_shape shape = sample_gradient_shape(&x->sample, which);
    int n = 0, good = 0;
    for (int64_t i = 0; i < shape.entries * shape.heads * shape.rows; i++) {
        const int64_t at[3] = { i / shape.rows / shape.heads, i / shape.rows % shape.heads, i % shape.rows };
        if (device_gradients_row(&x->sample, which, at[0], at[1], at[2]) < 0)
            continue;
        for (int64_t c = 0; c < shape.width; c += shape.width > 1 ? shape.width - 1 : 1, n++)
            good += element_is_seen(x, which, at, c);
    }
    ok(n > 0 && good == n, "%s: an element that is off by more than its bound is seen, one that is off by less may be: "
       "%d of %d, %s", name_of(which), good, n, x->text);
}

/* ---- What is not written, or should not be ---- */

static void test_rest(struct place *x, int which)
{
    const size_t end = DEVICE_SAMPLE_GUARD + x->bed.gradients.bytes[which];
    const size_t beside[] = { 0, DEVICE_SAMPLE_GUARD - 1, end, end + DEVICE_SAMPLE_GUARD - 1 };
    const unsigned char guard = DEVICE_SAMPLE_GUARD_BYTE;
    const size_t size = convert_size(sample_gradient_shape(&x->sample, which).type);
    char words[64];
    int good = 0;
    snprintf(words, sizeof words, "it writes beside %s", name_of(which));
    for (int i = 0; i < 4; i++) {
        arm(which, beside[i], "\0", 1, 1);
        good += place_judged(x, 1, false, words);
        if (clEnqueueWriteBuffer(x->bed.queue, mem_of(&x->bed.gradients.args, which), CL_TRUE, beside[i], 1, &guard, 0,
                                 NULL, NULL))
            bail("a buffer cannot be changed");
    }
    arm(which, end - size, "\377\377\377\377\377\377\377\377", size, 1);
    good += place_judged(x, 1, false, name_of(which));
    arm(which, end - size, "\1\1\1\1\1\1\1\1", size, 2);
    good += place_judged(x, 1, true, "a second run gives other bits");
    ok(good == 6, "%s: so is a byte beside it, a NaN, and other bits of a second run: %d of 6", name_of(which), good);
}

/* ---- Of a plan that is made ---- */

static void test_pass(struct place *x)
{
    struct why why = { "" };
    int good = 0, n = 0;
    ok(!judge_pass(PASS_BACKWARD_KEYS, &x->sample, &x->launch, 1, false, &why), "in every shape all is right: %s, %s",
       x->text, why.text);
    for (int which = 0; which < SAMPLE_GRADIENTS; which++)
        for (int call = 1; call <= sample_shapes_of(&x->sample.p); call++) {
            const float wrong = 77;
            if (!sample_gradient_shape(&x->sample, which).rows)
                continue;
            arm(which, DEVICE_SAMPLE_GUARD, &wrong, sizeof wrong, call);
            const cl_int status = judge_pass(PASS_BACKWARD_KEYS, &x->sample, &x->launch, 1, false, &why);
            good += status == CLATTN_ERROR_WRONG_RESULT && strstr(why.text, name_of(which)) && fault.calls == call;
            n++;
        }
    ok(n >= 6 && good == n, "a number that is wrong in one of them is seen: %d of %d", good, n);
    disarm();
    fault.none_runs = true;
    is_int(judge_pass(PASS_BACKWARD_KEYS, &x->sample, &x->launch, 1, false, &why), CLATTN_ERROR_WRONG_RESULT,
           "a call that does nothing is seen: %s", why.text);
}

/* A sample may be that of another one's buffers, as a search has it when it chooses a smaller shape: what is kept there
 * is not taken over, also where the new one cannot be opened. */
static void test_copied(struct place *x)
{
    struct sample copy = x->sample;
    struct device_sample other;
    struct why why = { "" };
    unsigned char keys[1] = { 0 };
    const double value[1] = { 0 };
    const struct sample_element element[1] = { { .p = 0 } };
    copy.keys = keys;
    copy.elements = element;
    copy.values[SAMPLE_Q] = copy.values[SAMPLE_DOUT] = value;
    const cl_int status = device_sample_open(&other, NULL, NULL, &copy, true, 1, &why);
    ok(status && !other.sample.keys && !other.sample.elements && !other.sample.values[SAMPLE_Q] &&
           !other.sample.values[SAMPLE_DOUT],
       "a copied sample begins without what the other one keeps (%s)", why.text);
    device_sample_close(&other);
}

static void test_device(const struct device *d)
{
    static const struct {
        const char *text;
        bool captured;
    } rows[] = {
        { "f32 b2 h4/2 q5 k7 d6/4 causal alibi bias:11qk sink bwd", false },
        { "bf16 b3 h2 q4 k9 d4 varlen bias:11qk:f16 sink bwd", false },
        { "f16 b2 h2/1 q3 k8 d5 qlen:2,1 kvlen:5,6 softcap2 alibi bwd", false },
        { "f32 b2 h4/2 q5 k7 d6/4 causal softcap3 alibi bwd", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!harness_turn((unsigned)i, i == 1 || i == 3))
            continue;
        struct place x;
        open_place(&x, d, rows[i].text, rows[i].captured);
        for (int shape = 0; shape < sample_shapes_of(&x.sample.p); shape++) {
            x.sample.shape = shape;
            place_open_bed(&x, 1);
            ok(place_judged(&x, 1, true, NULL), "%s: all is right in shape %d", rows[i].text, shape);
            for (int which = 0; which < SAMPLE_GRADIENTS; which++)
                if (sample_gradient_shape(&x.sample, which).rows) {
                    test_elements(&x, which);
                    test_rest(&x, which);
                }
            disarm();
            device_sample_close(&x.bed);
        }
        test_pass(&x);
        test_copied(&x);
        close_place(&x);
    }
}

int main(void)
{
    return each_device(test_device);
}
