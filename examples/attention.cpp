/* attention.cpp - first_call.c in C++17: causal attention, 8 query heads that share 2 key/value heads
 * SPDX-License-Identifier: Apache-2.0
 *
 *     c++ -std=c++17 attention.cpp $(pkg-config --cflags --libs clattn)
 *
 * Exit status: 0 row 0 is what it should be, 1 something failed, 77 there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clattn.hpp>
#include <iostream>
#include <vector>

namespace {

constexpr int heads = 8, kv_heads = 2, rows = 256, width = 64;

/* With Khronos' <CL/opencl.hpp> a cl::Buffer takes the place of this, and gives its cl_mem by operator() as well. */
class buffer {
public:
    buffer(cl_context context, std::vector<float> &x, cl_mem_flags flags)
    {
        cl_int status;
        mem_ = clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, x.size() * sizeof x[0], x.data(), &status);
        if (status)
            throw clattn::error(status, "clCreateBuffer", "");
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer() { clReleaseMemObject(mem_); }
    cl_mem operator()() const { return mem_; }

private:
    cl_mem mem_;
};

/* Returns row 0 of head 0. */
float attend(const clattn::handle &handle, cl_context context, cl_command_queue queue)
{
    std::vector<float> q(heads * rows * width), k(kv_heads * rows * width), v(k.size()), o(q.size());
    for (std::size_t i = 0; i < q.size(); i++)
        q[i] = static_cast<float>(i % 7);
    for (std::size_t i = 0; i < k.size(); i++)
        k[i] = static_cast<float>(i % 5), v[i] = static_cast<float>(1 + i / width);
    const buffer on_q(context, q, CL_MEM_READ_ONLY), on_k(context, k, CL_MEM_READ_ONLY),
        on_v(context, v, CL_MEM_READ_ONLY), on_o(context, o, CL_MEM_WRITE_ONLY);

    clattn::problem problem;
    problem.type(clattn::f32).width(width).causal().batch(1).heads(heads, kv_heads).queries(rows).keys(rows);
    const clattn::plan plan(handle, problem); // compiles; keep it: it serves all lengths
    plan.forward(queue, clattn::forward_args(on_q(), on_k(), on_v(), on_o()));
    const cl_int status =
        clEnqueueReadBuffer(queue, on_o(), CL_TRUE, 0, o.size() * sizeof o[0], o.data(), 0, nullptr, nullptr);
    if (status)
        throw clattn::error(status, "clEnqueueReadBuffer", "");
    std::cout << plan.config() << ": row 0 is " << o[0] << ", row " << rows - 1 << " is " << o[(rows - 1) * width]
              << "\n";
    return o[0];
}

} // namespace

int main()
{
    try {
        const clattn::device device = clattn::default_device();
        cl_int status;
        const cl_context context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &status);
        if (status)
            throw clattn::error(status, "clCreateContext", "");
        const cl_command_queue queue = clCreateCommandQueue(context, device.id, 0, &status);
        if (status)
            throw clattn::error(status, "clCreateCommandQueue", "");
        const float first = attend(clattn::handle(context, device.id), context, queue);
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
        return first != 1; // it sees key 0 only, whose value is 1
    } catch (const clattn::error &e) {
        const bool none = e.status() == CL_DEVICE_NOT_FOUND;
        std::cerr << e.what() << (none ? ": install a driver (for a CPU PoCL, in Debian pocl-opencl-icd)" : "") << "\n";
        return none ? 77 : 1;
    }
}
