/**
 * clattn.hpp - clattn from C++17: objects that release themselves, problems with named setters, exceptions with words
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thin layer over <clattn.h>, which stays the reference manual: what a call computes, which tensors it needs and what
 * its statuses mean stands there, at the function that the comment here names. Nothing here has to be linked.
 *
 *     clattn::handle handle(context, device);
 *     const auto problem = clattn::problem().type(clattn::f16).heads(32, 8).queries(n).keys(n).width(128).causal();
 *     clattn::plan plan(handle, problem);
 *     plan.forward(queue, clattn::forward_args(q, k, v, o));
 *
 * Objects    handle and plan share one object of the library: a copy adds a reference, a move takes it over, a
 *            destructor drops it. One that was made without arguments or moved from is empty; calls on it throw, but
 *            for detail(), which is "", and source().
 * Failures   Every call that fails throws clattn::error, as does one that gets a std::string with a NUL inside;
 *            std::bad_alloc and std::length_error where memory for a text or a list runs out. Where a call throws,
 *            nothing was enqueued, with the exception that clattn_enqueue_forward() has, and no object has changed.
 *            Callbacks, as options have them, must not throw.
 * OpenCL     Contexts, devices, queues, buffers and events are the plain handles of <CL/cl.h>. Those of Khronos'
 *            <CL/opencl.hpp> give theirs by operator(): handle(context(), device()), plan.forward(queue(), args),
 *            tensor(q()). The caller keeps them, as in C.
 * Structs    clattn::forward_args and the others are those of <clattn.h> with struct_size set and all else zero or as
 *            the constructor says; their members are the same. Pointers in them, sizes for example, are the caller's
 *            and have to live until the call returns.
 * The rest   get() gives what functions of <clattn.h> take that have no counterpart here.
 * Threads    as in <clattn.h>; one handle, plan or problem of this header must not be assigned to in one thread and
 *            used in another at a time, but each may have a copy.
 */
#ifndef CLATTN_HPP
#define CLATTN_HPP

#include <clattn_tune.h>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace clattn {

/* ---- Failures ---- */

/** What calls throw. what() is "FUNCTION: STATUS: WORDS", or without the words where the library has none. */
class error : public std::runtime_error {
public:
    /**
     * Makes an error.
     *
     * @param status    of the call
     * @param function  what was called
     * @param words     what clattn_error_detail() says, or ""
     */
    error(cl_int status, const std::string &function, const std::string &words)
        : std::runtime_error(function + ": " + clattn_status_string(status) + (words.empty() ? "" : ": ") + words),
          status_(status), words_(words.size())
    {
    }
    /** CLATTN_ERROR_*, or a code of OpenCL. */
    cl_int status() const noexcept { return status_; }
    /** The words of clattn_error_detail(), "" where there are none. They live as long as the error. */
    const char *detail() const noexcept
    {
        const char *const whole = what();
        return whole + std::char_traits<char>::length(whole) - words_;
    }

private:
    cl_int status_;
    std::size_t words_;
};

/** What the classes below are made of; not for callers. */
namespace internal {

/** A text of any length: `write` is called as (text, len, &needed), and returns a status that *status receives. */
template <class Write> std::string text(Write write, cl_int *status)
{
    std::string words(255, '\0');
    for (;;) {
        std::size_t needed = 1;
        *status = write(&words[0], words.size(), &needed);
        if (needed <= words.size()) {
            words.resize(std::char_traits<char>::length(words.c_str()));
            return words;
        }
        words.resize(needed);
    }
}

/** The words of the calling thread's last failure; "" for no handle. */
inline std::string detail(clattn_handle handle)
{
    cl_int status = CL_SUCCESS;
    const std::string words = text(
        [handle](char *to, std::size_t len, std::size_t *needed) {
            return clattn_error_detail(handle, to, len, needed);
        },
        &status);
    return status ? std::string() : words;
}

/** Throws where a call on a handle has failed. */
inline void check(cl_int status, const char *function, clattn_handle handle)
{
    if (status)
        throw error(status, function, handle ? detail(handle) : "the clattn object is empty");
}

/** A text that C may have: one ends at its first NUL there, and what is behind that would be lost. */
inline const std::string &whole(const std::string &text, const char *function)
{
    if (text.find('\0') != std::string::npos)
        throw error(CLATTN_ERROR_INVALID_ARGUMENT, function, "a text has a NUL inside");
    return text;
}

/** The same as C takes it: NULL for "". */
inline const char *c_text(const std::string &text, const char *function)
{
    return whole(text, function).empty() ? nullptr : text.c_str();
}

/** How many events a call waits for. */
inline cl_uint count(const std::vector<cl_event> &wait)
{
    if (wait.size() > std::numeric_limits<cl_uint>::max())
        throw std::length_error("clattn: too many events");
    return static_cast<cl_uint>(wait.size());
}

/** The list of them as OpenCL wants it: NULL where there is none. */
inline const cl_event *list(const std::vector<cl_event> &wait) noexcept
{
    return wait.empty() ? nullptr : wait.data();
}

/** One reference to an object of the library. */
template <class T, cl_int (*Retain)(T), cl_int (*Release)(T)> class counted {
public:
    counted() noexcept : object_(nullptr) {}
    counted(T object, bool retain, const char *function) : object_(object)
    {
        if (retain && object)
            hold(function);
    }
    counted(const counted &other) : object_(other.object_)
    {
        if (object_)
            hold("clattn: a copy");
    }
    counted(counted &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    counted &operator=(const counted &other)
    {
        counted copy(other);
        std::swap(object_, copy.object_);
        return *this;
    }
    counted &operator=(counted &&other) noexcept
    {
        counted taken(std::move(other));
        std::swap(object_, taken.object_);
        return *this;
    }
    ~counted() { static_cast<void>(Release(object_)); }
    T get() const noexcept { return object_; }
    T give() noexcept { return std::exchange(object_, nullptr); }

private:
    void hold(const char *function)
    {
        if (const cl_int status = Retain(object_))
            throw error(status, function, "");
    }
    T object_;
};

} // namespace internal

/* ---- Problems ---- */

/** Storage types: CLATTN_F32 and so on. */
enum storage : std::int32_t {
    f32 = CLATTN_F32,
    f16 = CLATTN_F16,
    bf16 = CLATTN_BF16,
    f64 = CLATTN_F64,
    i32 = CLATTN_I32,
    u8 = CLATTN_U8,
    int8 = CLATTN_INT8,
    int4 = CLATTN_INT4,
    q8_0 = CLATTN_Q8_0,
    q4_0 = CLATTN_Q4_0,
    q4_1 = CLATTN_Q4_1,
    q5_0 = CLATTN_Q5_0,
    q5_1 = CLATTN_Q5_1
};

/** Where the diagonal lies: CLATTN_ALIGN_*. */
enum alignment : std::int32_t {
    bottom_right = CLATTN_ALIGN_BOTTOM_RIGHT,
    top_left = CLATTN_ALIGN_TOP_LEFT,
    one_offset = CLATTN_ALIGN_OFFSET,
    offsets = CLATTN_ALIGN_OFFSETS
};

/**
 * A clattn_problem that is filled in by named setters, each of which returns the problem. It keeps the texts and names
 * that it is given, so that a copy is whole by itself. It is passed wherever a const clattn_problem & is taken.
 *
 * Keep what setters return by value (auto, not auto &), since they return the object that they were called on. A
 * clattn_problem that is copied out of it points into it.
 */
class problem {
public:
    /** f32, scale 1/sqrt(d), no mask, a batch of 1. The width and other sizes are missing. */
    problem() noexcept : value_(clattn_problem CLATTN_PROBLEM_INIT) { value_.sizes.b = 1; }
    /** The same problem, with texts of its own. */
    problem(const problem &other)
        : value_(other.value_), mods_(other.mods_), captured_(other.captured_), c_mods_(other.c_mods_),
          c_grads_(other.c_grads_), c_captured_(other.c_captured_)
    {
        link();
    }
    /** Takes the problem over; the other one becomes that of problem(). */
    problem(problem &&other) noexcept : problem() { swap(other); }
    /** Both kinds of assignment. */
    problem &operator=(problem other) noexcept
    {
        swap(other);
        return *this;
    }
    /** Exchanges two problems. */
    void swap(problem &other) noexcept
    {
        std::swap(value_, other.value_);
        mods_.swap(other.mods_);
        captured_.swap(other.captured_);
        c_mods_.swap(other.c_mods_);
        c_grads_.swap(other.c_grads_);
        c_captured_.swap(other.c_captured_);
    }

    /** The problem as C has it. Pointers in it are the object's own: they hold until that is changed or destroyed. */
    const clattn_problem &get() const noexcept { return value_; }
    /** The same, where one is taken. */
    operator const clattn_problem &() const noexcept { return value_; }

    /** Storage of Q and O, and of K and V unless these have types of their own. */
    problem &type(storage t) noexcept { return value_.type = t, *this; }
    /** Storage of K. */
    problem &k_type(storage t) noexcept { return value_.k_type = t, *this; }
    /** Storage of V. */
    problem &v_type(storage t) noexcept { return value_.v_type = t, *this; }
    /** Storage of O. */
    problem &o_type(storage t) noexcept { return value_.o_type = t, *this; }
    /** Elements of a row of Q and K, and of V and O where these differ. */
    problem &width(std::int32_t d, std::int32_t dv = 0) noexcept { return value_.d = d, value_.dv = dv, *this; }
    /** The factor of dot(Q, K), taken as it is, also 0 (CLATTN_SCALE). */
    problem &scale(double x) noexcept { return value_.scale = x, flag(CLATTN_SCALE); }

    /** Batch entries, or varlen sequences. */
    problem &batch(std::int64_t b) noexcept { return value_.sizes.b = b, *this; }
    /** Query heads, and key/value heads where these are fewer. */
    problem &heads(std::int64_t h, std::int64_t hk = 0) noexcept
    {
        return value_.sizes.h = h, value_.sizes.hk = hk, *this;
    }
    /** Rows of queries; of the longest varlen sequence, and then those of all. */
    problem &queries(std::int64_t n, std::int64_t total = 0) noexcept
    {
        return value_.sizes.nq = n, value_.sizes.total_q = total, *this;
    }
    /** Rows of keys, likewise. */
    problem &keys(std::int64_t n, std::int64_t total = 0) noexcept
    {
        return value_.sizes.nk = n, value_.sizes.total_k = total, *this;
    }
    /** All sizes at once. */
    problem &sizes(const clattn_sizes &s) noexcept { return value_.sizes = s, *this; }
    /** All sizes, for clattn_forward_args.sizes to start from. */
    const clattn_sizes &sizes() const noexcept { return value_.sizes; }

    /** A causal mask. */
    problem &causal(bool on = true) noexcept { return value_.causal = on, *this; }
    /** Where the diagonal lies. */
    problem &align(alignment a) noexcept { return value_.align = a, *this; }
    /** One offset for all calls without sizes of their own: CLATTN_ALIGN_OFFSET, and sizes.offset. */
    problem &offset(std::int64_t n) noexcept { return value_.sizes.offset = n, align(one_offset); }
    /** A sliding window of keys to the left and right of the diagonal; -1 is no bound (CLATTN_WINDOW). */
    problem &window(std::int32_t left, std::int32_t right) noexcept
    {
        return value_.window_left = left, value_.window_right = right, flag(CLATTN_WINDOW);
    }
    /** c of softcap. */
    problem &softcap(double c) noexcept { return value_.softcap = c, *this; }
    /** The probability with which a weight is dropped. */
    problem &dropout(double p) noexcept { return value_.dropout_p = p, *this; }
    /** Calls give a bias of this type. */
    problem &bias(storage t) noexcept { return value_.bias_type = t, *this; }

    /** Any flags of clattn_problem.flags, set or taken back. */
    problem &flag(std::uint32_t f, bool on = true) noexcept
    {
        value_.flags = on ? value_.flags | f : value_.flags & ~f;
        return *this;
    }
    /** Calls give q_len (CLATTN_Q_LEN). */
    problem &q_len(bool on = true) noexcept { return flag(CLATTN_Q_LEN, on); }
    /** Calls give kv_len (CLATTN_KV_LEN). */
    problem &kv_len(bool on = true) noexcept { return flag(CLATTN_KV_LEN, on); }
    /** Calls give kv_start (CLATTN_KV_START). */
    problem &kv_start(bool on = true) noexcept { return flag(CLATTN_KV_START, on); }
    /** Q and O are varlen sequences, and calls give cu_q (CLATTN_CU_Q). */
    problem &cu_q(bool on = true) noexcept { return flag(CLATTN_CU_Q, on); }
    /** K and V are varlen sequences, and calls give cu_k (CLATTN_CU_K). */
    problem &cu_k(bool on = true) noexcept { return flag(CLATTN_CU_K, on); }
    /** Calls give slopes (CLATTN_ALIBI). */
    problem &alibi(bool on = true) noexcept { return flag(CLATTN_ALIBI, on); }
    /** Calls give slopes that multiply the bias (CLATTN_BIAS_SLOPES). */
    problem &bias_slopes(bool on = true) noexcept { return flag(CLATTN_BIAS_SLOPES, on); }
    /** Calls give sinks (CLATTN_SINKS). */
    problem &sinks(bool on = true) noexcept { return flag(CLATTN_SINKS, on); }
    /** Calls give a mask (CLATTN_MASK). */
    problem &mask(bool on = true) noexcept { return flag(CLATTN_MASK, on); }
    /** Calls give a block map (CLATTN_BLOCK_MAP). */
    problem &block_map(bool on = true) noexcept { return flag(CLATTN_BLOCK_MAP, on); }
    /** K has zero points (CLATTN_K_ZERO). */
    problem &k_zero(bool on = true) noexcept { return flag(CLATTN_K_ZERO, on); }
    /** V has zero points (CLATTN_V_ZERO). */
    problem &v_zero(bool on = true) noexcept { return flag(CLATTN_V_ZERO, on); }
    /** Plans have append() (CLATTN_APPEND). */
    problem &append(bool on = true) noexcept { return flag(CLATTN_APPEND, on); }
    /** Plans have rotary() (CLATTN_ROTARY). */
    problem &rotary(bool on = true) noexcept { return flag(CLATTN_ROTARY, on); }
    /** LSE is f64 where storage is (CLATTN_LSE_F64). */
    problem &lse_f64(bool on = true) noexcept { return flag(CLATTN_LSE_F64, on); }
    /** A row has the same bits whatever else a call computes (CLATTN_BATCH_INVARIANT). */
    problem &batch_invariant(bool on = true) noexcept { return flag(CLATTN_BATCH_INVARIANT, on); }
    /** Plans have scores() (CLATTN_SCORES). */
    problem &scores(bool on = true) noexcept { return flag(CLATTN_SCORES, on); }
    /** Entries and heads of bias and mask may be fewer than those of calls, and repeat (CLATTN_REPEAT). */
    problem &repeat(bool on = true) noexcept { return flag(CLATTN_REPEAT, on); }
    /** Plans have backward() and no other call that runs kernels (CLATTN_BACKWARD). */
    problem &backward(bool on = true) noexcept { return flag(CLATTN_BACKWARD, on); }

    /** Elements that share a scale in int8 and int4: k_group and v_group. */
    problem &groups(std::int32_t k, std::int32_t v) noexcept { return value_.k_group = k, value_.v_group = v, *this; }
    /** Rows of a page of K and V; 0: they are not paged. */
    problem &page(std::int32_t rows) noexcept { return value_.page = rows, *this; }
    /** Into how many parts keys are split; 0: as many as the device needs. */
    problem &splits(std::int32_t n) noexcept { return value_.splits = n, *this; }

    /**
     * Adds a score_mod behind those that there are.
     *
     * @param text   its OpenCL C
     * @param flags  CLATTN_MOD_*
     * @param name   for the compiler's messages; "": "score_mod"
     */
    problem &score_mod(std::string text, std::uint32_t flags = 0, std::string name = std::string())
    {
        internal::whole(text, "clattn::problem::score_mod");
        internal::whole(name, "clattn::problem::score_mod");
        return change([&](problem &p) {
            p.mods_.push_back({ std::move(text), std::move(name), std::string(), flags, false });
        });
    }
    /** The derivative of the score_mod that was added last: clattn_problem.mod_grads. Without a score_mod it changes
     *  nothing. */
    problem &mod_grad(std::string text)
    {
        internal::whole(text, "clattn::problem::mod_grad");
        return change([&](problem &p) {
            if (p.mods_.empty())
                return;
            p.mods_.back().gradient = std::move(text);
            p.mods_.back().has_gradient = true;
        });
    }
    /** Adds a captured buffer; learnt: calls may want its gradient (clattn_problem.aux_grads). */
    problem &captured(std::string name, storage t, bool learnt = false)
    {
        internal::whole(name, "clattn::problem::captured");
        return change([&](problem &p) { p.captured_.push_back({ std::move(name), t, learnt }); });
    }

private:
    struct mod {
        std::string text, name, gradient;
        std::uint32_t flags;
        bool has_gradient;
    };
    struct buffer {
        std::string name;
        std::int32_t type;
        bool learnt;
    };

    /** Changes texts all or not at all. */
    template <class Change> problem &change(Change what)
    {
        problem changed(*this);
        what(changed);
        changed.c_mods_.resize(changed.mods_.size());
        changed.c_grads_.resize(changed.mods_.size());
        changed.c_captured_.resize(changed.captured_.size());
        changed.link();
        swap(changed);
        return *this;
    }
    /** Points the problem of C to the texts. Lists have their sizes. */
    void link() noexcept
    {
        bool derivatives = false;
        for (std::size_t i = 0; i < mods_.size(); i++) {
            const mod &m = mods_[i];
            c_mods_[i] = { m.text.c_str(), m.name.empty() ? nullptr : m.name.c_str(), m.flags };
            c_grads_[i] = m.has_gradient ? m.gradient.c_str() : nullptr;
            derivatives = derivatives || m.has_gradient;
        }
        value_.aux_grads = 0;
        for (std::size_t i = 0; i < captured_.size(); i++) {
            c_captured_[i] = { captured_[i].name.c_str(), captured_[i].type };
            if (captured_[i].learnt && i < 32) // more of them than CLATTN_AUX_MAX are refused later
                value_.aux_grads |= std::uint32_t(1) << i;
        }
        value_.n_mods = static_cast<std::int32_t>(mods_.size());
        value_.n_aux = static_cast<std::int32_t>(captured_.size());
        value_.mods = mods_.empty() ? nullptr : c_mods_.data();
        value_.mod_grads = derivatives ? c_grads_.data() : nullptr;
        value_.aux = captured_.empty() ? nullptr : c_captured_.data();
    }

    clattn_problem value_;
    std::vector<mod> mods_;
    std::vector<buffer> captured_;
    std::vector<clattn_score_mod> c_mods_;
    std::vector<const char *> c_grads_;
    std::vector<clattn_aux> c_captured_;
};

/* ---- Arguments ---- */

/** A clattn_tensor: a buffer, the element it begins at, and strides. */
struct tensor : clattn_tensor {
    /** No tensor. */
    tensor() noexcept : clattn_tensor(clattn_tensor CLATTN_TENSOR_INIT) {}
    /** Contiguous [b,h,n,width], from element `first` of the buffer on. */
    tensor(cl_mem buffer, std::size_t first = 0) noexcept : tensor()
    {
        mem = buffer;
        offset = first;
    }
    /** Strides of the axes b, h and n, in elements. */
    tensor &strides(std::int64_t b, std::int64_t h, std::int64_t n) noexcept
    {
        return stride[0] = b, stride[1] = h, stride[2] = n, *this;
    }
    /**
     * The strides of contiguous [b,n,h,width]. Where they have no room in 63 bits, or a size is negative, it throws.
     *
     * @param n      rows
     * @param h      heads
     * @param width  elements of a row of one head
     */
    tensor &bnhd(std::int64_t n, std::int64_t h, std::int64_t width)
    {
        const std::int64_t most = std::numeric_limits<std::int64_t>::max();
        const bool fits = n >= 0 && h >= 0 && width >= 0 && (!width || h <= most / width) &&
                          (!n || h * width <= most / n);
        if (!fits)
            throw error(CLATTN_ERROR_INVALID_ARGUMENT, "clattn::tensor::bnhd", "a size is negative or too large");
        return strides(n * h * width, width, h * width);
    }
};

/** A clattn_array: numbers in a row. */
struct array : clattn_array {
    /** From element `first` of the buffer on; without a buffer no array. */
    array(cl_mem buffer = nullptr, std::size_t first = 0) noexcept : clattn_array{ buffer, first } {}
};

/** A clattn_tensor4: what goes with scores, or scales of K and V. */
struct tensor4 : clattn_tensor4 {
    /** No tensor. */
    tensor4() noexcept : clattn_tensor4(clattn_tensor4 CLATTN_TENSOR4_INIT) {}
    /** Contiguous, of the shape of the call, from element `first` of the buffer on. */
    tensor4(cl_mem buffer, std::size_t first = 0) noexcept : tensor4()
    {
        mem = buffer;
        offset = first;
    }
    /** The shape: of each axis 1, which is broadcast, or the size of the call, which may be written 0. */
    tensor4 &shaped(std::int64_t b, std::int64_t h, std::int64_t q, std::int64_t k) noexcept
    {
        return shape[0] = b, shape[1] = h, shape[2] = q, shape[3] = k, *this;
    }
    /** Strides of the four axes, in elements. */
    tensor4 &strides(std::int64_t b, std::int64_t h, std::int64_t q, std::int64_t k) noexcept
    {
        return stride[0] = b, stride[1] = h, stride[2] = q, stride[3] = k, *this;
    }
};

/** A clattn_forward_args. */
struct forward_args : clattn_forward_args {
    /** Nothing is given. */
    forward_args() noexcept : clattn_forward_args(clattn_forward_args CLATTN_FORWARD_ARGS_INIT) {}
    /** What every call needs, and LSE where it is wanted. */
    forward_args(const tensor &query, const tensor &key, const tensor &value, const tensor &out,
                 const tensor &log_sum_exp = tensor()) noexcept
        : forward_args()
    {
        q = query;
        k = key;
        v = value;
        o = out;
        lse = log_sum_exp;
    }
};

/** A clattn_backward_args. */
struct backward_args : clattn_backward_args {
    /** Nothing is given. */
    backward_args() noexcept : clattn_backward_args(clattn_backward_args CLATTN_BACKWARD_ARGS_INIT) {}
    /** The arguments of the forward call, which have to live until the backward call returns; dO; and where dQ, dK and
     *  dV go, each of which may be tensor(), for one that is not wanted. */
    backward_args(const clattn_forward_args &of, const tensor &gradient, const tensor &query, const tensor &key,
                  const tensor &value) noexcept
        : backward_args()
    {
        forward = &of;
        dout = gradient;
        dq = query;
        dk = key;
        dv = value;
    }
    /** Arguments that end before the call does are refused by the compiler. */
    backward_args(const clattn_forward_args &&, const tensor &, const tensor &, const tensor &,
                  const tensor &) = delete;
};

/** A clattn_scores_args. */
struct scores_args : clattn_scores_args {
    /** Nothing is given. */
    scores_args() noexcept : clattn_scores_args(clattn_scores_args CLATTN_SCORES_ARGS_INIT) {}
    /** The arguments of the forward call, which have to live until the call returns; the stage, CLATTN_SCORES_*; and
     *  where scores go. */
    scores_args(const clattn_forward_args &of, std::int32_t at, const tensor4 &to) noexcept : scores_args()
    {
        forward = &of;
        stage = at;
        scores = to;
    }
    /** Arguments that end before the call does are refused by the compiler. */
    scores_args(const clattn_forward_args &&, std::int32_t, const tensor4 &) = delete;
};

/** A clattn_append_args. */
struct append_args : clattn_append_args {
    /** Nothing is given. */
    append_args() noexcept : clattn_append_args(clattn_append_args CLATTN_APPEND_ARGS_INIT) {}
};

/** A clattn_rotary_args. */
struct rotary_args : clattn_rotary_args {
    /** Nothing is given. */
    rotary_args() noexcept : clattn_rotary_args(clattn_rotary_args CLATTN_ROTARY_ARGS_INIT) {}
};

/** A clattn_merge_args. */
struct merge_args : clattn_merge_args {
    /** Nothing is given. */
    merge_args() noexcept : clattn_merge_args(clattn_merge_args CLATTN_MERGE_ARGS_INIT) {}
};

/** A clattn_options. */
struct options : clattn_options {
    /** What the environment says. */
    options() noexcept : clattn_options(clattn_options CLATTN_OPTIONS_INIT) {}
};

/** A clattn_plan_options. */
struct plan_options : clattn_plan_options {
    /** The best configuration known, or the one that is named: "ENGINE" or "ENGINE TILE", which has to live as long. */
    plan_options(const char *configuration = nullptr) noexcept
        : clattn_plan_options(clattn_plan_options CLATTN_PLAN_OPTIONS_INIT)
    {
        config = configuration;
    }
};

/** A clattn_tune_options. */
struct tune_options : clattn_tune_options {
    /** A full search. */
    tune_options() noexcept : clattn_tune_options(clattn_tune_options CLATTN_TUNE_OPTIONS_INIT) {}
};

/* ---- Handles ---- */

/** A device and its platform. */
struct device {
    cl_platform_id platform; /**< its platform */
    cl_device_id id;         /**< the device */
};

/** The device that clattn's own programs take when none is named: clattn_default_device(). */
inline device default_device()
{
    device found = { nullptr, nullptr };
    if (const cl_int status = clattn_default_device(&found.platform, &found.id))
        throw error(status, "clattn_default_device", status == CL_DEVICE_NOT_FOUND ? "there is no OpenCL device" : "");
    return found;
}

/** One context and device, and what was built for them. */
class handle {
public:
    /** An empty handle. */
    handle() noexcept = default;
    /** Makes a handle: clattn_create(). Where options.why is NULL the error has its words. */
    handle(cl_context context, cl_device_id device, const clattn_options &with = options())
        : object_(create(context, device, with), false, "")
    {
    }
    /** Takes over the reference that the caller has, or with `retain` adds one. */
    explicit handle(clattn_handle raw, bool retain = false) : object_(raw, retain, "clattn_retain") {}

    /** The handle as C has it; NULL: empty. It stays the object's. */
    clattn_handle get() const noexcept { return object_.get(); }
    /** The same. */
    clattn_handle operator()() const noexcept { return object_.get(); }
    /** Whether it is not empty. */
    explicit operator bool() const noexcept { return object_.get() != nullptr; }
    /** Gives the reference to the caller and becomes empty. */
    clattn_handle release() noexcept { return object_.give(); }

    /** The words of the calling thread's last failure: clattn_error_detail(). */
    std::string detail() const { return internal::detail(get()); }
    /** Whether a plan can be made, and why not: clattn_supports(). Throws where that says nothing of the problem. */
    bool supports(const clattn_problem &p, std::string *why = nullptr) const
    {
        std::string words(4096, '\0');
        const cl_int status = clattn_supports(get(), &p, &words[0], words.size());
        if (!get() || status == CLATTN_ERROR_FORKED)
            throw error(status, "clattn_supports", words.c_str());
        if (why)
            *why = words.c_str();
        return status == CL_SUCCESS;
    }
    /** All configurations that the device can run a problem with, the default first: clattn_config_at(). */
    std::vector<std::string> configs(const clattn_problem &p) const
    {
        std::vector<std::string> all;
        char config[text_max] = "";
        cl_int status = CL_SUCCESS;
        while (!(status = clattn_config_at(get(), &p, all.size(), config, sizeof config)))
            all.emplace_back(config);
        if (status != CL_INVALID_VALUE)
            internal::check(status, "clattn_config_at", get());
        return all;
    }
    /** The program of a kernel, "": of the one that does most of the work: clattn_emit_kernel(). An empty handle stands
     *  for a generic GPU. */
    std::string source(const clattn_problem &p, const std::string &config = std::string(),
                       const std::string &kernel = std::string()) const
    {
        const char *const as = internal::c_text(config, "clattn_emit_kernel");
        const char *const of = internal::c_text(kernel, "clattn_emit_kernel");
        cl_int status = CL_SUCCESS;
        std::string program = internal::text(
            [&](char *to, std::size_t len, std::size_t *needed) {
                return clattn_emit_kernel(get(), &p, as, of, to, len, needed);
            },
            &status);
        if (status)
            throw error(status, "clattn_emit_kernel", program);
        return program;
    }
    /** The class of a problem: clattn_class_of(). */
    std::string class_of(const clattn_problem &p) const
    {
        cl_int status = CL_SUCCESS;
        std::string name = internal::text(
            [&](char *to, std::size_t len, std::size_t *needed) {
                return clattn_class_of(get(), &p, to, len, needed);
            },
            &status);
        internal::check(status, "clattn_class_of", get());
        return name;
    }
    /** Searches for the fastest configuration of a problem's class, keeps and returns it: clattn_tune(). Callbacks must
     *  not throw. */
    std::string tune(const clattn_problem &p, const clattn_tune_options &with = tune_options()) const
    {
        char config[text_max] = "";
        internal::check(clattn_tune(get(), &p, &with, config, sizeof config), "clattn_tune", get());
        return config;
    }
    /** Has later plans of a problem's class use a configuration; "" takes that back: clattn_set_config(). */
    void set_config(const clattn_problem &p, const std::string &config) const
    {
        const char *const text = internal::c_text(config, "clattn_set_config");
        internal::check(clattn_set_config(get(), &p, text), "clattn_set_config", get());
    }
    /** What happened so far: clattn_stats(). */
    clattn_counters stats() const
    {
        clattn_counters counters = CLATTN_COUNTERS_INIT;
        internal::check(clattn_stats(get(), &counters), "clattn_stats", get());
        return counters;
    }

    /**
     * Attention in one call: clattn_forward().
     *
     * @param queue  of the handle's context and device
     * @param p      the problem
     * @param args   sizes and workspace may be missing
     * @param wait   events that the call waits for
     * @param event  receives an event, which the caller releases; may be NULL
     */
    void forward(cl_command_queue queue, const clattn_problem &p, const clattn_forward_args &args,
                 const std::vector<cl_event> &wait = {}, cl_event *event = nullptr) const
    {
        const cl_uint n = internal::count(wait);
        internal::check(clattn_forward(get(), queue, &p, &args, n, internal::list(wait), event), "clattn_forward",
                        get());
    }
    /** Gradients in one call: clattn_backward(). Parameters as for forward(). */
    void backward(cl_command_queue queue, const clattn_problem &p, const clattn_backward_args &args,
                  const std::vector<cl_event> &wait = {}, cl_event *event = nullptr) const
    {
        const cl_uint n = internal::count(wait);
        internal::check(clattn_backward(get(), queue, &p, &args, n, internal::list(wait), event), "clattn_backward",
                        get());
    }

private:
    enum { text_max = 512 };

    static clattn_handle create(cl_context context, cl_device_id device, clattn_options with)
    {
        std::string words(4096, '\0');
        if (!with.why) {
            with.why = &words[0];
            with.why_len = words.size();
        }
        clattn_handle made = nullptr;
        if (const cl_int status = clattn_create(&made, context, device, &with))
            throw error(status, "clattn_create", words.c_str());
        return made;
    }

    internal::counted<clattn_handle, clattn_retain, clattn_release> object_;
};

/* ---- Plans ---- */

/** One problem made runnable. It keeps its handle. */
class plan {
public:
    /** An empty plan. */
    plan() noexcept = default;
    /** Makes a plan: clattn_plan_create(). */
    plan(const handle &of, const clattn_problem &p, const clattn_plan_options &with = plan_options())
        : handle_(of), object_(create(of, p, with), false, "")
    {
    }
    /** Takes over the reference to a plan that the caller has, or with `retain` adds one. `of` is its handle. */
    plan(clattn_plan raw, const handle &of, bool retain = false)
        : handle_(of), object_(raw, retain, "clattn_plan_retain")
    {
    }
    /** Another reference to the same plan and its handle. */
    plan(const plan &other) = default;
    /** Takes over those of the other one, which becomes empty. */
    plan(plan &&other) noexcept = default;
    /** Both kinds of assignment. */
    plan &operator=(plan other) noexcept
    {
        std::swap(handle_, other.handle_);
        std::swap(object_, other.object_);
        return *this;
    }

    /** The plan as C has it; NULL: empty. It stays the object's. */
    clattn_plan get() const noexcept { return object_.get(); }
    /** The same. */
    clattn_plan operator()() const noexcept { return object_.get(); }
    /** Whether it is not empty. */
    explicit operator bool() const noexcept { return object_.get() != nullptr; }
    /** Gives the reference to the caller and becomes empty. */
    clattn_plan release() noexcept
    {
        handle_ = handle();
        return object_.give();
    }
    /** Its handle. */
    const handle &parent() const noexcept { return handle_; }

    /** The configuration, "ENGINE TILE": clattn_plan_config(). */
    std::string config() const
    {
        cl_int status = CL_SUCCESS;
        std::string name = internal::text(
            [this](char *to, std::size_t len, std::size_t *needed) {
                return clattn_plan_config(get(), to, len, needed);
            },
            &status);
        check(status, "clattn_plan_config");
        return name;
    }
    /** How the plan came to be: clattn_plan_get_info(). */
    clattn_plan_info info() const
    {
        clattn_plan_info filled = CLATTN_PLAN_INFO_INIT;
        check(clattn_plan_get_info(get(), &filled), "clattn_plan_get_info");
        return filled;
    }
    /** Bytes of workspace that a call needs: clattn_workspace_size(). */
    std::size_t workspace_size(const clattn_forward_args &args) const
    {
        std::size_t size = 0;
        check(clattn_workspace_size(get(), &args, &size), "clattn_workspace_size");
        return size;
    }
    /** Bytes of workspace that a backward call needs: clattn_backward_workspace_size(). */
    std::size_t workspace_size(const clattn_backward_args &args) const
    {
        std::size_t size = 0;
        check(clattn_backward_workspace_size(get(), &args, &size), "clattn_backward_workspace_size");
        return size;
    }

    /**
     * Enqueues the forward pass: clattn_enqueue_forward().
     *
     * @param queue  of the handle's context and device
     * @param args   may end when the call returns
     * @param wait   events that the call waits for
     * @param event  receives an event, which the caller releases; may be NULL
     */
    void forward(cl_command_queue queue, const clattn_forward_args &args, const std::vector<cl_event> &wait = {},
                 cl_event *event = nullptr) const
    {
        enqueue(clattn_enqueue_forward, "clattn_enqueue_forward", queue, args, wait, event);
    }
    /** Enqueues the backward pass: clattn_enqueue_backward(). Parameters as for forward(). */
    void backward(cl_command_queue queue, const clattn_backward_args &args, const std::vector<cl_event> &wait = {},
                  cl_event *event = nullptr) const
    {
        enqueue(clattn_enqueue_backward, "clattn_enqueue_backward", queue, args, wait, event);
    }
    /** Enqueues the writing of scores or weights: clattn_enqueue_scores(). Parameters as for forward(). */
    void scores(cl_command_queue queue, const clattn_scores_args &args, const std::vector<cl_event> &wait = {},
                cl_event *event = nullptr) const
    {
        enqueue(clattn_enqueue_scores, "clattn_enqueue_scores", queue, args, wait, event);
    }
    /** Enqueues the making of a block map: clattn_enqueue_block_map(). Parameters as for forward(). */
    void block_map(cl_command_queue queue, const clattn_forward_args &args, const std::vector<cl_event> &wait = {},
                   cl_event *event = nullptr) const
    {
        enqueue(clattn_enqueue_block_map, "clattn_enqueue_block_map", queue, args, wait, event);
    }
    /** Enqueues the writing of new rows of K and V: clattn_enqueue_append(). Parameters as for forward(). */
    void append(cl_command_queue queue, const clattn_append_args &args, const std::vector<cl_event> &wait = {},
                cl_event *event = nullptr) const
    {
        enqueue(clattn_enqueue_append, "clattn_enqueue_append", queue, args, wait, event);
    }
    /** Enqueues the rotation of Q: clattn_enqueue_rotary(). Parameters as for forward(). */
    void rotary(cl_command_queue queue, const clattn_rotary_args &args, const std::vector<cl_event> &wait = {},
                cl_event *event = nullptr) const
    {
        enqueue(clattn_enqueue_rotary, "clattn_enqueue_rotary", queue, args, wait, event);
    }
    /** Enqueues the merge of partial results: clattn_enqueue_merge(). Parameters as for forward(). */
    void merge(cl_command_queue queue, const clattn_merge_args &args, const std::vector<cl_event> &wait = {},
               cl_event *event = nullptr) const
    {
        enqueue(clattn_enqueue_merge, "clattn_enqueue_merge", queue, args, wait, event);
    }

private:
    static clattn_plan create(const handle &of, const clattn_problem &p, const clattn_plan_options &with)
    {
        clattn_plan made = nullptr;
        internal::check(clattn_plan_create(&made, of.get(), &p, &with), "clattn_plan_create", of.get());
        return made;
    }
    void check(cl_int status, const char *function) const
    {
        if (status && !get())
            throw error(status, function, "the clattn object is empty");
        internal::check(status, function, handle_.get());
    }
    template <class Args>
    void enqueue(cl_int (*call)(clattn_plan, cl_command_queue, const Args *, cl_uint, const cl_event *, cl_event *),
                 const char *function, cl_command_queue queue, const Args &args, const std::vector<cl_event> &wait,
                 cl_event *event) const
    {
        const cl_uint n = internal::count(wait);
        check(call(get(), queue, &args, n, internal::list(wait), event), function);
    }

    handle handle_; // outlives the plan: words of failures are the handle's
    internal::counted<clattn_plan, clattn_plan_retain, clattn_plan_release> object_;
};

} // namespace clattn

#endif
