/* hpp.cpp - clattn.hpp: errors with words, references that balance, problems that keep their texts
 * SPDX-License-Identifier: Apache-2.0
 *
 * The functions that count references are replaced by ones that count as well, so that what copies, moves and ends of
 * objects do is seen from outside, and so that they can fail. */
#include "config.h"

#include <clattn.h>

#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

static struct {
    int handles, plans; // references that the header holds
    cl_int refusal;     // what adding one returns
} counts;

cl_int counting_create(clattn_handle *out, cl_context context, cl_device_id device, const clattn_options *options);
cl_int counting_retain(clattn_handle handle);
cl_int counting_release(clattn_handle handle);
cl_int counting_plan_create(clattn_plan *out, clattn_handle handle, const clattn_problem *problem,
                            const clattn_plan_options *options);
cl_int counting_plan_retain(clattn_plan plan);
cl_int counting_plan_release(clattn_plan plan);

#define clattn_create counting_create
#define clattn_retain counting_retain
#define clattn_release counting_release
#define clattn_plan_create counting_plan_create
#define clattn_plan_retain counting_plan_retain
#define clattn_plan_release counting_plan_release
#include <clattn.hpp>
#undef clattn_create
#undef clattn_retain
#undef clattn_release
#undef clattn_plan_create
#undef clattn_plan_retain
#undef clattn_plan_release

extern "C" {
#include "tests/lib/harness.h"
}
#include "tests/lib/tap.h"

cl_int counting_create(clattn_handle *out, cl_context context, cl_device_id device, const clattn_options *options)
{
    const cl_int status = clattn_create(out, context, device, options);
    counts.handles += !status;
    return status;
}
cl_int counting_retain(clattn_handle handle)
{
    if (counts.refusal)
        return counts.refusal;
    counts.handles++;
    return clattn_retain(handle);
}
cl_int counting_release(clattn_handle handle)
{
    counts.handles -= handle != nullptr;
    return clattn_release(handle);
}
cl_int counting_plan_create(clattn_plan *out, clattn_handle handle, const clattn_problem *problem,
                            const clattn_plan_options *options)
{
    const cl_int status = clattn_plan_create(out, handle, problem, options);
    counts.plans += !status;
    return status;
}
cl_int counting_plan_retain(clattn_plan plan)
{
    if (counts.refusal)
        return counts.refusal;
    counts.plans++;
    return clattn_plan_retain(plan);
}
cl_int counting_plan_release(clattn_plan plan)
{
    counts.plans -= plan != nullptr;
    return clattn_plan_release(plan);
}

/* ---- What a call should throw ---- */

/* Runs `call`, which has to throw clattn::error of that status with `words` among its own. */
template <class Call>
static void throws(cl_int status, const char *function, const char *words, Call call, const char *what)
{
    try {
        call();
        ok(0, "%s: throws", what);
    } catch (const clattn::error &e) {
        const std::string whole = e.what();
        const std::string begin = std::string(function) + ": " + clattn_status_string(status);
        const std::string end = e.detail();
        const bool good = e.status() == status && whole == begin + (end.empty() ? "" : ": ") + end &&
                          end.find(words) != std::string::npos && (*words || end.empty());
        ok(good, "%s: throws, with words", what);
        if (!good)
            diag("%d '%s' detail '%s', want %d '%s' with '%s'", e.status(), e.what(), e.detail(), status, begin.c_str(),
                 words);
    }
}

/* ---- Problems ---- */

static std::string text_of(const char *s)
{
    return s ? s : "(null)";
}

/* Every member; texts by what they say. */
static std::string describe(const clattn_problem &p)
{
    /* With a new member this does not compile: it wants a setter, and a place here, in by_hand() and by_setters(). */
    const auto &[size, type, k_type, v_type, d, dv, causal, align, flags, scale, sizes, softcap, left, right, bias,
                 n_mods, n_aux, reserved, mods, aux, o_type, k_group, v_group, page, splits, aux_grads, mod_grads,
                 dropout_p] = p;
    char numbers[512];
    std::snprintf(numbers, sizeof numbers,
                  "%d t%d %d %d d%d %d c%d a%d f%u s%g sizes %d %d %d %d %d %d %d %d soft%g w%d %d b%d n%d %d r%d o%d "
                  "g%d %d p%d s%d x%x z%g",
                  size == sizeof p, type, k_type, v_type, d, dv, causal, align, flags, scale, int(sizes.b),
                  int(sizes.h), int(sizes.hk), int(sizes.nq), int(sizes.nk), int(sizes.offset), int(sizes.total_q),
                  int(sizes.total_k), softcap, left, right, bias, n_mods, n_aux, reserved, o_type, k_group, v_group,
                  page, splits, aux_grads, dropout_p);
    std::string all = numbers;
    for (int i = 0; i < n_mods; i++)
        all += " | " + text_of(mods[i].text) + ", " + text_of(mods[i].name) + ", " + std::to_string(mods[i].flags) +
               ", " + (mod_grads ? text_of(mod_grads[i]) : "no derivatives");
    for (int i = 0; i < n_aux; i++)
        all += " | " + text_of(aux[i].name) + " " + std::to_string(aux[i].type);
    return all + (!n_mods && (mods || mod_grads) ? " stray mods" : "") + (!n_aux && aux ? " stray aux" : "");
}

static clattn_problem by_hand()
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.type = CLATTN_BF16, p.k_type = CLATTN_INT8, p.v_type = CLATTN_Q4_0, p.o_type = CLATTN_F32;
    p.d = 3, p.dv = 5, p.scale = -0.5, p.causal = 1, p.align = CLATTN_ALIGN_OFFSET;
    p.sizes = { 7, 12, 4, 17, 19, -23, 29, 31 };
    p.window_left = 37, p.window_right = -1, p.softcap = 41, p.bias_type = CLATTN_F16;
    p.k_group = 16, p.v_group = 48, p.page = 43, p.splits = 47, p.dropout_p = 0.25;
    p.flags = 65535 | CLATTN_BATCH_INVARIANT | CLATTN_SCORES | CLATTN_REPEAT | CLATTN_BIAS_SLOPES;
    return p;
}

static clattn::problem by_setters()
{
    clattn::problem p;
    p.type(clattn::bf16).k_type(clattn::int8).v_type(clattn::q4_0).o_type(clattn::f32).width(3, 5).scale(-0.5);
    p.causal().batch(7).heads(12, 4).queries(17, 29).keys(19, 31).offset(-23).window(37, -1).softcap(41);
    p.bias(clattn::f16).groups(16, 48).page(43).splits(47).q_len().kv_len().kv_start().cu_q().cu_k().alibi().sinks();
    p.mask().block_map().k_zero().v_zero().append().rotary().backward().batch_invariant();
    p.scores().repeat().bias_slopes().dropout(0.25);
    return p;
}

static void test_setters()
{
    clattn_problem none = CLATTN_PROBLEM_INIT;
    none.sizes.b = 1;
    const std::string fresh = describe(none);
    is_str(describe(clattn::problem()).c_str(), fresh.c_str(), "a fresh problem has a batch of 1");
    const clattn::problem p = by_setters();
    is_str(describe(p).c_str(), describe(by_hand()).c_str(), "every member is set by its setter");

    const struct {
        clattn::problem &(clattn::problem::*set)(bool);
        std::uint32_t flag;
    } flags[] = { { &clattn::problem::q_len, CLATTN_Q_LEN },         { &clattn::problem::kv_len, CLATTN_KV_LEN },
                  { &clattn::problem::kv_start, CLATTN_KV_START },   { &clattn::problem::cu_q, CLATTN_CU_Q },
                  { &clattn::problem::cu_k, CLATTN_CU_K },           { &clattn::problem::alibi, CLATTN_ALIBI },
                  { &clattn::problem::sinks, CLATTN_SINKS },         { &clattn::problem::mask, CLATTN_MASK },
                  { &clattn::problem::block_map, CLATTN_BLOCK_MAP }, { &clattn::problem::k_zero, CLATTN_K_ZERO },
                  { &clattn::problem::v_zero, CLATTN_V_ZERO },       { &clattn::problem::append, CLATTN_APPEND },
                  { &clattn::problem::rotary, CLATTN_ROTARY },       { &clattn::problem::backward, CLATTN_BACKWARD },
                  { &clattn::problem::scores, CLATTN_SCORES } };
    for (const auto &f : flags) {
        clattn::problem one;
        const bool set = (one.*f.set)(true).get().flags == f.flag;
        ok(set && (one.*f.set)(false).get().flags == 0, "flag %u is set and taken back", f.flag);
    }
    clattn::problem sized;
    sized.sizes({ 1, 2, 3, 4, 5, 6, 7, 8 }).align(clattn::top_left).scale(0).window(2, 3).causal(false);
    ok(sized.sizes().total_k == 8 && sized.get().sizes.h == 2 && sized.get().align == CLATTN_ALIGN_TOP_LEFT &&
           sized.get().flags == (CLATTN_SCALE | CLATTN_WINDOW) && !sized.get().causal,
       "sizes at once, an alignment, a scale of 0");
}

static clattn::problem with_texts()
{
    clattn::problem p;
    p.width(16).mod_grad("of no score_mod"); // changes nothing
    p.score_mod("s = s + first[k];", 0, "").captured("first", clattn::f32).captured("second", clattn::f64, true);
    p.score_mod("s = s * 2;", CLATTN_MOD_VECTOR, "twice.cl").mod_grad("ds = ds * 2;");
    return p;
}

static void test_texts()
{
    const char *const want = " | s = s + first[k];, (null), 0, (null) | s = s * 2;, twice.cl, 1, ds = ds * 2; | first 1"
                             " | second 4";
    const auto tail = [](const clattn::problem &p) {
        const std::string all = describe(p);
        const std::size_t at = all.find(" | ");
        return at == std::string::npos ? std::string() : all.substr(at);
    };
    clattn::problem copy, moved;
    {
        clattn::problem p = with_texts();
        is_str(tail(p).c_str(), want, "score_mods, a derivative and captured buffers");
        is_int(p.get().aux_grads, 2, "the second of them is learnt");
        copy = p;
        ok(copy.get().mods != p.get().mods && copy.get().mods[1].text != p.get().mods[1].text &&
               copy.get().aux[0].name != p.get().aux[0].name && copy.get().mod_grads[1] != p.get().mod_grads[1],
           "a copy has texts of its own");
        clattn::problem more(p);
        more.score_mod("s = 0;");
        is_int(p.get().n_mods * 10 + more.get().n_mods, 23, "and may grow by itself");
        moved = std::move(p);
        clattn_problem none = CLATTN_PROBLEM_INIT;
        none.sizes.b = 1;
        is_str(describe(p).c_str(), describe(none).c_str(), "what was moved from is a fresh problem");
    }
    is_str(tail(copy).c_str(), want, "a copy outlives the original");
    is_str(tail(moved).c_str(), want, "so does what was moved");
    clattn::problem many;
    for (int i = 0; i < 40; i++)
        many.captured("b" + std::to_string(i), clattn::f32, true);
    is_int(many.get().aux_grads, 0xffffffffLL, "more buffers than there may be do no harm");
}

/* Where C ends a text at its first NUL, what is behind that would be lost. */
static void test_nul()
{
    const std::string inside("s = s;\0 s = 2 * s;", 18), at_the_end("s = s;\0", 7);
    const std::string before = describe(with_texts());
    clattn::problem p = with_texts();
    for (const std::string &text : { inside, at_the_end }) {
        const struct {
            const char *function;
            std::function<void()> call;
        } calls[] = {
            { "clattn::problem::score_mod", [&] { p.score_mod(text); } },
            { "clattn::problem::score_mod", [&] { p.score_mod("s = s;", 0, text); } },
            { "clattn::problem::mod_grad", [&] { p.mod_grad(text); } },
            { "clattn::problem::captured", [&] { p.captured(text, clattn::f32); } },
            { "clattn_emit_kernel", [&] { clattn::handle().source(with_texts(), text); } },
            { "clattn_emit_kernel", [&] { clattn::handle().source(with_texts(), "", text); } },
            { "clattn_set_config", [&] { clattn::handle().set_config(with_texts(), text); } },
        };
        for (const auto &c : calls)
            throws(CLATTN_ERROR_INVALID_ARGUMENT, c.function, "NUL", c.call, "a NUL in a text");
    }
    is_str(describe(p).c_str(), before.c_str(), "the problem is as it was");
}

static void test_structs()
{
    clattn::tensor t(nullptr, 5);
    t.bnhd(7, 4, 16);
    ok(t.offset == 5 && t.stride[0] == 7 * 64 && t.stride[1] == 16 && t.stride[2] == 64, "strides of [b,n,h,width]");
    ok(t.strides(1, 2, 3).stride[0] == 1 && t.stride[1] == 2 && t.stride[2] == 3, "strides that are given");
    const std::int64_t large = std::int64_t(1) << 32;
    for (const auto &n : { std::vector<std::int64_t>{ large, large, 1 },
                           { 1, large, large },
                           { -1, 1, 1 },
                           { 1, -1, 1 },
                           { 1, 1, -1 },
                           { large, large / 4, 4 } })
        throws(
            CLATTN_ERROR_INVALID_ARGUMENT, "clattn::tensor::bnhd", "too large", [&] { t.bnhd(n[0], n[1], n[2]); },
            "strides without room");
    clattn::tensor4 m(nullptr, 3);
    m.shaped(1, 2, 3, 4).strides(5, 6, 7, 8);
    ok(m.offset == 3 && m.shape[0] == 1 && m.shape[1] == 2 && m.shape[2] == 3 && m.shape[3] == 4 && m.stride[0] == 5 &&
           m.stride[1] == 6 && m.stride[2] == 7 && m.stride[3] == 8,
       "a tensor of scores");
    ok(clattn::array(nullptr, 9).offset == 9, "an array");
    ok(clattn::forward_args().struct_size == sizeof(clattn_forward_args) &&
           clattn::backward_args().struct_size == sizeof(clattn_backward_args) &&
           clattn::append_args().struct_size == sizeof(clattn_append_args) &&
           clattn::scores_args().struct_size == sizeof(clattn_scores_args) &&
           clattn::rotary_args().struct_size == sizeof(clattn_rotary_args) &&
           clattn::merge_args().struct_size == sizeof(clattn_merge_args) &&
           clattn::options().struct_size == sizeof(clattn_options) &&
           clattn::tune_options().struct_size == sizeof(clattn_tune_options) &&
           clattn::plan_options("cpu").struct_size == sizeof(clattn_plan_options),
       "structs know their size");
    static_assert(std::is_nothrow_move_constructible<clattn::handle>::value, "");
    static_assert(std::is_nothrow_move_constructible<clattn::plan>::value, "");
    static_assert(std::is_nothrow_move_constructible<clattn::problem>::value, "");
    static_assert(std::is_nothrow_move_assignable<clattn::handle>::value, "");
    static_assert(std::is_nothrow_copy_constructible<clattn::error>::value, "");
    static_assert(!std::is_constructible<clattn::backward_args, clattn::forward_args, clattn::tensor, clattn::tensor,
                                         clattn::tensor, clattn::tensor>::value,
                  "arguments that end too early");
    static_assert(!std::is_constructible<clattn::scores_args, clattn::forward_args, int, clattn::tensor4>::value,
                  "of scores, too");
}

/* ---- What handles and plans tell ---- */

/* Two rows of one head, by the library's own choice of everything. */
static clattn::problem small()
{
    return clattn::problem().batch(1).heads(1).queries(2).keys(2).width(8);
}

static void test_words(const struct device *d, const clattn::handle &handle)
{
    const clattn::problem problem = small().causal();
    const clattn::plan plan(handle, problem, clattn::plan_options("naive"));
    ok(plan.config().compare(0, 6, "naive ") == 0, "%s: a plan of engine naive: %s", d->name, plan.config().c_str());
    is_int(plan.info().struct_size, sizeof(clattn_plan_info), "%s: how it came to be", d->name);
    ok(plan.info().binary == CLATTN_BINARY_HIT ? handle.stats().binary_hits : handle.stats().compiles,
       "%s: what was compiled", d->name);
    ok(plan.parent().get() == handle.get() && plan() == plan.get() && handle() == handle.get(), "its handle");

    const std::vector<std::string> configs = handle.configs(problem);
    const clattn_problem &c = problem;
    char text[512] = "";
    ok(!configs.empty() && configs[0] == clattn::plan(handle, problem).config() &&
           !clattn_config_at(handle(), &c, configs.size() - 1, text, sizeof text) && configs.back() == text &&
           clattn_config_at(handle(), &c, configs.size(), text, sizeof text) == CL_INVALID_VALUE,
       "%s: all %d configurations", d->name, int(configs.size()));
    ok(!clattn_class_of(handle(), &c, text, sizeof text, nullptr), "a class");
    is_str(handle.class_of(problem).c_str(), text, "%s: is told", d->name);

    std::size_t needed = 0;
    clattn_emit_kernel(handle(), &c, "naive", "cla_merge", nullptr, 0, &needed);
    ok(needed > 255 && handle.source(problem, "naive", "cla_merge").size() + 1 == needed, "a long text is whole");
    ok(clattn::handle().source(problem).find("__kernel") != std::string::npos, "a program for a generic GPU");
    throws(
        CLATTN_ERROR_SYNTAX, "clattn_emit_kernel", "none such", [&] { handle.source(problem, "none such"); },
        "a configuration that cannot be read");

    handle.set_config(problem, "naive");
    is_str(clattn::plan(handle, problem).config().substr(0, 6).c_str(), "naive ", "%s: a configuration is set",
           d->name);
    handle.set_config(problem, "");
    is_str(clattn::plan(handle, problem).config().c_str(), configs[0].c_str(), "and taken back");
    clattn::tune_options quick;
    quick.effort = CLATTN_TUNE_QUICK, quick.seconds = 0.001;
    const std::string tuned = handle.tune(problem, quick);
    ok(tuned.find(' ') != std::string::npos, "%s: a search ends with %s", d->name, tuned.c_str());
}

static void test_errors(const struct device *d, const clattn::handle &handle)
{
    std::string why = "unset";
    ok(handle.supports(small(), &why) && why.empty(), "%s: a problem is supported", d->name);
    ok(!handle.supports(clattn::problem().width(-1), &why) && !why.empty(), "or not: %s", why.c_str());
    ok(!handle.supports(clattn::problem().width(-1)), "or not, without words");

    throws(
        CL_INVALID_CONTEXT, "clattn_create", "context", [&] { clattn::handle(nullptr, d->cl.device); },
        "a handle without a context");
    char words[256] = "";
    clattn::options options;
    options.why = words, options.why_len = sizeof words;
    throws(
        CL_INVALID_CONTEXT, "clattn_create", "", [&] { clattn::handle(nullptr, d->cl.device, options); },
        "with words in the caller's own place");
    ok(std::strstr(words, "context") != nullptr, "they are there: %s", words);

    const clattn::problem wrong = clattn::problem().width(9999);
    throws(
        CLATTN_ERROR_NOT_SUPPORTED, "clattn_plan_create", "9999", [&] { clattn::plan(handle, wrong); }, "a wide plan");
    ok(handle.detail().find("9999") != std::string::npos, "the handle keeps the words");
    throws(
        CLATTN_ERROR_NOT_SUPPORTED, "clattn_class_of", "9999", [&] { handle.class_of(wrong); }, "its class");
    throws(
        CLATTN_ERROR_NOT_SUPPORTED, "clattn_config_at", "9999", [&] { handle.configs(wrong); }, "its list");
    throws(
        CLATTN_ERROR_NOT_SUPPORTED, "clattn_tune", "9999", [&] { handle.tune(wrong); }, "its search");
    throws(
        CLATTN_ERROR_SYNTAX, "clattn_set_config", "none such", [&] { handle.set_config(small(), "none such"); },
        "a configuration that is none");
    throws(
        CLATTN_ERROR_BUILD, "clattn_plan_create", "nonsense",
        [&] { clattn::plan(handle, small().score_mod("s = nonsense;", 0, "mine.cl")); }, "what does not compile");
    throws(
        CLATTN_ERROR_INVALID_ARGUMENT, "clattn_forward", "empty",
        [&] { clattn::handle().forward(d->queue, small(), clattn::forward_args()); }, "an empty handle");
}

/* Calls without arguments: each has its own function in the error, and events are handed on. */
static void test_functions(const struct device *d, const clattn::handle &handle)
{
    const clattn::plan plan(handle, small().kv_len().append().rotary().mask().block_map().scores());
    const clattn::plan back(handle, small().backward());
    const clattn::forward_args none;
    const clattn::backward_args gradients(none, {}, {}, {}, {});
    clattn::backward_args nothing;
    const cl_int e = CLATTN_ERROR_INVALID_ARGUMENT;
    const cl_command_queue q = d->queue;
    throws(
        e, "clattn_enqueue_forward", "q.mem", [&] { plan.forward(q, none); }, "forward");
    throws(
        e, "clattn_enqueue_backward", "q.mem", [&] { back.backward(q, gradients); }, "backward");
    throws(
        e, "clattn_enqueue_block_map", "block_q", [&] { plan.block_map(q, none); }, "block_map");
    throws(
        e, "clattn_enqueue_scores", "q.mem", [&] { plan.scores(q, clattn::scores_args(none, 0, {})); }, "scores");
    throws(
        e, "clattn_enqueue_append", "new_k.mem", [&] { plan.append(q, clattn::append_args()); }, "append");
    throws(
        e, "clattn_enqueue_rotary", "rotary.width", [&] { plan.rotary(q, clattn::rotary_args()); }, "rotary");
    throws(
        e, "clattn_enqueue_merge", "o.mem", [&] { plan.merge(q, clattn::merge_args()); }, "merge");
    throws(
        e, "clattn_forward", "q.mem", [&] { handle.forward(q, small(), none); }, "forward in one call");
    throws(
        e, "clattn_backward", "q.mem", [&] { handle.backward(q, small(), gradients); }, "backward");
    throws(
        e, "clattn_workspace_size", "CLATTN_BACKWARD", [&] { back.workspace_size(none); }, "workspace_size");
    throws(
        e, "clattn_backward_workspace_size", "forward is NULL", [&] { back.workspace_size(nothing); }, "and backward");
    throws(
        e, "clattn_plan_config", "empty", [&] { clattn::plan().config(); }, "an empty plan");
    throws(
        e, "clattn_plan_get_info", "empty", [&] { clattn::plan().info(); }, "and its origin");
    throws(
        e, "clattn_stats", "empty", [&] { clattn::handle().stats(); }, "an empty handle");
    throws(
        e, "clattn_plan_create", "empty", [&] { clattn::plan(clattn::handle(), small()); }, "a plan of it");
}

/* ---- References ---- */

static void are(int handles, int plans, const char *what)
{
    ok(counts.handles == handles && counts.plans == plans, "%s: %d and %d references", what, handles, plans);
    if (counts.handles != handles || counts.plans != plans)
        diag("%d to handles and %d to plans", counts.handles, counts.plans);
}

static void test_handles(const struct device *d)
{
    const cl_context context = d->cl.context;
    counts = {};
    {
        clattn::handle a(context, d->cl.device), none;
        are(1, 0, "a handle is made");
        clattn::handle b(a), c;
        are(2, 0, "copied");
        c = b;
        are(3, 0, "copied over an empty one");
        c = *&c;
        are(3, 0, "over itself");
        ok(b.get() == a.get() && c.get() == a.get() && c, "all are one object");
        clattn::handle taken(std::move(b));
        are(3, 0, "moved");
        ok(!b && taken.get() == a.get() && !none, "what was moved from is empty");
        c = std::move(taken);
        are(2, 0, "moved over another reference");
        ok(!taken && c, "which was dropped");
        a = none;
        are(1, 0, "an empty one assigned");
        clattn::handle shared(c.get(), true);
        are(2, 0, "a raw handle that stays the caller's");
        clattn_handle raw = shared.release();
        ok(!shared && raw == c.get(), "given away");
        are(2, 0, "it is the caller's then");
        clattn::handle again(raw);
        are(2, 0, "and taken over");
    }
    are(0, 0, "all handles end");
}

static void test_plans(const struct device *d)
{
    counts = {};
    {
        clattn::plan plan;
        {
            clattn::handle handle(d->cl.context, d->cl.device);
            plan = clattn::plan(handle, small());
            are(2, 1, "a plan and its handle");
        }
        are(1, 1, "a plan keeps its handle");
        clattn::plan b(plan), c(std::move(plan));
        are(2, 2, "copied and moved");
        ok(!plan && !plan.parent() && b.get() == c.get() && b && c.parent().get() == b.parent().get(), "to one object");
        plan = c;
        are(3, 3, "copied over an empty one");
        plan = std::move(c);
        are(2, 2, "moved over another reference");
        ok(!b.config().empty() && b.config() == plan.config(), "and still at work");
        clattn::plan shared(b.get(), b.parent(), true);
        are(3, 3, "a raw plan that stays the caller's");
        const clattn_plan raw = shared.release();
        are(2, 3, "given away");
        ok(!shared && !shared.parent(), "nothing is left");
        clattn::plan again(raw, b.parent());
        are(3, 3, "and taken over");

        counts.refusal = CLATTN_ERROR_FORKED;
        throws(
            CLATTN_ERROR_FORKED, "clattn: a copy", "", [&] { clattn::plan p(b); }, "a copy that is refused");
        clattn::plan other(std::move(again));
        throws(
            CLATTN_ERROR_FORKED, "clattn: a copy", "", [&] { other = b; }, "an assignment that is refused");
        throws(
            CLATTN_ERROR_FORKED, "clattn_retain", "", [&] { clattn::handle h(b.parent().get(), true); },
            "a reference that is refused");
        ok(other && other.parent(), "nothing has changed");
        are(3, 3, "nor in number");
        counts.refusal = CL_SUCCESS;

        throws(
            CLATTN_ERROR_NOT_SUPPORTED, "clattn_plan_create", "9999",
            [&] { clattn::plan p(b.parent(), clattn::problem().width(9999)); }, "a plan that cannot be made");
        are(3, 3, "it leaves nothing");
    }
    are(0, 0, "all plans end");
}

int main(int argc, char **argv)
{
    const struct device *d;
    const char *why;
    (void)argc, (void)argv;
    test_setters();
    test_texts();
    test_nul();
    test_structs();
    const unsigned n = harness_open(&d, &why);
    if (!n)
        skip("%s", why);
    for (unsigned i = 0; i < n; i++)
        try {
            test_handles(&d[i]);
            test_plans(&d[i]);
            const clattn::handle handle(d[i].cl.context, d[i].cl.device);
            test_words(&d[i], handle);
            test_errors(&d[i], handle);
            test_functions(&d[i], handle);
        } catch (const std::exception &e) {
            ok(0, "%s: thrown: %s", d[i].name, e.what());
        }
    harness_close();
    return done_testing();
}
