/* memory.c - the bytes that an engine counts for a tile, against what its program declares
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tile that is taken for smaller than it is fails where it runs, or eats a thread's stack; one that is taken for
 * larger is lost. Programs are built, not run, but for a kernel behind them that tells the sizes of what they declare.
 */
#include "config.h"

#include "src/api/handle.h"
#include "tests/lib/each.h"
#include "src/base/text.h"

enum { KIB = 1024 };

/* ---- What an engine counts ---- */

static clattn_problem read_problem(const char *text)
{
    const clattn_workload c = each_case(text);
    clattn_problem p;
    struct why why;
    if (problem_read(&p, &c.problem, &why))
        bail("%s: %s", text, why.text);
    return p;
}

/* The device as one of that kind with so much local memory, where nothing else is in a tile's way. */
static struct caps roomy(const struct device *d, enum caps_kind kind, uint64_t local)
{
    struct caps caps = d->handle->maker.caps;
    caps.kind = kind;
    caps.local_bytes = local;
    caps.max_group = 4096;
    return caps;
}

/* The least local memory that a tile fits into. */
static int64_t count_local(const struct device *d, const struct config *c, const clattn_problem *p)
{
    int64_t low = -1, high = 1 << 24;
    struct why why;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        const struct caps caps = roomy(d, CAPS_GPU, (uint64_t)middle);
        if (engine_fits(c->engine, &c->tile, &caps, p, &why))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* KiB of private memory that a tile is refused for on CPUs; 0 where it is not. */
static long count_private(const struct device *d, const struct config *c, const clattn_problem *p)
{
    const struct caps caps = roomy(d, CAPS_CPU, 1 << 24);
    struct why why;
    long kib = 0;
    if (engine_fits(c->engine, &c->tile, &caps, p, &why) &&
        sscanf(why.text, "needs %ld KiB of private memory", &kib) != 1)
        bail("%s", why.text);
    return kib;
}

/* ---- What a program declares ---- */

/* Bytes of an item: its tile, and what the kernel declares beside it. */
struct declared {
    cl_int tile, scores;
};

static struct source compose(const struct device *d, const struct config *c, const clattn_problem *p, int pass)
{
    struct source s = { NULL, NULL };
    const struct target target = target_make(pass, p, &d->handle->maker.caps, c);
    struct why why;
    if (source_compose(&s, &target, &why))
        bail("no program: %s", why.text);
    return s;
}

/* NULL where it does not build. What is not used is declared all the same. */
static cl_program build(const struct device *d, const char *text, const char *given)
{
    char options[2048];
    cl_int e;
    cl_program program = clCreateProgramWithSource(d->cl.context, 1, &text, NULL, &e);
    snprintf(options, sizeof options, "%s -cl-opt-disable", given);
    if (program && clBuildProgram(program, 1, &d->cl.device, options, NULL, NULL)) {
        clReleaseProgram(program);
        program = NULL;
    }
    return program;
}

/* Bytes of local memory of a pass; -1 where it does not build. */
static int64_t ask_local(const struct device *d, const struct config *c, const clattn_problem *p, int pass)
{
    struct source s = compose(d, c, p, pass);
    cl_program program = build(d, s.text, s.options);
    cl_ulong bytes;
    cl_int e = CL_SUCCESS;
    cl_kernel k = program ? clCreateKernel(program, pass_at(pass)->kernel, &e) : NULL;
    if (k)
        e = clGetKernelWorkGroupInfo(k, d->cl.device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    const int64_t answer = k && !e ? (int64_t)bytes : -1;
    if (k)
        clReleaseKernel(k);
    if (program)
        clReleaseProgram(program);
    source_free(&s);
    return answer;
}

/* The line of the kernel that declares its part of S and O, and what else there may be in it. */
static void find_line(const char *text, char *line, size_t room)
{
    const char *const at = strstr(text, "real s[CLA_S_N]"), *const end = at ? strchr(at, ';') : NULL;
    if (!at || !end || (size_t)(end - at) >= room)
        bail("the kernel does not say `real s[CLA_S_N], ..;`: where does it declare its scores?");
    snprintf(line, room, "%.*s", (int)(end - at), at);
}

static int ask_sizes(struct declared *out, const struct device *d, cl_program program)
{
    const size_t one = 1;
    cl_int sizes[2] = { 0, 0 }, e;
    cl_kernel k = clCreateKernel(program, "cla_declared", &e);
    cl_mem mem = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, sizeof sizes, NULL, &e);
    const int good = k && mem && !clSetKernelArg(k, 0, sizeof mem, &mem) &&
                     !clEnqueueNDRangeKernel(d->queue, k, 1, NULL, &one, &one, 0, NULL, NULL) &&
                     !clEnqueueReadBuffer(d->queue, mem, CL_TRUE, 0, sizeof sizes, sizes, 0, NULL, NULL);
    if (mem)
        clReleaseMemObject(mem);
    if (k)
        clReleaseKernel(k);
    out->tile = sizes[0];
    out->scores = sizes[1];
    return good;
}

static int ask_private(struct declared *out, const struct device *d, const struct config *c, const clattn_problem *p)
{
    struct source s = compose(d, c, p, PASS_FORWARD);
    char line[256];
    memset(out, 0, sizeof *out);
    find_line(s.text, line, sizeof line);
    struct text t = { NULL, 0, 0 };
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !(t.to = calloc(t.length + 1, 1)))
            bail("no memory");
        t.room = pass ? t.length + 1 : 0;
        t.length = 0;
        text_add(&t, "%s\n#line 1 \"memory.c\"\ntypedef struct { %s; CLA_TOTAL_MEMORY } cla_scores_declared;\n", s.text,
                 line);
        /* Engine simt's part of O takes the place of S, and more where it is larger. */
        text_add(
            &t, "#ifdef CLA_PARTS\n#define CLA_MORE (CLA_O_N > CLA_S_N ? (CLA_O_N - CLA_S_N) * (int)sizeof(real) : 0)\n"
                "#else\n#define CLA_MORE 0\n#endif\n__kernel void cla_declared(__global int *to)\n"
                "{ to[0] = (int)sizeof(cla_tile); to[1] = (int)sizeof(cla_scores_declared) + CLA_MORE; }\n");
    }
    cl_program program = build(d, t.to, s.options);
    const int good = program && ask_sizes(out, d, program);
    if (program)
        clReleaseProgram(program);
    free(t.to);
    source_free(&s);
    return good;
}

/* ---- Local memory ---- */

static void name_of(const struct config *c, char name[128])
{
    struct text t = { name, 128, 0 };
    name[0] = '\0';
    tile_config_print(c, &t);
}

static void test_local_of(const struct device *d, const struct config *c, const char *problem)
{
    const clattn_problem p = read_problem(problem);
    const int64_t declared = ask_local(d, c, &p, PASS_FORWARD);
    char name[128];
    name_of(c, name);
    if (declared < 0) {
        skip("%s does not build here: %s", name, problem);
        return;
    }
    const int64_t counted = count_local(d, c, &p);
    ok(counted == declared, "%s, %s: %lld bytes counted, %lld declared", name, problem, (long long)counted,
       (long long)declared);
}

/* The next of some problems that the engine can do here; NULL: none. */
static const char *next_problem(int *n, const struct engine *e, const struct caps *caps)
{
    static const char *const problems[] = { "f32 b1 h1 q64 k64 d64", "f32 b1 h1 q64 k64 d33/130 mask:11qk",
                                            "f16 b1 h1 q64 k64 d100/60 mask:11qk", "f16 b1 h1 q64 k64 d64",
                                            "bf16 b1 h1 q64 k64 d130/40 bias:11qk", "f64 b1 h1 q64 k64 d72/40",
                                            "f64 b1 h1 q64 k64 d64 bias:11qk" };
    enum { PROBLEMS = sizeof problems / sizeof *problems };
    struct why why;
    for (int tries = 0; tries < PROBLEMS; tries++) {
        const char *const text = problems[(*n)++ % PROBLEMS];
        const clattn_problem p = read_problem(text);
        if ((p.type != CLATTN_F64 || caps->fp64) && (!e->suits || !e->suits(caps, &p, &why)))
            return text;
    }
    return NULL;
}

/* Whether the next tile is due: every second one in make check. */
static int is_due(void)
{
    static unsigned turn;
    return harness_deals(turn++, 2);
}

/* Every third row of an engine, and tiles from its space. */
static void test_local(const struct device *d, const struct engine *e)
{
    const struct caps caps = roomy(d, CAPS_GPU, 1 << 20);
    struct config c = { .engine = e };
    int n = 0;
    const char *problem = next_problem(&n, e, &caps);
    for (int i = 0; e->rows[i].widest && problem; i++)
        if (i % 3 == 0) {
            c.tile = e->rows[i].tile;
            if (is_due())
                test_local_of(d, &c, problem);
            problem = next_problem(&n, e, &caps);
        }
    for (size_t i = 0; i < 3 && problem; i++) {
        const clattn_problem p = read_problem(problem);
        size_t at = 29 * i + 7;
        if (!tile_space_next(&c, &caps, &p, e, &at))
            break;
        if (is_due())
            test_local_of(d, &c, problem);
        problem = next_problem(&n, e, &caps);
    }
}

/* The problem in the first of two types in which the engine can do it; 0: in neither. */
static int read_suited(const struct engine *e, const struct caps *caps, const char *words, char text[128],
                       clattn_problem *p)
{
    static const char *const types[] = { "f32", "f16" };
    struct why why;
    for (int i = 0; i < 2; i++) {
        snprintf(text, 128, "%s %s", types[i], words);
        *p = read_problem(text);
        if (!e->suits || !e->suits(caps, p, &why))
            return 1;
    }
    return 0;
}

/* Gradients: what is counted is at least what either pass declares, and little more than what one of them does. Rows
 * that are meant for them take turns at problems; make check has the first of each engine. */
static void test_local_backward(const struct device *d, const struct engine *e)
{
    static const char *const problems[] = { "b1 h1 q64 k64 d64 lse bwd", "b1 h1 q64 k64 d24/60 bias:11qk lse bwd",
                                            "b1 h1 q64 k64 d60/24 mask:11qk lse bwd" };
    const struct caps caps = roomy(d, CAPS_GPU, 1 << 20);
    unsigned n = 0;
    for (int i = 0; e->rows[i].widest; i++) {
        const struct config c = { .engine = e, .tile = e->rows[i].tile };
        char problem[128], name[128];
        if (!e->rows[i].backward)
            continue;
        const char *const words = problems[++n % 3];
        if (!harness_turn(n, n == 1))
            continue;
        clattn_problem p;
        if (!read_suited(e, &caps, words, problem, &p))
            return;
        const int64_t keys = ask_local(d, &c, &p, PASS_BACKWARD_KEYS),
                      queries = ask_local(d, &c, &p, PASS_BACKWARD_QUERIES);
        const int64_t counted = count_local(d, &c, &p), declared = keys > queries ? keys : queries;
        name_of(&c, name);
        if (keys < 0 || queries < 0)
            skip("%s does not build here: %s", name, problem);
        else
            ok(declared <= counted && counted - declared <= counted / 64,
               "%s, %s: %lld bytes counted, %lld and %lld declared", name, problem, (long long)counted, (long long)keys,
               (long long)queries);
    }
}

/* ---- Private memory ---- */

/* Row 0 of an engine with other numbers, "name=value" each. */
static struct config tile_with(const char *engine, const char *numbers)
{
    const struct engine *const e = engine_find(engine, strlen(engine));
    struct config c = { .engine = e, .tile = e->rows[0].tile };
    for (int i = 0; e->numbers[i].name; i++) {
        char key[16];
        snprintf(key, sizeof key, " %s=", e->numbers[i].name);
        const char *const at = strstr(numbers, key);
        if (at)
            c.tile.n[i] = atoi(at + strlen(key));
    }
    return c;
}

/* Engine cpu: all that its one item has. What is small beside it is not counted: a few numbers, and one for each key.
 */
static void test_cpu(const struct device *d, const char *problem, const char *numbers)
{
    const clattn_problem p = read_problem(problem);
    const struct config c = tile_with("cpu", numbers);
    const long counted = count_private(d, &c, &p);
    struct declared is;
    if (!ask_private(&is, d, &c, &p)) {
        skip("cpu%s does not build here: %s", numbers, problem);
        return;
    }
    const double kib = (double)(is.tile + is.scores) / KIB;
    ok(counted > 768 && (double)counted <= kib && (double)counted + 5 >= kib,
       "cpu%s, %s: refused for %ld KiB, %.1f declared", numbers, problem, counted, kib);
}

/* Keys that are used as they are stored are not converted; their tile is counted all the same, as it always was. */
static void test_cpu_stored(const struct device *d)
{
    const clattn_problem narrow = read_problem("f16 b1 h1 q64 k64 d561/300"),
                         f32 = read_problem("f32 b1 h1 q64 k64 d561/300"),
                         f64 = read_problem("f64 b1 h1 q64 k64 d561/300");
    const struct config c = tile_with("cpu", " w=16 nv=8 rk=8 rd=8 bk=64");
    const long counted = count_private(d, &c, &narrow), twice = count_private(d, &c, &f64);
    ok(counted == count_private(d, &c, &f32) && (twice == 2 * counted || twice == 2 * counted + 1),
       "%ld KiB in f16 and f32, %ld in f64", counted, twice);
}

/* The largest tile that is taken is one that a stack has room for, and not much smaller. */
static void test_cpu_limit(const struct device *d)
{
    const clattn_problem p = read_problem("f16 b1 h1 q64 k64 d576");
    struct config c = tile_with("cpu", " w=16 nv=5 bk=1"), taken = c;
    struct declared is;
    int bk = 1;
    for (; bk <= 64; bk++) {
        char numbers[64];
        snprintf(numbers, sizeof numbers, " w=16 nv=5 bk=%d", bk);
        c = tile_with("cpu", numbers);
        if (count_private(d, &c, &p))
            break;
        taken = c;
    }
    const int built = ask_private(&is, d, &taken, &p);
    const double kib = (double)(is.tile + is.scores) / KIB;
    ok(bk > 1 && bk < 64 && (!built || (kib > 760 && kib < 768 + 5)), "up to %d keys: %.1f KiB are taken", bk - 1,
       kib);
}

/* Engine simt: what a number of the tile adds to each item is what it is counted as. What else an item has, it has in
 * any tile. Of both, whole numbers of vectors are moved. */
static void test_simt(const struct device *d, const char *problem, const char *numbers, const char *more)
{
    const clattn_problem p = read_problem(problem);
    const struct config a = tile_with("simt", numbers), b = tile_with("simt", more);
    const int items = a.engine->items_per_group(a.engine, &a.tile);
    const int others = b.engine->items_per_group(b.engine, &b.tile);
    const long counted = count_private(d, &a, &p), counted_more = count_private(d, &b, &p);
    struct declared is, becomes;
    if (!ask_private(&is, d, &a, &p) || !ask_private(&becomes, d, &b, &p)) {
        skip("simt%s does not build here: %s", more, problem);
        return;
    }
    const double all = (double)is.tile + is.scores, grows = (double)(becomes.tile + becomes.scores) - all;
    const double count = (double)counted * KIB / items, count_grows = (double)counted_more * KIB / others - count;
    const double vector = p.type == CLATTN_F64 ? 32 : 16;
    ok(counted > 256 && counted_more > 256, "simt%s, and%s: refused for %ld KiB and %ld", numbers, more, counted,
       counted_more);
    ok(count < all && count + 20 * vector > all, "an item has %.0f bytes, %.0f declared", count, all);
    ok(grows - count_grows <= 2 * vector && count_grows - grows <= 2 * vector, "then %+.0f, %+.0f declared",
       count_grows, grows);
}

static void test_simt_limit(const struct device *d)
{
    const clattn_problem p = read_problem("f32 b1 h1 q64 k64 d64");
    const struct config small = tile_with("simt", " tx=16 ty=16 tm=8 tn=8 ch=8 cv=4 qres=0");
    long least = 0;
    ok(!count_private(d, &small, &p), "256 items of half a KiB are taken");
    for (int ty = 1; ty <= 64 && !least; ty++) {
        char numbers[64];
        snprintf(numbers, sizeof numbers, " tx=16 ty=%d tm=8 tn=8 ch=8 cv=4 qres=0", ty);
        const struct config c = tile_with("simt", numbers);
        least = count_private(d, &c, &p);
    }
    ok(least >= 256 && least < 276, "the first that are not need %ld KiB", least);
}

static void test_device(const struct device *d)
{
    const int fp64 = d->handle->maker.caps.fp64;
    for (size_t i = 0; engine_at(i); i++)
        if (engine_at(i)->local_bytes) {
            test_local(d, engine_at(i));
            test_local_backward(d, engine_at(i));
        }
    test_cpu(d, "f16 b1 h1 q64 k64 d561/300", " w=16 nv=8 rk=8 rd=8 bk=64");
    if (harness_shares(0))
        test_cpu(d, "bf16 b1 h1 q64 k64 d300/561 mask:11qk", " w=16 nv=8 rk=8 rd=8 bk=64");
    test_cpu_stored(d);
    test_cpu_limit(d);
    test_simt(d, "f32 b1 h1 q64 k64 d64/570", " tx=16 ty=16 tm=8 tn=8 ch=4 cv=1 qres=0",
              " tx=16 ty=16 tm=8 tn=8 ch=4 cv=16 qres=0");
    if (harness_shares(1))
        test_simt(d, "f32 b1 h1 q64 k64 d64/250", " tx=16 ty=32 tm=8 tn=4 ch=4 cv=1 qres=0",
                  " tx=16 ty=32 tm=8 tn=16 ch=64 cv=1 qres=0");
    if (harness_shares(2))
        test_simt(d, "f32 b1 h1 q64 k64 d64/130", " tx=16 ty=32 tm=8 tn=12 ch=4 cv=1 qres=0",
                  " tx=64 ty=32 tm=8 tn=8 ch=4 cv=1 qres=0");
    if (fp64)
        test_simt(d, "f64 b1 h1 q64 k64 d64/200", " tx=16 ty=16 tm=8 tn=4 ch=4 cv=1 qres=0",
                  " tx=16 ty=16 tm=8 tn=16 ch=4 cv=1 qres=0");
    test_simt_limit(d);
}

int main(void)
{
    return each_device(test_device);
}
