/* hpp_calls.cpp - the calls of clattn.hpp, from plain OpenCL and from Khronos' opencl.hpp, against sums in double
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <clattn.hpp>
#include <cmath>
#include <string>
#include <vector>

#if defined(__has_include)
#if __has_include(<CL/opencl.hpp>)
#define WITH_OPENCL_HPP
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#endif
#endif

extern "C" {
#include "tests/lib/harness.h"
}
#include "tests/lib/tap.h"

using floats = std::vector<float>;

/* ---- Attention in double ---- */

struct sizes {
    int b, h, hk, nq, nk, d;
};

/* Inputs of one call, contiguous, and what should come out. */
struct attention {
    sizes n;
    floats q, k, v, dout;
    std::vector<double> o, bound, lse, dq, dk, dv;
};

static floats made_up(std::size_t n, double step)
{
    floats x(n);
    for (std::size_t i = 0; i < n; i++)
        x[i] = float(std::sin(step * double(i + 1)));
    return x;
}

/* A causal mask, bottom-right. */
static bool sees(const sizes &n, int q, int k)
{
    return k <= q + n.nk - n.nq;
}

/* One row of one head: its forward pass with the bound of clattn.h, and its share of the gradients. */
static void add_row(attention &a, int b, int h, int q)
{
    const sizes &n = a.n;
    const std::size_t at = (std::size_t(b * n.h + h) * n.nq + q) * n.d;
    const std::size_t head = std::size_t(b * n.hk + h / (n.h / n.hk)) * n.nk * n.d;
    const double scale = 1 / std::sqrt(double(n.d)), u = std::ldexp(1, -24);
    std::vector<double> p(n.nk), size(n.nk);
    double sum = 0, dot_d = 0;
    int seen = 0;
    for (int k = 0; k < n.nk; k++) {
        double s = 0;
        for (int c = 0; c < n.d; c++) {
            const double x = scale * a.q[at + c] * a.k[head + k * n.d + c];
            s += x, size[k] += std::fabs(x);
        }
        p[k] = sees(n, q, k) ? std::exp(s) : 0;
        sum += p[k], seen += sees(n, q, k);
    }
    a.lse[at / n.d] = std::log(sum);
    for (int c = 0; c < n.d; c++) {
        double o = 0, t1 = 0, t2 = 0;
        for (int k = 0; k < n.nk; k++)
            o += p[k] / sum * a.v[head + k * n.d + c];
        for (int k = 0; k < n.nk; k++) {
            const double v = a.v[head + k * n.d + c];
            t1 += p[k] / sum * std::fabs(v - o) * (1 + size[k]), t2 += p[k] / sum * std::fabs(v);
        }
        a.o[at + c] = o, dot_d += o * a.dout[at + c];
        a.bound[at + c] = u * (32 * t1 + (16 + 2 * std::log2(1 + seen)) * t2) + u * std::fabs(o) + 2e-38;
    }
    for (int k = 0; k < n.nk; k++) {
        double dp = 0;
        for (int c = 0; c < n.d; c++)
            dp += a.dout[at + c] * double(a.v[head + k * n.d + c]);
        const double weight = p[k] / sum, ds = scale * weight * (dp - dot_d);
        for (int c = 0; c < n.d; c++) {
            const std::size_t kc = head + k * n.d + c;
            a.dq[at + c] += ds * a.k[kc], a.dk[kc] += ds * a.q[at + c], a.dv[kc] += weight * a.dout[at + c];
        }
    }
}

static attention answer(const sizes &n)
{
    attention a;
    const std::size_t rows = std::size_t(n.b) * n.h * n.nq, nq = rows * n.d, nk = std::size_t(n.b) * n.hk * n.nk * n.d;
    a.n = n;
    a.q = made_up(nq, 1.3), a.k = made_up(nk, 0.7), a.v = made_up(nk, 2.1), a.dout = made_up(nq, 0.3);
    a.o.resize(nq), a.bound.resize(nq), a.lse.resize(rows), a.dq.resize(nq), a.dk.resize(nk), a.dv.resize(nk);
    for (int b = 0; b < n.b; b++)
        for (int h = 0; h < n.h; h++)
            for (int q = 0; q < n.nq; q++)
                add_row(a, b, h, q);
    return a;
}

static clattn::problem problem_of(const sizes &n)
{
    return clattn::problem().batch(n.b).heads(n.h, n.hk).queries(n.nq).keys(n.nk).width(n.d).causal();
}

/* ---- Buffers ---- */

/* A buffer with these numbers, or poison. */
class buffer
{
  public:
    buffer(const struct device *d, const void *bytes, std::size_t size) : queue_(d->queue), size_(size)
    {
        cl_int e;
        mem_ = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, const_cast<void *>(bytes),
                              &e);
        if (e)
            bail("%s: no buffer: %s", d->name, clattn_status_string(e));
    }
    buffer(const struct device *d, const floats &x) : buffer(d, x.data(), x.size() * sizeof x[0])
    {
    }
    buffer(const struct device *d, std::size_t n) : buffer(d, floats(n, std::nanf("")))
    {
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer()
    {
        clReleaseMemObject(mem_);
    }
    cl_mem operator()() const
    {
        return mem_;
    }
    void read(void *to) const
    {
        if (clEnqueueReadBuffer(queue_, mem_, CL_TRUE, 0, size_, to, 0, nullptr, nullptr))
            bail("a buffer cannot be read");
    }
    floats numbers() const
    {
        floats x(size_ / sizeof(float));
        read(x.data());
        return x;
    }

  private:
    cl_command_queue queue_;
    std::size_t size_;
    cl_mem mem_;
};

/* Whether all numbers are within a bound each of what they should be. */
static void is_near(const floats &got, const std::vector<double> &want, const std::vector<double> &bound,
                    const char *device, const char *what)
{
    std::size_t i = 0;
    while (i < got.size() && i < want.size() && std::fabs(got[i] - want[i]) <= bound[i])
        i++;
    ok(got.size() == want.size() && i == got.size(), "%s: %s", device, what);
    if (i < got.size() && i < want.size())
        diag("element %d: got %.9g, want %.9g within %.2g", int(i), got[i], want[i], bound[i]);
}
static void is_near(const floats &got, const std::vector<double> &want, double bound, const char *device,
                    const char *what)
{
    is_near(got, want, std::vector<double>(want.size(), bound), device, what);
}

/* ---- Calls ---- */

static const sizes gqa = { 2, 4, 2, 5, 9, 8 };

static void test_forward(const struct device *d, const clattn::handle &handle)
{
    const attention a = answer(gqa);
    const clattn::problem problem = problem_of(gqa);
    const buffer q(d, a.q), k(d, a.k), v(d, a.v);
    {
        const buffer o(d, a.q.size()), lse(d, a.lse.size());
        const clattn::plan plan(handle, problem);
        clattn::forward_args args(q(), k(), v(), o(), lse());
        const buffer space(d, plan.workspace_size(args) / sizeof(float) + 1);
        args.workspace = space(), args.workspace_size = plan.workspace_size(args);
        cl_event gate = clCreateUserEvent(d->cl.context, nullptr), done = nullptr;
        cl_int status = CL_COMPLETE;
        plan.forward(d->queue, args, { gate }, &done);
        clFlush(d->queue);
        clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        ok(status > CL_COMPLETE, "%s: a call waits for its events", d->name);
        clSetUserEventStatus(gate, CL_COMPLETE);
        clWaitForEvents(1, &done);
        is_near(o.numbers(), a.o, a.bound, d->name, "a plan's O");
        is_near(lse.numbers(), a.lse, 1e-5, d->name, "and its LSE");
        clReleaseEvent(gate), clReleaseEvent(done);
    }
    {
        const buffer o(d, a.q.size());
        handle.forward(d->queue, problem, clattn::forward_args(q(), k(), v(), o()));
        is_near(o.numbers(), a.o, a.bound, d->name, "the same in one call");
    }
    /* Some first elements more, and O in [b,n,h,d]. */
    const buffer o(d, a.q.size() + 3);
    handle.forward(d->queue, problem,
                   clattn::forward_args(q(), k(), v(), clattn::tensor(o(), 3).bnhd(gqa.nq, gqa.h, gqa.d)));
    std::vector<double> turned(a.o.size() + 3), bound(a.o.size() + 3, 1e-5);
    for (std::size_t i = 0; i < a.o.size(); i++) {
        const std::size_t row = i / gqa.d, at_h = row / gqa.nq % gqa.h, b = row / gqa.nq / gqa.h;
        turned[3 + ((b * gqa.nq + row % gqa.nq) * gqa.h + at_h) * gqa.d + i % gqa.d] = a.o[i];
    }
    const floats got = o.numbers();
    is_near(floats(got.begin() + 3, got.end()), { turned.begin() + 3, turned.end() }, 1e-5, d->name, "in [b,n,h,d]");
    ok(std::isnan(got[0]) && std::isnan(got[2]), "%s: behind the first elements", d->name);
}

static void test_backward(const struct device *d, const clattn::handle &handle)
{
    const attention a = answer(gqa);
    const clattn::problem problem = problem_of(gqa);
    const buffer q(d, a.q), k(d, a.k), v(d, a.v), o(d, a.q.size()), lse(d, a.lse.size()), dout(d, a.dout);
    const clattn::forward_args forward(q(), k(), v(), o(), lse());
    handle.forward(d->queue, problem, forward);
    for (const bool planned : { true, false }) {
        const buffer dq(d, a.q.size()), dk(d, a.k.size()), dv(d, a.v.size());
        clattn::backward_args args(forward, dout(), dq(), dk(), dv());
        if (planned) {
            const clattn::plan plan(handle, clattn::problem(problem).backward());
            args.workspace_size = plan.workspace_size(args);
            const buffer space(d, args.workspace_size / sizeof(float) + 1);
            args.workspace = space();
            plan.backward(d->queue, args);
            clFinish(d->queue);
        } else {
            cl_event done = nullptr;
            handle.backward(d->queue, problem, args, {}, &done);
            is_int(clWaitForEvents(1, &done), CL_SUCCESS, "%s: gradients in one call, with an event", d->name);
            clReleaseEvent(done);
        }
        is_near(dq.numbers(), a.dq, 1e-5, d->name, planned ? "a plan's dQ" : "dQ of one call");
        is_near(dk.numbers(), a.dk, 1e-5, d->name, planned ? "a plan's dK" : "dK of one call");
        is_near(dv.numbers(), a.dv, 1e-5, d->name, planned ? "a plan's dV" : "dV of one call");
    }
}

/* A plan that appends rotated keys to an empty cache and then answers, after its queries were rotated. */
static void test_cache(const struct device *d, const clattn::handle &handle)
{
    const sizes n = { 1, 2, 1, 3, 3, 8 };
    attention a = answer(n);
    const clattn::plan plan(handle, problem_of(n).kv_len().append().rotary());
    const floats ones(3 * 4, 0), zeros(3 * 4, 1); /* cos 0, sin 1: (x, y) becomes (-y, x) */
    const int none = 0;
    const buffer cos(d, ones), sin(d, zeros), q(d, a.q), turned(d, a.q.size()), new_k(d, a.k), new_v(d, a.v),
        k(d, a.k.size()), v(d, a.v.size()), o(d, a.q.size()), len(d, &none, sizeof none);
    clattn_rotary rotary = CLATTN_ROTARY_INIT;
    rotary.cos = clattn::array(cos()), rotary.sin = clattn::array(sin()), rotary.positions = 3, rotary.width = 8;
    clattn::rotary_args turn;
    turn.in = clattn::tensor(q()), turn.out = clattn::tensor(turned()), turn.kv_len = clattn::array(len());
    turn.rotary = rotary;
    plan.rotary(d->queue, turn);
    clattn::append_args rows;
    rows.new_k = clattn::tensor(new_k()), rows.new_v = clattn::tensor(new_v()), rows.rotary = rotary;
    rows.k = clattn::tensor(k()), rows.v = clattn::tensor(v()), rows.kv_len = clattn::array(len());
    plan.append(d->queue, rows);
    clattn::forward_args args(turned(), k(), v(), o());
    args.kv_len = clattn::array(len());
    plan.forward(d->queue, args);
    is_near(o.numbers(), a.o, a.bound, d->name, "rotated, appended and attended: as without rotation");
    int now = 0;
    len.read(&now);
    is_int(now, 3, "%s: the cache has three rows", d->name);
    std::vector<double> want(a.k.size());
    for (std::size_t i = 0; i < want.size(); i++)
        want[i] = i % 8 < 4 ? -a.k[i + 4] : a.k[i - 4];
    is_near(k.numbers(), want, 0, d->name, "which were turned");
}

/* The keys in two parts, with an offset each, and merged. */
static void test_merge(const struct device *d, const clattn::handle &handle)
{
    const sizes n = { 1, 2, 2, 4, 10, 8 };
    const attention a = answer(n);
    const buffer q(d, a.q), k(d, a.k), v(d, a.v), o(d, a.q.size()), parts(d, 2 * a.q.size()), lse(d, 2 * a.lse.size()),
        all(d, a.lse.size());
    clattn::problem problem = problem_of(n).keys(5).offset(0);
    const clattn::plan plan(handle, problem);
    for (int i = 0; i < 2; i++) {
        clattn_sizes part = problem.sizes();
        part.offset = n.nk - n.nq - 5 * i;
        clattn::forward_args args(q(), clattn::tensor(k(), std::size_t(5 * i * n.d)).strides(0, 10 * n.d, n.d),
                                  clattn::tensor(v(), std::size_t(5 * i * n.d)).strides(0, 10 * n.d, n.d),
                                  clattn::tensor(parts(), i * a.q.size()), clattn::tensor(lse(), i * a.lse.size()));
        args.sizes = &part;
        plan.forward(d->queue, args);
    }
    clattn::merge_args args;
    args.parts = 2, args.o_parts = clattn::tensor(parts()), args.lse_parts = clattn::tensor(lse());
    args.o = clattn::tensor(o()), args.lse = clattn::tensor(all());
    plan.merge(d->queue, args);
    is_near(o.numbers(), a.o, 1e-5, d->name, "two halves, merged");
    is_near(all.numbers(), a.lse, 1e-5, d->name, "and their LSE");
}

/* A causal mask given as bytes, and a map made of it. */
static void test_block_map(const struct device *d, const clattn::handle &handle)
{
    const sizes n = { 1, 1, 1, 8, 8, 8 };
    const attention a = answer(n);
    std::vector<unsigned char> bytes(64), map(4, 77);
    for (int i = 0; i < 64; i++)
        bytes[std::size_t(i)] = sees(n, i / 8, i % 8);
    const buffer q(d, a.q), k(d, a.k), v(d, a.v), o(d, a.q.size()), mask(d, bytes.data(), 64), blocks(d, map.data(), 4);
    const clattn::plan plan(handle, problem_of(n).causal(false).mask().block_map());
    clattn::forward_args args(q(), k(), v(), o());
    args.mask = clattn::tensor4(mask()).shaped(1, 1, 8, 8);
    args.block_map = clattn::tensor4(blocks()).shaped(1, 1, 2, 2);
    args.block_q = args.block_k = 4;
    plan.block_map(d->queue, args);
    plan.forward(d->queue, args);
    is_near(o.numbers(), a.o, a.bound, d->name, "a mask with a block map");
    blocks.read(map.data());
    ok(map[0] == 1 && map[1] == 0 && map[2] == 2 && map[3] == 1, "%s: the map", d->name);
}

/* O is what a call writes as weights, times V. */
static void test_scores(const struct device *d, const clattn::handle &handle)
{
    const sizes n = { 1, 1, 1, 8, 8, 8 };
    const attention a = answer(n);
    const buffer q(d, a.q), k(d, a.k), v(d, a.v), o(d, a.q.size()), lse(d, 8), weights(d, 64);
    const clattn::plan plan(handle, problem_of(n).scores());
    const clattn::forward_args args(q(), k(), v(), o(), clattn::tensor(lse()));
    plan.forward(d->queue, args);
    plan.scores(d->queue, clattn::scores_args(args, CLATTN_SCORES_WEIGHTS, clattn::tensor4(weights())));
    const floats w = weights.numbers();
    floats sums(a.o.size());
    for (std::size_t i = 0; i < 8; i++)
        for (std::size_t key = 0; key < 8; key++)
            for (std::size_t c = 0; c < 8; c++)
                sums[i * 8 + c] += w[i * 8 + key] * a.v[key * 8 + c];
    is_near(sums, a.o, a.bound, d->name, "weights, times V");
}

/* ---- Beside Khronos' objects ---- */

#ifdef WITH_OPENCL_HPP
static void test_khronos(const struct device *d)
{
    const attention a = answer(gqa);
    const cl::Context context(d->cl.context, true);
    const cl::Device device(d->cl.device, true);
    const cl::CommandQueue queue(context, device);
    const clattn::handle handle(context(), device());
    const clattn::plan plan(handle, problem_of(gqa));
    const auto bytes = [](const floats &x) { return x.size() * sizeof x[0]; };
    const cl::Buffer q(context, CL_MEM_READ_WRITE, bytes(a.q)), k(context, CL_MEM_READ_WRITE, bytes(a.k)),
        v(context, CL_MEM_READ_WRITE, bytes(a.v)), o(context, CL_MEM_READ_WRITE, bytes(a.q));
    cl::Event written, done;
    queue.enqueueWriteBuffer(q, CL_FALSE, 0, bytes(a.q), a.q.data());
    queue.enqueueWriteBuffer(k, CL_FALSE, 0, bytes(a.k), a.k.data());
    queue.enqueueWriteBuffer(v, CL_FALSE, 0, bytes(a.v), a.v.data(), nullptr, &written);
    plan.forward(queue(), clattn::forward_args(q(), k(), v(), o()), { written() }, &done());
    floats got(a.q.size());
    const std::vector<cl::Event> after = { done };
    is_int(queue.enqueueReadBuffer(o, CL_TRUE, 0, bytes(got), got.data(), &after), CL_SUCCESS, "an event of ours");
    is_near(got, a.o, a.bound, d->name, "buffers, queues and events of opencl.hpp");
}
#else
static void test_khronos(const struct device *d)
{
    skip("%s: there is no CL/opencl.hpp", d->name);
}
#endif

int main(int argc, char **argv)
{
    const struct device *d;
    const char *why;
    (void)argc, (void)argv;
    const unsigned n = harness_open(&d, &why);
    if (!n)
        return skip_all("%s", why);
    try {
        const clattn::device found = clattn::default_device();
        cl_platform_id platform = nullptr;
        clGetDeviceInfo(found.id, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
        ok(platform && platform == found.platform, "a default device");
        for (unsigned i = 0; i < n; i++) {
            const clattn::handle handle(d[i].cl.context, d[i].cl.device);
            test_forward(&d[i], handle);
            test_backward(&d[i], handle);
            test_cache(&d[i], handle);
            test_merge(&d[i], handle);
            test_block_map(&d[i], handle);
            test_scores(&d[i], handle);
            test_khronos(&d[i]);
        }
    } catch (const std::exception &e) {
        ok(0, "thrown: %s", e.what());
    }
    harness_close();
    return done_testing();
}
