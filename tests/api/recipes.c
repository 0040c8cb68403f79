/* recipes.c - what clattn.h says can be built from partial results: keys streamed through one buffer, one sequence over
 * two queues, and over two devices
 * SPDX-License-Identifier: Apache-2.0
 *
 * Against a plain loop in double over all keys. The two devices are the first and the last of those under test; where
 * there is one only, it is two contexts of that. */
#include "config.h"

#include "tools/oracle/convert.h"
#include "tests/lib/each.h"

#include <float.h>
#include <math.h>

enum { H = 4, HK = 2, NQ = 5, NK = 301, D = 40, ROWS = H * NQ, Q_N = ROWS * D, KV_N = HK * NK * D };
enum { WITH_SINKS, WITHOUT, KINDS };

/* ---- The answer ---- */

static double q[Q_N], k[KV_N], v[KV_N];
static float sinks[H] = { 0.5f, -2, 1, 3 };
static struct {
    double o[D], bound[D], lse, lse_bound;
} want[ROWS];

static void make_inputs(int type)
{
    unsigned x = 7;
    double *const all[] = { q, k, v };
    const int n[] = { Q_N, KV_N, KV_N };
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < n[t]; i++) {
            unsigned char stored[8];
            x = x * 1664525u + 1013904223u;
            all[t][i] = (x >> 8) / (double)(1 << 22) - 2;
            convert_store(type, &all[t][i], stored, 1);
            convert_load(type, stored, &all[t][i], 1);
        }
}

/* The bound of clattn.h for O in f32. */
static void answer(int h, int row)
{
    const double u = ldexp(1, -24), scale = 1 / sqrt(D);
    const int kept = row + NK - NQ + 1, hk = h / (H / HK), at = h * NQ + row;
    const double terms = 16 + 2 * log2(2 + kept);
    double s[NK], a[NK], sum = 0, about = 0, most = sinks[h];
    for (int j = 0; j < kept; j++) {
        s[j] = a[j] = 0;
        for (int c = 0; c < D; c++) {
            const double x = scale * q[at * D + c] * k[(hk * NK + j) * D + c];
            s[j] += x;
            a[j] += fabs(x);
        }
        most = fmax(most, s[j]);
    }
    for (int j = 0; j < kept; j++)
        sum += exp(s[j] - most);
    want[at].lse = most + log(sum + exp(sinks[h] - most));
    const double p_sink = exp(sinks[h] - want[at].lse);
    about = p_sink * (1 + fabs((double)sinks[h]));
    for (int j = 0; j < kept; j++)
        about += exp(s[j] - want[at].lse) * (1 + a[j]);
    want[at].lse_bound = u * (32 * about + terms + 2 * fabs(want[at].lse));
    for (int c = 0; c < D; c++) {
        double o = 0, t1 = 0, t2 = 0;
        for (int j = 0; j < kept; j++)
            o += exp(s[j] - want[at].lse) * v[(hk * NK + j) * D + c];
        for (int j = 0; j < kept; j++) {
            const double p = exp(s[j] - want[at].lse), x = v[(hk * NK + j) * D + c];
            t1 += p * fabs(x - o) * (1 + a[j]);
            t2 += p * fabs(x);
        }
        t1 += p_sink * fabs(o) * (1 + fabs((double)sinks[h]));
        want[at].o[c] = o;
        want[at].bound[c] = u * (32 * t1 + terms * t2 + fabs(o)) + (double)FLT_MIN;
    }
}

/* ---- A device ---- */

struct place {
    cl_context context;
    cl_command_queue queue, second;
    clattn_handle handle;
    clattn_plan plans[KINDS];
    cl_mem q, k, v, sinks, workspace;
    int type;
};

static cl_mem upload(cl_context context, int type, const double *x, int n)
{
    void *bytes = calloc((size_t)n, 8);
    if (!bytes)
        bail("no memory");
    convert_store(type, x, bytes, (size_t)n);
    const cl_mem mem = each_buffer(context, CL_MEM_READ_WRITE, (size_t)n * convert_size(type), bytes);
    free(bytes);
    return mem;
}

static cl_mem room(cl_context context, size_t floats)
{
    return each_buffer(context, CL_MEM_READ_WRITE, floats * sizeof(float), NULL);
}

static void open_place(struct place *to, const struct device *d, int type)
{
    clattn_options options = CLATTN_OPTIONS_INIT;
    cl_device_id device = d->cl.device;
    cl_int e;
    options.tune = CLATTN_TUNE_OFF;
    memset(to, 0, sizeof *to);
    to->type = type;
    if (!(to->context = clCreateContext(NULL, 1, &device, NULL, NULL, &e)) ||
        !(to->queue = clCreateCommandQueue(to->context, device, 0, &e)) ||
        !(to->second = clCreateCommandQueue(to->context, device, 0, &e)) ||
        (e = clattn_create(&to->handle, to->context, device, &options)))
        bail("%s: %s", d->name, clattn_status_string(e));
    for (int kind = 0; kind < KINDS; kind++) {
        clattn_problem p = CLATTN_PROBLEM_INIT;
        p.type = type;
        p.o_type = CLATTN_F32;
        p.d = D;
        p.causal = 1;
        p.align = CLATTN_ALIGN_OFFSET;
        p.flags = kind == WITH_SINKS ? CLATTN_SINKS : 0;
        p.splits = 1; /* no workspace on CPUs, and little on others */
        to->plans[kind] = each_own_plan(to->handle, &p, NULL);
    }
    to->q = upload(to->context, type, q, Q_N);
    to->k = upload(to->context, type, k, KV_N);
    to->v = upload(to->context, type, v, KV_N);
    to->sinks = each_buffer(to->context, CL_MEM_READ_ONLY, sizeof sinks, sinks);
    to->workspace = room(to->context, 1 << 16);
}

static void close_place(struct place *p)
{
    for (int kind = 0; kind < KINDS; kind++)
        clattn_plan_release(p->plans[kind]);
    clattn_release(p->handle);
    cl_mem all[] = { p->q, p->k, p->v, p->sinks, p->workspace };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        clReleaseMemObject(all[i]);
    clReleaseCommandQueue(p->second);
    clReleaseCommandQueue(p->queue);
    clReleaseContext(p->context);
}

/* ---- Parts ---- */

/* (O, LSE) of parts, [part,h,nq,d] and [part,h,nq]. */
struct states {
    cl_mem o, lse;
};

/* Keys first .. first + n - 1 become part `part`. k and v hold those of each head from `at` on, `pitch` rows apart. */
static cl_int enqueue_part(const struct place *p, cl_command_queue queue, cl_mem of_k, cl_mem of_v, int at, int pitch,
                           int first, int n, const struct states *to, int part, cl_event *event)
{
    const int kind = part ? WITHOUT : WITH_SINKS;
    clattn_sizes sizes = { 1, H, HK, NQ, n, NK - NQ - first, 0, 0 }; /* the diagonal, from this part's first key on */
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    a.sizes = &sizes;
    a.q.mem = p->q;
    a.k.mem = of_k;
    a.v.mem = of_v;
    a.k.offset = a.v.offset = (size_t)at * D;
    a.k.stride[1] = a.v.stride[1] = (int64_t)pitch * D;
    a.k.stride[2] = a.v.stride[2] = D;
    a.o.mem = to->o;
    a.o.offset = (size_t)part * Q_N;
    a.lse.mem = to->lse;
    a.lse.offset = (size_t)part * ROWS;
    a.sinks.mem = kind == WITH_SINKS ? p->sinks : NULL;
    a.workspace = p->workspace;
    a.workspace_size = sizeof(float) << 16;
    return clattn_enqueue_forward(p->plans[kind], queue, &a, 0, NULL, event);
}

static cl_int enqueue_merge(const struct place *p, const struct states *from, int parts, const struct states *to,
                            cl_uint waits, const cl_event *list)
{
    clattn_sizes sizes = { 1, H, HK, NQ, 0, 0, 0, 0 };
    clattn_merge_args a = CLATTN_MERGE_ARGS_INIT;
    a.sizes = &sizes;
    a.parts = parts;
    a.o_parts.mem = from->o;
    a.lse_parts.mem = from->lse;
    a.o.mem = to->o;
    a.lse.mem = to->lse;
    return clattn_enqueue_merge(p->plans[WITHOUT], p->queue, &a, waits, list, NULL);
}

static struct states new_states(const struct place *p, int parts)
{
    struct states s = { room(p->context, (size_t)parts * Q_N), room(p->context, (size_t)parts * ROWS) };
    return s;
}
static void free_states(struct states *s)
{
    clReleaseMemObject(s->o);
    clReleaseMemObject(s->lse);
}

static void judge(const struct place *p, cl_int e, const struct states *s, const char *what)
{
    static float o[Q_N], lse[ROWS];
    int bad = 0;
    memset(o, 0xff, sizeof o);
    memset(lse, 0xff, sizeof lse);
    if (!e)
        e = clEnqueueReadBuffer(p->queue, s->o, CL_TRUE, 0, sizeof o, o, 0, NULL, NULL);
    if (!e)
        e = clEnqueueReadBuffer(p->queue, s->lse, CL_TRUE, 0, sizeof lse, lse, 0, NULL, NULL);
    for (int i = 0; i < ROWS; i++) {
        bad += !(fabs(lse[i] - want[i].lse) <= want[i].lse_bound);
        for (int c = 0; c < D; c++)
            bad += !(fabs(o[i * D + c] - want[i].o[c]) <= want[i].bound[c]);
    }
    ok(!e && !bad, "%s, %s", what, p->type == CLATTN_F16 ? "f16" : "f32");
    if (e || bad)
        diag("%s, %d elements are wrong", clattn_status_string(e), bad);
}

/* ---- Recipes ---- */

/* A chunk's keys come into a buffer for `most` of them, and its state joins what there is: of two buffers of states one
 * is read while the other is written. */
static void stream(const struct place *p, int most)
{
    const size_t size = convert_size(p->type), chunk = (size_t)most * D * size;
    struct states now = new_states(p, 2), then = new_states(p, 1);
    const cl_mem of_k = room(p->context, (size_t)HK * (size_t)most * D);
    const cl_mem of_v = room(p->context, (size_t)HK * (size_t)most * D);
    cl_int e = CL_SUCCESS;
    for (int first = 0; first < NK && !e; first += most) {
        const int n = first + most < NK ? most : NK - first;
        for (int h = 0; h < HK && !e; h++) {
            const size_t from = ((size_t)h * NK + (size_t)first) * D * size;
            e = clEnqueueCopyBuffer(p->queue, p->k, of_k, from, (size_t)h * chunk, (size_t)n * D * size, 0, NULL, NULL);
            if (!e)
                e = clEnqueueCopyBuffer(p->queue, p->v, of_v, from, (size_t)h * chunk, (size_t)n * D * size, 0, NULL,
                                        NULL);
        }
        if (!e)
            e = enqueue_part(p, p->queue, of_k, of_v, 0, most, first, n, &now, first ? 1 : 0, NULL);
        if (first && !e && !(e = enqueue_merge(p, &now, 2, &then, 0, NULL)) &&
            !(e = clEnqueueCopyBuffer(p->queue, then.o, now.o, 0, 0, sizeof(float) * Q_N, 0, NULL, NULL)))
            e = clEnqueueCopyBuffer(p->queue, then.lse, now.lse, 0, 0, sizeof(float) * ROWS, 0, NULL, NULL);
    }
    char what[80];
    snprintf(what, sizeof what, "keys streamed through a buffer of %d", most);
    judge(p, e, &now, what);
    free_states(&now);
    free_states(&then);
    clReleaseMemObject(of_k);
    clReleaseMemObject(of_v);
}

static void two_queues(const struct place *p)
{
    struct states parts = new_states(p, 2), all = new_states(p, 1);
    cl_event done[2] = { NULL, NULL };
    cl_int e = enqueue_part(p, p->queue, p->k, p->v, 0, NK, 0, 150, &parts, 0, &done[0]);
    if (!e && !(e = clFlush(p->queue)) &&
        !(e = enqueue_part(p, p->second, p->k, p->v, 150, NK, 150, NK - 150, &parts, 1, &done[1])) &&
        !(e = clFlush(p->second)))
        e = enqueue_merge(p, &parts, 2, &all, 2, done);
    judge(p, e, &all, "one sequence over two queues");
    for (int i = 0; i < 2; i++)
        if (done[i])
            clReleaseEvent(done[i]);
    free_states(&parts);
    free_states(&all);
}

/* The second device's state goes through the host's memory, as the first one's part 1. */
static void two_devices(const struct place *p, const struct place *other)
{
    static float o[Q_N], lse[ROWS];
    struct states parts = new_states(p, 2), theirs = new_states(other, 2), all = new_states(p, 1);
    cl_int e = enqueue_part(p, p->queue, p->k, p->v, 0, NK, 0, 99, &parts, 0, NULL);
    if (!e && !(e = clFlush(p->queue)))
        e = enqueue_part(other, other->queue, other->k, other->v, 99, NK, 99, NK - 99, &theirs, 1, NULL);
    if (!e && !(e = clEnqueueReadBuffer(other->queue, theirs.o, CL_TRUE, sizeof o, sizeof o, o, 0, NULL, NULL)) &&
        !(e = clEnqueueReadBuffer(other->queue, theirs.lse, CL_TRUE, sizeof lse, sizeof lse, lse, 0, NULL, NULL)) &&
        !(e = clEnqueueWriteBuffer(p->queue, parts.o, CL_TRUE, sizeof o, sizeof o, o, 0, NULL, NULL)) &&
        !(e = clEnqueueWriteBuffer(p->queue, parts.lse, CL_TRUE, sizeof lse, sizeof lse, lse, 0, NULL, NULL)))
        e = enqueue_merge(p, &parts, 2, &all, 0, NULL);
    judge(p, e, &all, "one sequence over two devices");
    free_states(&parts);
    free_states(&theirs);
    free_states(&all);
}

int main(void)
{
    static const int types[] = { CLATTN_F32, CLATTN_F16 };
    const struct device *devices;
    const char *why;
    const unsigned n = harness_open(&devices, &why);
    if (!n)
        return skip_all("%s", why);
    diag("%s and %s", devices[0].name, devices[n - 1].name);
    for (int t = 0; t < 2; t++) {
        struct place first, last;
        make_inputs(types[t]);
        for (int i = 0; i < ROWS; i++)
            answer(i / NQ, i % NQ);
        open_place(&first, &devices[0], types[t]);
        open_place(&last, &devices[n - 1], types[t]);
        stream(&first, 64);
        stream(&first, 3);
        two_queues(&last);
        two_devices(&first, &last);
        two_devices(&last, &first);
        close_place(&first);
        close_place(&last);
    }
    harness_close();
    return done_testing();
}
