/* class.c - classes of problems: few, stable, and texts that read back
 * SPDX-License-Identifier: Apache-2.0
 *
 * Linked with --wrap=malloc, so that memory can run out. */
#include "config.h"

#include "src/problem/class.h"
#include "src/cache/wisdom.h"
#include "tests/lib/tap.h"
#include "src/base/text.h"

enum { ROOM = 4 * CLASS_MAX, LARGEST = 1 << 30 };

static bool no_memory;
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    return no_memory ? NULL : __real_malloc(n);
}

/* ---- Problems and their classes ---- */

static clattn_problem checked(const clattn_problem *in)
{
    clattn_problem p;
    struct why why;
    if (problem_read(&p, in, &why))
        bail("%s", why.text);
    return p;
}

static clattn_problem problem(const char *text)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct why why;
    if (workload_parse(&c, text, &why))
        bail("%s: %s", text, why.text);
    return checked(&c.problem);
}

static void print(const clattn_workload *c, const clattn_problem *p, char text[ROOM])
{
    struct text to = { text, ROOM, 0 };
    class_print(c, p, &to);
}

static void class_text(const clattn_problem *p, char text[ROOM])
{
    clattn_workload c;
    class_of(&c, p);
    print(&c, p, text);
}

static int same_class(const clattn_problem *a, const clattn_problem *b)
{
    char x[ROOM], y[ROOM];
    class_text(a, x);
    class_text(b, y);
    return !strcmp(x, y);
}

/* ---- What holds of every class ---- */

static int is_sound(const char *text)
{
    return *text && strlen(text) < CLASS_MAX && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789 ./:,#-_")];
}

/* What a class is but for its score_mods. */
static void strip(char *text)
{
    char *const digest = strstr(text, " mod:#");
    if (digest)
        *digest = '\0';
}

/* Read back, it is a problem, of the class that it stands for. */
static int reads_back(const char *text)
{
    char plain[ROOM], again[ROOM];
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct why why;
    snprintf(plain, sizeof plain, "%s", text);
    strip(plain);
    if (workload_parse(&c, plain, &why)) {
        diag("%s: %s", plain, why.text);
        return 0;
    }
    const clattn_problem p = checked(&c.problem);
    class_text(&p, again);
    return !strcmp(again, plain);
}

/* The same without the way over its text, in all that a class says. */
static int is_class(const clattn_workload *c)
{
    const clattn_problem p = checked(&c->problem);
    char text[ROOM], again[ROOM];
    clattn_workload x;
    class_of(&x, &p);
    print(c, NULL, text);
    print(&x, NULL, again);
    return is_sound(text) && !strcmp(text, again) && reads_back(text) &&
           !memcmp(&x.problem.sizes, &c->problem.sizes, sizeof x.problem.sizes) &&
           !memcmp(x.bias_axes, c->bias_axes, sizeof x.bias_axes) &&
           !memcmp(x.mask_axes, c->mask_axes, sizeof x.mask_axes);
}

/* ---- Made-up problems ---- */

static uint64_t state = 1;

static int64_t below(int64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)n);
}

/* Of every size alike: 0, and the numbers of 1 to `bits` bits. */
static int64_t size(int bits)
{
    const int64_t n = below(bits + 1);
    return n ? ((int64_t)1 << (n - 1)) + below((int64_t)1 << (n - 1)) : 0;
}

static int width(void)
{
    static const int near_edges[] = { 1, 32, 33, 64, 65, 80, 96, 128, 129, 192, 256, 257, 320, 512, 513, 576 };
    return below(2) ? near_edges[below(16)] : 1 + (int)below(576);
}

static void make_sizes(clattn_sizes *z)
{
    z->b = size(16);
    z->hk = 1 + size(10);
    z->h = z->hk * (1 + below(24));
    z->nq = size(30);
    z->nk = size(30);
    z->offset = size(30) - size(30);
    z->total_q = size(30);
    z->total_k = size(30);
}

/* A quantised type that rows of the width may have, groups and zero points; or nothing of it. */
static void make_quantised(clattn_problem *p, int32_t d, int32_t *type, int32_t *group, uint32_t zero)
{
    static const int32_t blocks[] = { 1, 2, 32, 32 };
    static const int32_t some[] = { 0, 1, 16, 32, 48, 64, 96, 128, 160, 256, 560, 576 };
    const int n = (int)below(4);
    if (p->type == CLATTN_F64 || below(2) || d % blocks[n])
        return;
    *type = CLATTN_INT8 + n;
    if (n < 2) {
        *group = some[below(12)];
        p->flags |= below(2) ? zero : 0;
    }
}

static void make_caches(clattn_problem *p)
{
    make_quantised(p, p->d, &p->k_type, &p->k_group, CLATTN_K_ZERO);
    make_quantised(p, p->dv, &p->v_type, &p->v_group, CLATTN_V_ZERO);
    p->o_type = p->type == CLATTN_F64 || below(2) ? 0 : 1 + (int)below(3);
    p->page = below(2) || p->flags & CLATTN_CU_K ? 0 : 1 + (int)below(1000);
    p->splits = below(4) ? 0 : 1 + (int)below(1024);
    p->flags |= (uint32_t)below(4) * CLATTN_APPEND | (uint32_t)below(2) * CLATTN_SCORES;
}

static void make_features(clattn_problem *p)
{
    enum { FLAGS = 2 * CLATTN_BLOCK_MAP };
    p->causal = (int)below(2);
    p->align = (int)below(4);
    p->flags = (uint32_t)(below(FLAGS) & below(FLAGS));
    if (p->flags & CLATTN_WINDOW) {
        p->window_left = (int)size(30) - 1;
        p->window_right = (int)size(30) - 1;
    }
    p->scale = (double)(below(5) - 2) / 8;
    p->softcap = below(3) ? 0 : 0.3 * (double)(1 + below(100));
    p->bias_type = below(2) ? 0 : 1 + (int)below(p->type == CLATTN_F64 ? 4 : 3);
}

static clattn_problem random_problem(void)
{
    static const clattn_score_mod mods[2] = { { "s *= 2;", "x", 0 }, { "s += 1;", "y", CLATTN_MOD_VECTOR } };
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.type = 1 + (int)below(4);
    p.k_type = p.type == CLATTN_F64 ? CLATTN_F64 : 1 + (int)below(3);
    p.v_type = p.type == CLATTN_F64 ? CLATTN_F64 : 1 + (int)below(3);
    p.d = width();
    p.dv = below(2) ? p.d : width();
    make_features(&p);
    make_caches(&p);
    make_sizes(&p.sizes);
    if (!below(8))
        memset(&p.sizes, 0, sizeof p.sizes);
    if (!below(4)) {
        p.n_mods = 1 + (int)below(2);
        p.mods = mods;
    }
    return checked(&p);
}

static void test_all(void)
{
    enum { MANY = 50000 };
    int unsound = 0, lost = 0, other = 0;
    size_t longest = 0;
    for (int i = 0; i < MANY; i++) {
        const clattn_problem p = random_problem();
        clattn_workload c;
        char text[ROOM];
        class_of(&c, &p);
        print(&c, &p, text);
        unsound += !is_sound(text);
        longest = strlen(text) > longest ? strlen(text) : longest;
        if (!reads_back(text) && lost++ < 3)
            diag("%s", text);
        other += !is_class(&c);
    }
    ok(!unsound, "class texts are short and plain: the longest has %zu of %d bytes", longest, CLASS_MAX);
    ok(!lost, "read back, a class is a problem of that class");
    ok(!other, "so is what stands for it");
}

static void test_longest(void)
{
    static const clattn_score_mod mod = { "s = s;", NULL, 0 };
    int unsound = 0;
    size_t longest = 0;
    for (int types = 0; types < 27; types++)
        for (int bias = 1; bias < 4; bias++) {
            clattn_problem p = problem("f32 b3 h32/2 q9999 k99999 d576/512 causal window1,2 softcap0.1234567890123456 "
                                       "alibi bias:bhqk mask:bhqk blocks:1,2 sink varlen off-123456789 scale0.1234567 "
                                       "qlen:1,2,3 kvlen:1,2,3 kvstart:1,2,3");
            char text[ROOM];
            if (types % 2) { /* one or the other */
                p = problem("f32 b3 h32/2 q9999 k99999 d576/512 causal window1,2 softcap0.1234567890123456 alibi "
                            "bias:bhqk mask:bhqk blocks:1,2 sink page999 k:int4:112z v:int8:112z o:f16 splits999 "
                            "off-123456789 scale0.1234567 qlen:1,2,3 kvlen:1,2,3 kvstart:1,2,3");
                p.o_type = 1 + (types + 1) % 3;
            }
            p.type = 1 + types % 3;
            p.k_type = types % 2 ? p.k_type : 1 + types / 3 % 3;
            p.v_type = types % 2 ? p.v_type : 1 + types / 9;
            p.bias_type = bias;
            p.n_mods = 1;
            p.mods = &mod;
            p = checked(&p);
            class_text(&p, text);
            unsound += !is_sound(text) || !reads_back(text) || !strstr(text, " mod:#");
            longest = strlen(text) > longest ? strlen(text) : longest;
        }
    ok(!unsound && longest > 100, "everything at once has %zu of %d bytes", longest, CLASS_MAX);
}

/* ---- Which problems are one class ---- */

static const struct {
    const char *problem, *class;
} known[] = {
    { "f16 b2 h32/8 q2048 k2048 d128 causal", "f16 b1 h32/8 q4096 k4096 d128 causal" },
    { "f32 b1 h1 q1 k1 d1", "f32 b1 h1 q1 k256 d32" },
    { "f32 b0 h2 q0 k0 d64", "f32 b1 h1 q1 k256 d64" },
    { "f32 b5 h2 q0 k0 d64", "f32 b1 h8 q1 k256 d64" },
    { "f16 b1 h8 q5 k70 d64 causal-tl window5,3 softcap2 alibi bias:bhqk:bf16 mask:b11k blocks:16,16 sink k:f32 v:bf16",
      "f16 b1 h8 q8 k256 d64 causal window256,256 softcap30 bias:11qk:bf16 mask:11qk k:f32 v:bf16" },
    { "f32 b1 h8 q5 k70 d64 alibi", "f32 b1 h8 q8 k256 d64 softcap30" },
    { "f32 b1 h8 q5 k70 d64 sink", "f32 b1 h8 q8 k256 d64 softcap30" },
    { "f32 b1 h8 q5 k70 d64 bias:1111", "f32 b1 h8 q8 k256 d64 bias:11qk" },
    { "f32 b1 h8 q5 k70 d64 blocks:1,1", "f32 b1 h8 q8 k256 d64 mask:11qk" },
    { "f32 b1 h8 q5 k70 d64 window-1,-1 off7", "f32 b1 h8 q8 k256 d64 window256,256" },
    { "f32 b3 h8 q30 k40 d80 varlen qlen:1,2,3", "f32 b1 h32 q128 k256 d80 varlen" },
    { "f32 b2 h8 q30 k40 d80 kvlen:1,2 kvstart:0,1 scale0.7 seed3 lse bthd", "f32 b1 h32 q128 k256 d80" },
    { "f32 b1 h8/2 q1 k4096 d128 page1 k:int8 v:q4_0 splits3 o:f16",
      "f32 b1 h8/2 q1 k4096 d128 page16 k:int8 v:q4_0 o:f16 splits8" },
    { "f16 b1 h8 q1 k4096 d96/66 page1073741824 k:q8_0 v:int4:16z",
      "f16 b1 h8 q1 k4096 d96/80 page16 k:q8_0 v:int4:32z" },
    { "f16 b1 h8 q1 k4096 d100 k:int8:1 v:int8:112z", "f16 b1 h8 q1 k4096 d128 k:int8:1 v:int8z" },
    { "f16 b1 h8 q1 k4096 d17 k:int8:16 v:int8:32", "f16 b1 h8 q1 k4096 d32 k:int8 v:int8" },
    { "f16 b1 h8 q1 k4096 d576 k:int8:48 v:int8:256", "f16 b1 h8 q1 k4096 d576 k:int8:64 v:int8:128" },
    { "f16 b1 h8 q1 k4096 d65 k:int8:64 v:f32", "f16 b1 h8 q1 k4096 d80 k:int8:64 v:f32" },
    { "f32 b1 h8 q1 k4096 d64 splits1", "f32 b1 h8 q1 k4096 d64 splits1" },
    { "f32 b1 h8 q1 k4096 d64 splits2", "f32 b1 h8 q1 k4096 d64 splits8" },
    { "f32 b1 h8 q1 k4096 d64 splits1024", "f32 b1 h8 q1 k4096 d64 splits64" },
    { "f16 b1 h64/1 q1 k100000 d33/200", "f16 b1 h32/2 q1 k65536 d64/256" },
    { "f64 b1073741824 h1 q1073741824 k1073741824 d576", "f64 b1 h32 q4096 k65536 d576" },
    { "f64 b1073741824 h1073741824 q1073741824 k1073741824 d576", "f64 b1 h32 q4096 k65536 d576" },
    { "f32 b1 h1073741824/1 q1 k1 d1", "f32 b1 h32/2 q1 k256 d32" },
};

static void test_known(void)
{
    char text[ROOM];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const clattn_problem p = problem(known[i].problem);
        class_text(&p, text);
        is_str(text, known[i].class, "class of %s", known[i].problem);
    }
}

/* Sizes that no problem string says. */
static const struct {
    const char *what, *class;
    clattn_sizes sizes;
} odd[] = {
    { "no sizes", "f32 b1 h8 q1024 k1024 d64", { 0, 0, 0, 0, 0, 0, 0, 0 } },
    { "queries only", "f32 b1 h1 q128 k256 d64", { 0, 0, 0, 100, 0, 0, 0, 0 } },
    { "keys only", "f32 b1 h1 q1 k4096 d64", { 0, 0, 0, 0, 3000, 0, 0, 0 } },
    { "a batch only", "f32 b1 h8 q1024 k1024 d64", { 7, 0, 0, 0, 0, 0, 0, 0 } },
    { "products that overflow", "f32 b1 h32 q4096 k65536 d64",
      { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 0, 0 } },
};

static void test_odd_sizes(void)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    char text[ROOM];
    p.d = 64;
    p = checked(&p);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        p.sizes = odd[i].sizes;
        class_text(&p, text);
        is_str(text, odd[i].class, "class of a problem with %s", odd[i].what);
    }
    p = problem("f32 b3 h8 q30 k40 d80 page7");
    p.flags |= CLATTN_CU_Q | CLATTN_APPEND | CLATTN_ROTARY | CLATTN_SCORES;
    class_text(&p, text);
    is_str(text, "f32 b1 h32 q128 k256 d80 page16", "varlen queries are as others where K and V are paged");
    for (int i = 0; i < 2; i++) {
        p = problem("f32 b3 h8 q30 k40 d80 varlen");
        p.flags &= ~(uint32_t)(i ? CLATTN_CU_Q : CLATTN_CU_K);
        class_text(&p, text);
        is_str(text, "f32 b1 h32 q128 k256 d80 varlen", "one side packed is as both");
    }
}

enum { QUERIES, KEYS, WIDTH, VALUES, BATCH, HEADS, RATIO, LISTS };

/* A problem that has x in one place, and is in the middle otherwise. */
static clattn_problem with(int list, int64_t x)
{
    clattn_problem p = problem("f16 b1 h64 q100 k1000 d64 causal");
    switch (list) {
    case QUERIES: p.sizes.nq = x; break;
    case KEYS: p.sizes.nk = x; break;
    case WIDTH: p.d = (int32_t)x; break;
    case VALUES: p.dv = (int32_t)x; break;
    case BATCH: p.sizes.h = p.sizes.hk = 1, p.sizes.b = x; break;
    case HEADS: p.sizes.h = p.sizes.hk = x; break;
    default: p.sizes.h = 64 * x; break;
    }
    return checked(&p);
}

/* The last of each bucket, and the end of the last one. */
static const struct {
    const char *name;
    int64_t low, last[12];
} buckets[LISTS] = {
    [QUERIES] = { "queries", 0, { 1, 4, 8, 16, 128, 1024, LARGEST } },
    [KEYS] = { "keys", 0, { 256, 1024, 4096, 16384, LARGEST } },
    [WIDTH] = { "width", 1, { 32, 64, 80, 96, 128, 192, 256, 320, 512, 576 } },
    [VALUES] = { "width of values", 1, { 32, 64, 80, 96, 128, 192, 256, 320, 512, 576 } },
    [BATCH] = { "batch", 0, { 3, 15, LARGEST } },
    [HEADS] = { "heads", 1, { 3, 15, LARGEST } },
    [RATIO] = { "query heads of a key head", 1, { 1, 4, 8, LARGEST >> 6 } },
};

static void test_bounds(void)
{
    for (int i = 0; i < LISTS; i++) {
        int64_t low = buckets[i].low;
        int good = 1;
        for (const int64_t *last = buckets[i].last; *last; low = *last++ + 1) {
            const clattn_problem first = with(i, low), end = with(i, *last), middle = with(i, low + (*last - low) / 2);
            good = good && same_class(&first, &end) && same_class(&first, &middle);
            if (!last[1])
                continue;
            const clattn_problem next = with(i, *last + 1);
            good = good && !same_class(&end, &next);
        }
        ok(good, "%s: buckets end where they should", buckets[i].name);
    }
}

static int64_t other_of_bucket(int list, int64_t x)
{
    int64_t low = buckets[list].low;
    const int64_t *last = buckets[list].last;
    for (; x > *last; last++)
        low = *last + 1;
    return low + below(*last - low + 1);
}

/* Heads: as many for each key head, or about as many; as many for the device, or about as many. */
static void other_heads(clattn_sizes *z)
{
    const int64_t heads = other_of_bucket(BATCH, z->b * z->h), ratio = z->h / z->hk;
    const int64_t near = other_of_bucket(RATIO, ratio), most = 1 << 20;
    if (ratio == 1) {
        const bool in_batch = !heads || below(2);
        z->b = in_batch ? heads : 1;
        z->h = z->hk = in_batch ? 1 : heads;
    } else if (z->b * z->h > 15) {
        z->b = 16 + below(3);
        z->hk = 1 + below(3);
        z->h = z->hk * (near < most ? near : most);
    }
}

/* Another width of the bucket: where it is quantised, one that has as many elements in a row as scales ask for. */
static int32_t other_width(int list, int32_t width, int32_t type)
{
    return type < CLATTN_INT8 ? (int32_t)other_of_bucket(list, width) : width;
}

/* Other numbers of the same buckets, and whatever does not count. */
static clattn_problem alike(const clattn_problem *p)
{
    clattn_problem q = *p;
    q.d = other_width(WIDTH, p->d, p->k_type);
    q.dv = other_width(VALUES, p->dv, p->v_type);
    q.page = p->page ? 1 + (int32_t)below(LARGEST) : 0;
    q.splits = p->splits < 2 ? p->splits : p->splits < 9 ? 2 + (int32_t)below(7) : p->splits;
    q.flags ^= (uint32_t)below(4) * CLATTN_APPEND | (uint32_t)below(2) * CLATTN_SCORES;
    q.sizes.nq = other_of_bucket(QUERIES, p->sizes.nq);
    q.sizes.nk = other_of_bucket(KEYS, p->sizes.nk);
    other_heads(&q.sizes);
    q.sizes.offset = size(62) - size(62);
    q.align = (int)below(4);
    q.scale = 0.01 * (double)(1 + below(99));
    q.softcap *= 2;
    q.window_left = q.flags & CLATTN_WINDOW ? (int)size(30) - 1 : 0;
    q.flags ^= (uint32_t)below(16) & (CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START);
    return checked(&q);
}

static void test_alike(void)
{
    enum { MANY = 20000 };
    int bad = 0;
    for (int i = 0; i < MANY; i++) {
        const clattn_problem p = random_problem();
        if (!p.sizes.h)
            continue;
        const clattn_problem q = alike(&p);
        char text[ROOM];
        if (!same_class(&p, &q) && bad++ < 3) {
            class_text(&p, text);
            diag("%s", text);
        }
    }
    ok(!bad, "sizes count for nothing but their buckets");
}

/* Texts seen so far, without doubles. */
enum { SEEN_MAX = 4096 };
static char seen[SEEN_MAX][CLASS_MAX];
static int n_seen;

static int add_seen(const char *text)
{
    for (int i = 0; i < n_seen; i++)
        if (!strcmp(seen[i], text))
            return 0;
    if (n_seen < SEEN_MAX)
        snprintf(seen[n_seen++], CLASS_MAX, "%.*s", CLASS_MAX - 1, text);
    return 1;
}

static void test_number(void)
{
    enum { MANY = 40000, MOST = 5 * 5 * (3 + 3 * 3) }; /* queries, keys, heads with and without a ratio */
    n_seen = 0;
    for (int i = 0; i < MANY; i++) {
        clattn_problem p = problem("f16 b1 h1 q1 k1 d64 causal bias:11qk");
        char text[ROOM];
        make_sizes(&p.sizes);
        p = checked(&p);
        class_text(&p, text);
        add_seen(text);
    }
    ok(n_seen <= MOST && n_seen > 100, "%d problems of the same features are of %d classes", MANY, n_seen);
}

/* ---- Score_mods ---- */

static void with_mods(char text[ROOM], int n, const clattn_score_mod *mods, int n_aux, const clattn_aux *aux)
{
    clattn_problem p = problem("f32 b1 h8 q5 k70 d64");
    p.n_mods = n;
    p.mods = mods;
    p.n_aux = n_aux;
    p.aux = aux;
    p = checked(&p);
    class_text(&p, text);
}

/* None of these is another. The last ones would be, were texts put together without their lengths. */
static const struct {
    int n, n_aux;
    clattn_score_mod mods[2];
    clattn_aux aux[2];
} mods[] = {
    { 1, 0, { { "s = s;", "x", 0 } }, { { NULL, 0 } } },
    { 1, 0, { { "s = s; ", "x", 0 } }, { { NULL, 0 } } },
    { 1, 0, { { "", "x", 0 } }, { { NULL, 0 } } },
    { 1, 0, { { "s = s;", "x", CLATTN_MOD_VECTOR } }, { { NULL, 0 } } },
    { 2, 0, { { "s = s;", "x", 0 }, { "s = s;", "x", 0 } }, { { NULL, 0 } } },
    { 2, 0, { { "s = s;", "x", 0 }, { "s = -s;", "x", 0 } }, { { NULL, 0 } } },
    { 2, 0, { { "s = -s;", "x", 0 }, { "s = s;", "x", 0 } }, { { NULL, 0 } } },
    { 2, 0, { { "s = s;", "x", 0 }, { "", "x", 0 } }, { { NULL, 0 } } },
    { 2, 0, { { "", "x", 0 }, { "s = s;", "x", 0 } }, { { NULL, 0 } } },
    { 1, 1, { { "s = s;", "x", 0 } }, { { "a", CLATTN_F32 } } },
    { 1, 1, { { "s = s;", "x", 0 } }, { { "a", CLATTN_I32 } } },
    { 1, 1, { { "s = s;", "x", 0 } }, { { "c", CLATTN_F32 } } },
    { 1, 2, { { "s = s;", "x", 0 } }, { { "a", CLATTN_F32 }, { "c", CLATTN_F32 } } },
    { 1, 2, { { "s = s;", "x", 0 } }, { { "c", CLATTN_F32 }, { "a", CLATTN_F32 } } },
    { 1, 0, { { "s = s;\na 1", "x", 0 } }, { { NULL, 0 } } },
    { 1, 0, { { "s = s;\n6 0\ns = s;", "x", 0 } }, { { NULL, 0 } } },
};
enum { MODS = sizeof mods / sizeof *mods };

static void test_mods(void)
{
    static const char plain[] = "f32 b1 h8 q8 k256 d64 softcap30 mod:#";
    char text[ROOM], again[ROOM], copy[] = "s = s;";
    int distinct = 0, sound = 1;
    n_seen = 0;
    for (int i = 0; i < MODS; i++) {
        with_mods(text, mods[i].n, mods[i].mods, mods[i].n_aux, mods[i].aux);
        distinct += add_seen(text);
        sound = sound && is_sound(text) && reads_back(text) && !strncmp(text, plain, sizeof plain - 1) &&
                strlen(text) == sizeof plain - 1 + 16;
    }
    is_int(distinct, MODS, "another text, flag, order, captured name or type is another class");
    ok(sound, "all have a digest behind what they are without it");
    const clattn_score_mod elsewhere = { copy, "another name", 0 };
    with_mods(text, 1, mods[0].mods, 0, NULL);
    with_mods(again, 1, &elsewhere, 0, NULL);
    is_str(again, text, "the same text elsewhere, under another name, is the same class");
}

static void test_mods_extremes(void)
{
    enum { LONG = 1 << 20 };
    char text[ROOM], again[ROOM], *s = malloc(LONG + 1);
    clattn_score_mod many[CLATTN_MODS_MAX];
    if (!s)
        bail("no memory");
    memset(s, ' ', LONG);
    s[LONG] = '\0';
    for (int i = 0; i < CLATTN_MODS_MAX; i++)
        many[i] = (clattn_score_mod){ s, "%s%n", 0 };
    with_mods(text, CLATTN_MODS_MAX, many, 0, NULL);
    s[LONG - 1] = ';';
    with_mods(again, CLATTN_MODS_MAX, many, 0, NULL);
    ok(is_sound(text) && is_sound(again) && strcmp(text, again), "the last of 8 million bytes counts");
    no_memory = true;
    with_mods(text, CLATTN_MODS_MAX, many, 0, NULL);
    s[LONG - 1] = '\0';
    with_mods(again, CLATTN_MODS_MAX, many, 0, NULL);
    no_memory = false;
    ok(is_sound(text) && strstr(text, " mod:#") && strcmp(text, again),
       "without memory for them their lengths still tell classes apart");
    free(s);
}

/* ---- Printing into little room ---- */

static void test_room(void)
{
    clattn_problem p = problem("f16 b1 h8 q5 k70 d64 causal");
    char whole[ROOM], part[ROOM];
    clattn_workload c;
    int bad = 0;
    p.n_mods = 1;
    p.mods = mods[0].mods;
    class_of(&c, &p);
    print(&c, &p, whole);
    const size_t n = strlen(whole);
    for (size_t room = 0; room <= n + 1; room++) {
        struct text to = { room ? part : NULL, room, 0 };
        memset(part, 'x', sizeof part);
        class_print(&c, &p, &to);
        bad += to.length != n || part[room] != 'x';
        bad += room && (strlen(part) != room - 1 || strncmp(part, whole, room - 1));
    }
    ok(!bad, "what does not fit is cut, and counted");
    c.problem.d = 0;
    print(&c, NULL, part);
    is_str(part, "", "what is no problem has no text");
}

/* ---- Neighbours ---- */

/* Features that b has and a has not; or other types and widths. */
static int gains(const clattn_problem *a, const clattn_problem *b)
{
    return b->type != a->type || (b->k_type != a->k_type && (a->k_type < CLATTN_INT8 || b->k_type != b->type)) ||
           (b->v_type != a->v_type && (a->v_type < CLATTN_INT8 || b->v_type != b->type)) ||
           (b->o_type != a->o_type && b->o_type != b->type) || (b->k_group && b->k_group != a->k_group) ||
           (b->v_group && b->v_group != a->v_group) || (b->page && b->page != a->page) ||
           (b->splits && b->splits != a->splits) || b->d != a->d || b->dv != a->dv || (b->flags & ~a->flags) ||
           b->causal > a->causal || (b->softcap > 0 && !(a->softcap > 0)) ||
           (b->bias_type && b->bias_type != a->bias_type);
}

static int is_plain(const clattn_problem *p)
{
    return !p->flags && !p->causal && !(p->softcap > 0) && !p->bias_type && !p->page && !p->splits &&
           p->o_type == p->type && p->k_type < CLATTN_INT8 && p->v_type < CLATTN_INT8;
}

/* Number 0 is the class itself; each is a class; features only ever go; in the end there are none. Returns how many. */
static size_t check_near(const clattn_workload *c, int *bad)
{
    enum { ENDLESS = 1000 };
    clattn_workload last = *c, now;
    char text[ROOM], first[ROOM], itself[ROOM];
    size_t n = 0;
    int good = 1;
    for (; n < ENDLESS && class_near(&now, c, n); n++) {
        print(&now, NULL, text);
        if (!n)
            memcpy(first, text, sizeof first);
        if (!is_class(&now) || gains(&last.problem, &now.problem)) {
            if (good && *bad < 3)
                diag("%s is no class, or has more than what came before", text);
            good = 0;
        }
        last = now;
    }
    print(c, NULL, itself);
    *bad += !good || !n || n == ENDLESS || strcmp(first, itself) || !is_plain(&last.problem);
    return n;
}

static void test_near(void)
{
    enum { MANY = 2000 };
    clattn_workload c, now;
    int bad = 0;
    size_t n = 0;
    for (int i = 0; i < MANY; i++) {
        const clattn_problem p = random_problem();
        class_of(&c, &p);
        n = check_near(&c, &bad);
    }
    ok(!bad, "neighbours are classes, the nearest have all features, the last have none");
    ok(!class_near(&now, &c, n) && !class_near(&now, &c, n + 1) && !class_near(&now, &c, SIZE_MAX), "there are %zu", n);
}

static int is_near(const char *class, const char *wanted)
{
    const clattn_problem p = problem(class);
    clattn_workload c, near;
    char text[ROOM] = "";
    class_of(&c, &p);
    for (size_t n = 0; class_near(&near, &c, n); n++) {
        print(&near, NULL, text);
        if (!strcmp(text, wanted))
            return 1;
    }
    return 0;
}

static void test_steps(void)
{
    static const char *const steps[][2] = {
        { "f16 b1 h8 q128 k4096 d64 causal", "f16 b1 h32 q128 k4096 d64 causal" },
        { "f16 b1 h8 q128 k4096 d64 causal", "f16 b1 h1 q128 k4096 d64 causal" },
        { "f16 b1 h8 q128 k4096 d64 causal", "f16 b1 h8 q1024 k4096 d64 causal" },
        { "f16 b1 h8 q128 k4096 d64 causal", "f16 b1 h8 q16 k4096 d64 causal" },
        { "f16 b1 h8 q128 k4096 d64 causal", "f16 b1 h8 q128 k16384 d64 causal" },
        { "f16 b1 h8 q128 k4096 d64 causal", "f16 b1 h8 q128 k1024 d64 causal" },
        { "f16 b1 h8 q128 k4096 d64 causal", "f16 b1 h8 q1024 k1024 d64 causal" },
        { "f16 b1 h8 q128 k4096 d64 causal", "f16 b1 h8 q128 k4096 d64" },
        { "f16 b1 h8 q128 k4096 d64 causal softcap30", "f16 b1 h8 q128 k4096 d64 causal" },
        { "f16 b1 h8 q128 k4096 d64 causal varlen", "f16 b1 h8 q128 k1024 d64 causal" },
        { "f16 b1 h8/2 q128 k4096 d64", "f16 b1 h32/8 q128 k4096 d64" },
        { "f16 b1 h8/2 q128 k4096 d64", "f16 b1 h8 q128 k4096 d64" },
        { "f16 b1 h8/1 q128 k4096 d64", "f16 b1 h32/4 q128 k4096 d64" },
        { "f16 b1 h32/4 q128 k4096 d64", "f16 b1 h8/1 q128 k4096 d64" },
        { "f16 b1 h8/1 q128 k4096 d64", "f16 b1 h8 q128 k4096 d64" },
        { "f16 b1 h8 q1 k4096 d64 causal page16", "f16 b1 h8 q1 k4096 d64 causal" },
        { "f16 b1 h8 q1 k4096 d64 page16 k:int8 v:q4_0", "f16 b1 h8 q1 k4096 d64 page16 k:int8 v:q4_0" },
        { "f16 b1 h8 q1 k4096 d64 page16 k:int8 v:q4_0", "f16 b1 h8 q1 k4096 d64 k:int8 v:q4_0" },
        { "f16 b1 h8 q1 k4096 d64 page16 k:int8 v:q4_0", "f16 b1 h32 q1 k4096 d64" },
        { "f32 b1 h8 q1 k4096 d64 page16 k:int8 v:q4_0", "f32 b1 h8 q1 k4096 d64" },
        { "f32 b1 h8 q1 k4096 d64 page16 k:f16 v:q4_0", "f32 b1 h8 q1 k4096 d64 k:f16" },
        { "f16 b1 h8 q1 k4096 d64 page16 k:int8:32z", "f16 b1 h8 q1 k4096 d64 page16 k:int8" },
        { "f16 b1 h8 q1 k4096 d64 softcap30 o:f32 splits8", "f16 b1 h8 q1 k4096 d64 softcap30" },
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        ok(is_near(steps[i][0], steps[i][1]), "%s is near %s", steps[i][1], steps[i][0]);
    ok(!is_near("f16 b1 h8 q128 k4096 d64", "f16 b1 h8 q128 k4096 d64 causal"), "features are never added");
}

/* ---- The common ones ---- */

static void test_common(void)
{
    clattn_workload c;
    size_t n = 0, distinct = 0, bad = 0;
    n_seen = 0;
    for (; n < SEEN_MAX && class_common(&c, n); n++) {
        char text[ROOM];
        print(&c, NULL, text);
        distinct += (size_t)add_seen(text);
        bad += !is_class(&c) || !reads_back(text);
    }
    ok(n > 0 && n < SEEN_MAX && distinct == n && !bad, "%zu common classes, distinct, readable", n);
    ok(!class_common(&c, n + 1) && !class_common(&c, SIZE_MAX), "and no more");
    ok(!add_seen("f16 b1 h32 q4096 k4096 d128 causal") && !add_seen("f16 b1 h32 q1 k4096 d128"),
       "prompts and decoding are among them");
    ok(!add_seen("f32 b1 h8 q1024 k1024 d64 bwd") && !add_seen("bf16 b1 h8 q1024 k1024 d128 causal bwd") &&
           !add_seen("f16 b1 h32/8 q4096 k4096 d128 causal bwd"),
       "and so is training, with keys of many heads too");
    ok(is_near("f16 b4 h16 q2048 k2048 d100 bwd", "f16 b1 h8 q1024 k1024 d128 bwd") &&
           is_near("f32 b2 h32/8 q700 k700 d64 causal bwd", "f32 b1 h8 q1024 k1024 d64 causal bwd") &&
           !is_near("f32 b1 h8 q1024 k1024 d64 bwd", "f32 b1 h8 q1024 k1024 d64"),
       "whose records serve gradients of other sizes, and no forward pass's does");
}

int main(void)
{
    test_all();
    test_longest();
    test_known();
    test_odd_sizes();
    test_bounds();
    test_alike();
    test_number();
    test_mods();
    test_mods_extremes();
    test_room();
    test_near();
    test_steps();
    test_common();
    return done_testing();
}
