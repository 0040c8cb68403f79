/* tile.c - choosing, reading and printing configurations, over devices that need not exist
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has some of the widths, and of engine cpu the neighbours of every third row; CLATTN_PART: the others. */
#include "config.h"

#include "src/engine/tile.h"
#include "tests/lib/deals.h"
#include "tests/lib/tap.h"
#include "src/base/text.h"

/* Devices from the smallest that OpenCL allows to large ones. */
static const struct {
    const char *name, *platform;
    enum caps_kind kind;
    uint64_t local_bytes;
    size_t max_group;
    unsigned width;
    bool fp64;
} devices[] = { { "small GPU", "Tiny", CAPS_GPU, 32768, 64, 1, false },
                { "common GPU", "Vendor", CAPS_GPU, 49152, 1024, 1, true },
                { "old GPU", "Vendor", CAPS_GPU, 32768, 256, 4, true },
                { "large GPU", "Vendor", CAPS_GPU, 1 << 18, 1024, 1, true },
                { "SSE CPU", "Portable Computing Language", CAPS_CPU, 1 << 18, 4096, 4, true },
                { "AVX-512 CPU", "Portable Computing Language", CAPS_CPU, 1 << 20, 8192, 16, true },
                { "CPU of large caches", "Portable Computing Language", CAPS_CPU, 1 << 21, 4096, 16, true },
                { "scalar CPU", "Vendor", CAPS_CPU, 32768, 1, 1, true },
                { "llvmpipe", "rusticl", CAPS_CPU, 32768, 1024, 4, true },
                { "accelerator", "Vendor", CAPS_ACCELERATOR, 32768, 256, 1, false },
                { "no local memory", "Vendor", CAPS_GPU, 0, 1, 1, true } };
enum { DEVICES = sizeof devices / sizeof *devices };

static void device(struct caps *c, int i)
{
    caps_generic(c);
    snprintf(c->platform, sizeof c->platform, "%s", devices[i].platform);
    c->kind = devices[i].kind;
    c->local_bytes = devices[i].local_bytes;
    c->max_group = devices[i].max_group;
    c->float_width = devices[i].width;
    c->fp64 = devices[i].fp64;
    c->quirk = caps_quirk(c->platform);
}

static clattn_problem problem(int type, int d, int dv, int64_t nq)
{
    clattn_problem in = CLATTN_PROBLEM_INIT, out;
    struct why why;
    in.type = type;
    in.d = d;
    in.dv = dv;
    in.sizes.b = in.sizes.h = 1;
    in.sizes.nq = nq;
    in.sizes.nk = 1000;
    if (problem_read(&out, &in, &why))
        bail("%s", why.text);
    return out;
}

static void print(const struct config *c, char *text, size_t len)
{
    struct text t = { text, len, 0 };
    tile_config_print(c, &t);
}

/* Every configuration offered can run, prints, reads back as itself, and comes once. Returns how many there are. */
static int check_list(const struct caps *caps, const clattn_problem *p, const char *what, int *bad)
{
    char seen[64][128];
    struct config c, again;
    struct why why;
    int n, i;
    for (n = 0; n < 64 && tile_config_at(&c, caps, p, NULL, (size_t)n); n++) {
        const int items = c.engine->items_per_group(c.engine, &c.tile);
        const int rows = c.engine->rows_per_group(c.engine, &c.tile, p);
        int good;
        print(&c, seen[n], sizeof seen[n]);
        good = !engine_fits(c.engine, &c.tile, caps, p, &why) && items >= 1 && (size_t)items <= caps->max_group &&
               rows >= 1 && !tile_config_read(&again, seen[n], caps, p, &why) && again.engine == c.engine &&
               !memcmp(&again.tile, &c.tile, sizeof c.tile);
        for (i = 0; i < n; i++)
            good = good && strcmp(seen[i], seen[n]);
        if (!good && (*bad)++ < 5)
            diag("%s: number %d, '%s'", what, n, seen[n]);
    }
    return n;
}

/* Every width has a default on every device, and the whole list is sound; of pairs of widths, a fifth. */
static void test_device(int i)
{
    static const int widths[] = { 1,   2,   3,   8,   16,  31,  32,  33,  59,  64,  65, 96,
                                  111, 128, 129, 160, 192, 255, 256, 257, 512, 575, 576 };
    enum { WIDTHS = sizeof widths / sizeof *widths };
    struct caps caps;
    int type, x, y, bad = 0, none = 0;
    device(&caps, i);
    for (type = CLATTN_F32; type <= CLATTN_F64; type++)
        for (x = 0; x < WIDTHS; x++)
            for (y = 0; y < WIDTHS; y++) {
                if (!harness_deals((unsigned)((type * WIDTHS + x) * WIDTHS + y), 5))
                    continue;
                const clattn_problem p = problem(type, widths[x], widths[y], (x + y) % 3 ? 100 : 1);
                char what[128];
                snprintf(what, sizeof what, "%s: %s d%d/%d", devices[i].name, problem_type_name(type), widths[x],
                         widths[y]);
                none += !check_list(&caps, &p, what, &bad);
            }
    ok(!bad, "%s: what is offered can run, comes once and reads back", devices[i].name);
    ok(!none, "%s: every width has a configuration", devices[i].name);
}

/* An engine by its name alone, and the default, are what the list begins with. */
static void test_defaults(int i)
{
    struct caps caps;
    struct config first, c;
    struct why why;
    char text[128];
    const clattn_problem p = problem(CLATTN_F32, 64, 64, 100);
    device(&caps, i);
    if (!tile_config_at(&first, &caps, &p, NULL, 0))
        bail("%s has no configuration", devices[i].name);
    ok(!tile_config_read(&c, NULL, &caps, &p, &why) && c.engine == first.engine &&
           !memcmp(&c.tile, &first.tile, sizeof c.tile),
       "%s: NULL is the first", devices[i].name);
    ok(!tile_config_read(&c, first.engine->name, &caps, &p, &why) && c.engine == first.engine &&
           !memcmp(&c.tile, &first.tile, sizeof c.tile),
       "%s: so is its engine's name", devices[i].name);
    print(&first, text, sizeof text);
    ok(strchr(text, ' ') && !strncmp(text, first.engine->name, strlen(first.engine->name)), "%s: %s", devices[i].name,
       text);
    if (caps.kind == CAPS_CPU || caps.local_bytes)
        ok((strcmp(first.engine->name, "cpu") == 0) == (caps.kind == CAPS_CPU && !caps.quirk->compiles_vectors_slowly),
           "%s: a CPU takes the cpu engine, others do not", devices[i].name);
}

/* What rows are meant for: the first tile by platform, sub-groups, query rows and mask. */
static void test_first(void)
{
    static const struct {
        const char *platform;
        enum caps_kind kind;
        unsigned width;
        int sub_group, d, nq, causal;
        const char *first;
        int type;
        uint32_t flags;
    } rows[] = {
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 64, 1000, 0, "simt tx8,ty16,tm8,tn8,ch8,cv8,qres0", 0, 0 },
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 64, 16, 0, "simt tx16,ty8,tm4,tn4,ch16,cv16,qres0", 0, 0 },
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 64, 32, 0, "simt tx8,ty8,tm4,tn4,ch8,cv8,qres0", 0, 0 },
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 128, 16, 0, "simt tx16,ty4,tm4,tn4,ch16,cv16,qres0", 0, 0 },
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 128, 17, 0, "simt tx16,ty8,tm8,tn8,ch8,cv8,qres0", 0, 0 },
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 128, 1000, 0, "simt tx16,ty8,tm8,tn8,ch8,cv8,qres0", 0, 0 },
        { "Intel(R) OpenCL Graphics", CAPS_GPU, 1, 16, 64, 1000, 0, "simt tx16,ty8,tm8,tn8,ch8,cv16,qres0", 0, 0 },
        { "Intel(R) OpenCL Graphics", CAPS_GPU, 1, 16, 128, 16, 0, "simt tx16,ty4,tm4,tn4,ch16,cv16,qres0", 0, 0 },
        { "Intel(R) OpenCL Graphics", CAPS_GPU, 1, 16, 128, 1000, 0, "simt tx16,ty8,tm8,tn8,ch8,cv8,qres0", 0, 0 },
        { "Intel(R) OpenCL HD Graphics", CAPS_GPU, 1, 8, 128, 1000, 0, "simt tx16,ty8,tm8,tn8,ch8,cv8,qres0", 0, 0 },
        { "Intel(R) OpenCL HD Graphics", CAPS_GPU, 1, 0, 64, 1000, 0, "simt tx16,ty4,tm4,tn4,ch8,cv4,qres0", 0, 0 },
        { "QUALCOMM Snapdragon(TM)", CAPS_GPU, 1, 0, 64, 1000, 0, "simt tx16,ty4,tm4,tn4,ch8,cv4,qres0", 0, 0 },
        { "QUALCOMM Snapdragon(TM)", CAPS_GPU, 1, 0, 64, 32, 0, "simt tx8,ty8,tm4,tn4,ch8,cv8,qres0", 0, 0 },
        { "QUALCOMM Snapdragon(TM)", CAPS_GPU, 1, 0, 128, 16, 0, "simt tx16,ty4,tm4,tn4,ch8,cv4,qres0", 0, 0 },
        { "QUALCOMM Snapdragon(TM)", CAPS_GPU, 1, 0, 128, 1000, 0, "simt tx16,ty4,tm4,tn4,ch8,cv4,qres0", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 128, 0, "cpu w16,nv4,rk6,rd6,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 128, 1, "cpu w16,nv2,rk8,rd8,bk32", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 129, 1, "cpu w16,nv4,rk6,rd6,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 128, 129, 0, "cpu w16,nv4,rk6,rd6,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 129, 0, "cpu w16,nv4,rk6,rd6,bk32", CLATTN_BF16, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 16, 1, "cpu w16,nv1,rk8,rd8,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 8, 0, 64, 128, 1, "cpu w8,nv3,rk4,rd4,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 32, 0, "cpu w16,nv2,rk8,rd8,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 9, 0, "cpu w16,nv1,rk8,rd8,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 8, 0, "row w16,nr8,rk2,rd2,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 4, 1, "row w16,nr4,rk4,rd4,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 576, 1, 0, "row w16,nr1,rk8,rd8,bk64", CLATTN_BF16, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 4, 0, "row w8,nr4,rk4,rd4,bk64", CLATTN_F64, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 5, 0, "cpu w8,nv1,rk8,rd8,bk64", CLATTN_F64, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 15, 2, 0, "row w16,nr2,rk4,rd4,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 1, 2, 0, "row w16,nr2,rk4,rd4,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 8, 0, 512, 128, 0, "cpu w8,nv3,rk4,rd4,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 8, 0, 64, 16, 0, "cpu w8,nv2,rk6,rd6,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 8, 0, 64, 5, 0, "cpu w8,nv1,rk8,rd8,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 8, 0, 64, 4, 0, "row w8,nr4,rk2,rd2,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 4, 0, 64, 2, 0, "row w4,nr2,rk4,rd4,bk64", 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 4, 0, 64, 3, 0, "cpu w4,nv1,rk8,rd8,bk64", 0, 0 },
        { "Intel(R) OpenCL HD Graphics", CAPS_GPU, 1, 0, 64, 1, 0, "simt tx8,ty8,tm4,tn4,ch8,cv8,qres0", 0, 0 },
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 64, 1000, 0, "simt tx16,ty8,tm4,tn8,ch8,cv8,qres0", 0, CLATTN_BACKWARD },
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 64, 1000, 0,
          "simt tx8,ty16,tm4,tn4,ch8,cv4,qres0", 0, CLATTN_BACKWARD | CLATTN_ALIBI },
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 128, 1000, 0, "simt tx16,ty8,tm4,tn4,ch8,cv8,qres0", 0, CLATTN_BACKWARD },
        { "NVIDIA CUDA", CAPS_GPU, 1, 0, 256, 1000, 0, "simt tx32,ty8,tm4,tn4,ch8,cv2,qres0", 0, CLATTN_BACKWARD },
        { "Intel(R) OpenCL Graphics", CAPS_GPU, 1, 16, 128, 1000, 0,
          "simt tx16,ty8,tm4,tn8,ch8,cv8,qres0", 0, CLATTN_BACKWARD },
        { "Intel(R) OpenCL Graphics", CAPS_GPU, 1, 16, 128, 1000, 0,
          "simt tx32,ty8,tm4,tn4,ch8,cv4,qres0", 0, CLATTN_BACKWARD | CLATTN_ALIBI },
        { "Intel(R) OpenCL Graphics", CAPS_GPU, 1, 16, 64, 1000, 0,
          "simt tx16,ty8,tm4,tn8,ch8,cv8,qres0", 0, CLATTN_BACKWARD },
        { "Intel(R) OpenCL Graphics", CAPS_GPU, 1, 16, 64, 1000, 0,
          "simt tx16,ty8,tm4,tn4,ch8,cv8,qres0", 0, CLATTN_BACKWARD | CLATTN_ALIBI },
        { "Intel(R) OpenCL Graphics", CAPS_GPU, 1, 8, 128, 1000, 0,
          "simt tx16,ty8,tm4,tn4,ch8,cv8,qres0", 0, CLATTN_BACKWARD },
        { "Portable Computing Language", CAPS_CPU, 16, 0, 64, 1000, 0, "cpu w16,nv4,rk6,rd4,bk48", 0, CLATTN_BACKWARD },
        { "Portable Computing Language", CAPS_CPU, 8, 0, 64, 1000, 0, "cpu w8,nv3,rk4,rd4,bk48", 0, CLATTN_BACKWARD },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int type = rows[i].type ? rows[i].type : CLATTN_F32;
        clattn_problem p = problem(type, rows[i].d, rows[i].d, rows[i].nq);
        struct caps caps;
        struct config c;
        char text[128] = "";
        caps_generic(&caps);
        caps.kind = rows[i].kind;
        caps.float_width = rows[i].width;
        caps.sub_group = rows[i].sub_group;
        caps.quirk = caps_quirk(rows[i].platform);
        p.causal = rows[i].causal;
        p.flags = rows[i].flags;
        if (tile_config_at(&c, &caps, &p, NULL, 0))
            print(&c, text, sizeof text);
        is_str(text, rows[i].first, "%s, sub-groups %d, %s, d %d, %d rows, causal %d, flags %u", rows[i].platform,
               rows[i].sub_group, problem_type_name(type), rows[i].d, rows[i].nq, rows[i].causal,
               (unsigned)rows[i].flags);
    }
}

/* Text that is no configuration, or one that cannot run: refused with words, for every engine. */
static void test_refusals(void)
{
    static const char *const bad[] = { "nonsense",
                                       "simtx",
                                       "SIMT",
                                       " simt",
                                       "simt  ",
                                       "simt x",
                                       "simt tx8",
                                       "cpu w16",
                                       "naive wg32",
                                       "naive wg32,bk8,",
                                       "naive wg32,bk8 ",
                                       "naive bk8,wg32",
                                       "naive wg-1,bk8",
                                       "naive wg32,bk",
                                       "naive wg99999999999999999999,bk8",
                                       "naive wg32,bk0x8",
                                       "naive wg0,bk8",
                                       "naive wg32,bk0",
                                       "naive wg2147483648,bk8",
                                       "cpu w3,nv1,rk1,rd1,bk1",
                                       "cpu w0,nv0,rk0,rd0,bk0",
                                       "cpu w16,nv99,rk4,rd4,bk64",
                                       "row w32,nr1,rk4,rd4,bk64",
                                       "row w16,nr0,rk4,rd4,bk64",
                                       "row w16,nr17,rk4,rd4,bk64",
                                       "row w16,nr1,rk6,rd4,bk64",
                                       "row w16,nr1,rk32,rd4,bk64",
                                       "row w16,nr1,rk4,rd0,bk64",
                                       "row w16,nr1,rk4,rd4,bk40",
                                       "simt tx8,ty8,tm3,tn4,ch8,cv8,qres0",
                                       "simt tx8,ty8,tm4,tn4,ch8,cv0,qres0",
                                       "simt tx8,ty8,tm4,tn4,ch8,cv3,qres0",
                                       "simt tx24,ty1,tm4,tn8,ch4,cv24,qres0",
                                       "simt tx64,ty64,tm16,tn16,ch64,cv64,qres1",
                                       "simt tx0,ty8,tm4,tn4,ch8,cv8,qres0" };
    struct caps caps;
    struct config c;
    size_t i;
    const clattn_problem p = problem(CLATTN_F32, 64, 64, 100);
    caps_generic(&caps);
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct why why = { "" };
        const cl_int e = tile_config_read(&c, bad[i], &caps, &p, &why);
        ok((e == CLATTN_ERROR_SYNTAX || e == CLATTN_ERROR_NOT_SUPPORTED) && *why.text, "'%s' is refused: %s", bad[i],
           why.text);
    }
}

/* A number of six digits is none; one of five is a number that nothing can run. */
static void test_numbers(void)
{
    const clattn_problem p = problem(CLATTN_F32, 64, 64, 100);
    struct caps caps;
    struct config c;
    struct why why;
    caps_generic(&caps);
    is_int(tile_config_read(&c, "naive wg99999,bk8", &caps, &p, &why), CLATTN_ERROR_NOT_SUPPORTED,
           "five digits: %s", why.text);
    is_int(tile_config_read(&c, "naive wg100000,bk8", &caps, &p, &why), CLATTN_ERROR_SYNTAX, "six: %s", why.text);
}

/* Whether a configuration is that of a row for such widths. */
static int is_wide_enough(const struct config *c, const clattn_problem *p)
{
    for (const struct row *r = c->engine->rows; r->widest; r++) {
        struct tile t = r->tile;
        if (!c->engine->width && !t.n[0])
            t.n[0] = c->tile.n[0];
        if (!memcmp(&t, &c->tile, sizeof t) && p->d <= r->widest && p->dv <= r->widest)
            return 1;
    }
    return 0;
}

/* Both widths count, wherever one is the larger. */
static void test_widths(void)
{
    static const int widths[][2] = { { 300, 16 }, { 16, 300 }, { 97, 64 }, { 64, 97 }, { 576, 1 }, { 1, 576 } };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (int k = 0; k < DEVICES; k++) {
            const clattn_problem p = problem(CLATTN_F32, widths[i][0], widths[i][1], 500);
            struct caps caps;
            struct config c;
            int n = 0, narrow = 0;
            device(&caps, k);
            for (; tile_config_at(&c, &caps, &p, NULL, (size_t)n); n++)
                narrow += !is_wide_enough(&c, &p);
            ok(n && !narrow, "d %d and dv %d on %s: %d rows for both", (int)p.d, (int)p.dv, devices[k].name, n);
        }
}

/* Matrix units hold rows of 256 at most, whatever the tile. */
static void test_matrix_widths(void)
{
    static const int widths[][2] = { { 256, 256 }, { 257, 256 }, { 256, 257 } };
    struct config c;
    struct caps caps;
    struct why why;
    caps_generic(&caps);
    caps.local_bytes = 1 << 20;
    for (int i = 0; i < 3; i++) {
        const clattn_problem p = problem(CLATTN_F16, widths[i][0], widths[i][1], 500);
        is_int(tile_config_read(&c, "mma_nv nw4,rt1,bk16,qreg0", &caps, &p, &why),
               i ? CLATTN_ERROR_NOT_SUPPORTED : CL_SUCCESS, "matrix units for d %d and dv %d", (int)p.d, (int)p.dv);
    }
}

/* The shortest vectors that are tried have 16 bytes, whatever the device's are. */
static void test_lanes(const char *engine)
{
    const struct engine *const e = engine_find(engine, strlen(engine));
    for (int type = CLATTN_F32; type <= CLATTN_F64; type += CLATTN_F64 - CLATTN_F32) {
        const clattn_problem p = problem(type, 64, 64, 500);
        struct caps caps;
        struct config c;
        int least = 99;
        device(&caps, 4);
        for (size_t at = 0; tile_space_next(&c, &caps, &p, e, &at);)
            least = c.tile.n[0] < least ? c.tile.n[0] : least;
        is_int(least, type == CLATTN_F64 ? 2 : 4, "engine %s tries so many lanes at least in %s", engine,
               problem_type_name(type));
    }
}

/* The place of a value in a list, twice over; odd: between two, or beyond. */
static int place_of(const struct values *v, int x)
{
    int at = -1;
    for (int i = 0; i < v->n; i++)
        at += v->at[i] < x ? 2 : v->at[i] == x ? 1 : 0;
    return at;
}

/* Whether two tiles differ in one number, in which one has the value next to the other's. */
static int is_step(const struct config *a, const struct config *b)
{
    int differ = 0, next = 0;
    for (int i = 0; a->engine->numbers[i].name; i++)
        if (a->tile.n[i] != b->tile.n[i]) {
            const int from = place_of(&a->engine->numbers[i].values, a->tile.n[i]),
                      to = place_of(&a->engine->numbers[i].values, b->tile.n[i]);
            differ++;
            next = to % 2 == 0 && (from - to == 2 || to - from == 2 || from - to == 1 || to - from == 1);
        }
    return differ == 1 && next;
}

/* Neighbours of every step-th row: each a step away, once, and known as one; every step that can be tried is there. */
static void test_neighbours(const char *engine, size_t step)
{
    const struct engine *const e = engine_find(engine, strlen(engine));
    const clattn_problem p = problem(CLATTN_F32, 64, 64, 500);
    struct config from, to, again, any;
    struct caps caps;
    int far = 0, same = 0, twice = 0, missed = 0, n = 0;
    device(&caps, 5);
    for (size_t r = 0; tile_config_at(&from, &caps, &p, e, r); r += step) {
        for (size_t i = 0; tile_neighbour_at(&to, &caps, &p, &from, i); i++, n++) {
            far += !is_step(&from, &to) || !tile_is_neighbour(&from, &to);
            same += tile_is_same(&from, &to);
            for (size_t k = 0; k < i && tile_neighbour_at(&again, &caps, &p, &from, k); k++)
                twice += tile_is_same(&again, &to);
        }
        for (size_t at = 0; tile_space_next(&any, &caps, &p, e, &at);) {
            int found = 0;
            for (size_t k = 0; is_step(&from, &any) && tile_neighbour_at(&to, &caps, &p, &from, k); k++)
                found += tile_is_same(&any, &to);
            missed += is_step(&from, &any) && !found;
            far += !is_step(&from, &any) && tile_is_neighbour(&from, &any);
        }
    }
    ok(n >= 5 && !far && !same && !twice && !missed, "engine %s: %d neighbours of its rows; %d no step away, %d missed",
       engine, n, far, missed);
}

/* Refusals for want of local memory say how much is there: a promise of the design. */
static void test_words(void)
{
    struct caps caps;
    struct config c;
    struct why why = { "" };
    const clattn_problem p = problem(CLATTN_F32, 576, 576, 100);
    caps_generic(&caps);
    caps.max_group = 4096;
    ok(tile_config_read(&c, "simt tx32,ty32,tm8,tn8,ch16,cv8,qres1", &caps, &p, &why) == CLATTN_ERROR_NOT_SUPPORTED &&
           strstr(why.text, "local memory") && strstr(why.text, "48"),
       "too much local memory: %s", why.text);
}

/* Work-items of a CPU share a stack, whatever its caches hold. */
static void test_stack(void)
{
    static const char *const deep[] = { "simt tx32,ty16,tm8,tn8,ch16,cv16,qres0",
                                        "simt tx64,ty64,tm4,tn4,ch4,cv4,qres0",
                                        "simt tx8,ty8,tm16,tn16,ch4,cv4,qres0" };
    const clattn_problem p = problem(CLATTN_F32, 576, 576, 100);
    struct caps caps;
    struct config c;
    caps_generic(&caps);
    caps.max_group = 4096;
    caps.local_bytes = 1 << 21;
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        struct why why = { "" };
        caps.kind = CAPS_GPU;
        ok(!tile_config_read(&c, deep[i], &caps, &p, &why), "a GPU may take %s: %s", deep[i], why.text);
        caps.kind = CAPS_CPU;
        ok(tile_config_read(&c, deep[i], &caps, &p, &why) == CLATTN_ERROR_NOT_SUPPORTED &&
               strstr(why.text, "private memory"),
           "a CPU may not: %s", why.text);
    }
}

static const char *first(const struct caps *c, const clattn_problem *p, char *text, size_t len)
{
    struct config config;
    if (!tile_config_at(&config, c, p, NULL, 0))
        return "none";
    print(&config, text, len);
    return text;
}

/* Engines stand in a line, whatever the device: each of them once, the best first, and what runs anywhere last. */
static void test_ranks(void)
{
    static const enum caps_kind kinds[] = { CAPS_CPU, CAPS_GPU };
    const clattn_problem p = problem(CLATTN_F16, 64, 64, 1000);
    for (int i = 0; i < 2; i++) {
        struct caps c;
        size_t ranked = 0, meant = 0;
        caps_generic(&c);
        c.kind = kinds[i];
        for (size_t e = 0; engine_at(e); e++) {
            const struct engine *const engine = engine_at(e);
            meant += engine->rank && engine_verdict(engine, &c) == CAPS_PASSED && engine->rank(&c, &p);
        }
        while (engine_ranked(&c, &p, ranked))
            ranked++;
        ok(ranked == meant && engine_ranked(&c, &p, ranked - 1) == engine_last_resort(&c, &p), "%d engines in a line",
           (int)ranked);
        is_str(engine_last_resort(&c, &p)->name, "naive", "the last resort");
    }
}

/* Matrix units: by name where the device has them, by itself where they have passed their test. */
static void test_matrix(void)
{
    static const struct {
        int type, cc, matrix;
        const char *by_name, *by_itself; /* engines, or "" */
    } rows[] = {
        { CLATTN_F16, 0, CAPS_UNTESTED, "", "simt" },         { CLATTN_F16, 70, CAPS_PASSED, "", "simt" },
        { CLATTN_F16, 75, CAPS_UNTESTED, "mma_nv", "simt" },  { CLATTN_F16, 75, CAPS_PASSED, "mma_nv", "mma_nv" },
        { CLATTN_F16, 75, CAPS_FAILED, "", "simt" },          { CLATTN_BF16, 75, CAPS_PASSED, "", "simt" },
        { CLATTN_BF16, 80, CAPS_PASSED, "mma_nv", "mma_nv" }, { CLATTN_BF16, 120, CAPS_FAILED, "", "simt" },
        { CLATTN_F32, 90, CAPS_PASSED, "", "simt" },          { CLATTN_F64, 90, CAPS_PASSED, "", "simt" }
    };
    struct why why;
    struct caps c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const clattn_problem p = problem(rows[i].type, 64, 64, 1000);
        struct config config = { .engine = NULL };
        char text[128];
        caps_generic(&c);
        c.nv_cc = rows[i].cc;
        engine_set_verdict(engine_find("mma_nv", 6), &c, rows[i].matrix);
        const cl_int status = tile_config_read(&config, "mma_nv", &c, &p, &why);
        ok(*rows[i].by_name ? !status : status == CLATTN_ERROR_NOT_SUPPORTED,
           "%s, capability %d, verdict %d: mma_nv is %s", problem_type_name(rows[i].type), rows[i].cc, rows[i].matrix,
           status ? why.text : "taken");
        ok(!strncmp(first(&c, &p, text, sizeof text), rows[i].by_itself, strlen(rows[i].by_itself)), "first is %s",
           text);
    }
}

/* Rows of Q have no registers on gfx11 where rows of Q or V are wide, and beside a mask. */
static void test_gfx11(void)
{
    static const struct {
        int32_t d, dv, flags;
        const char *gfx12, *gfx11;
    } rows[] = {
        { 64, 64, 0, "wmma nw4,rt1,bk64,qreg1", "wmma nw4,rt1,bk64,qreg1" },
        { 64, 64, CLATTN_MASK, "wmma nw4,rt1,bk64,qreg1", "wmma nw4,rt1,bk64,qreg0" },
        { 128, 128, 0, "wmma nw4,rt1,bk64,qreg1", "wmma nw4,rt1,bk32,qreg0" },
        { 64, 128, 0, "wmma nw4,rt1,bk64,qreg1", "wmma nw4,rt1,bk32,qreg0" },
        { 128, 64, 0, "wmma nw4,rt1,bk64,qreg1", "wmma nw4,rt1,bk32,qreg0" },
    };
    struct caps c;
    char text[128];
    caps_generic(&c);
    engine_set_verdict(engine_find("wmma", 4), &c, CAPS_PASSED);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_problem p = problem(CLATTN_F16, rows[i].d, rows[i].dv, 1000);
        p.flags |= rows[i].flags;
        c.gfx = 0x1201;
        is_str(first(&c, &p, text, sizeof text), rows[i].gfx12, "gfx12, d%d/%d", (int)p.d, (int)p.dv);
        c.gfx = 0x1100;
        is_str(first(&c, &p, text, sizeof text), rows[i].gfx11, "gfx11, d%d/%d", (int)p.d, (int)p.dv);
    }
}

/* AMD's, by the GPU's number: the next engine where it has none, where it failed its test, where nobody knows it. */
static void test_amd(void)
{
    static const struct {
        int type, gfx, verdict;
        const char *engine, *first; /* asked for, and what is taken by itself */
    } rows[] = {
        { CLATTN_F16, 0x942, CAPS_PASSED, "mfma", "mfma nw4,rt4,bk32,qreg1" },
        { CLATTN_BF16, 0x908, CAPS_PASSED, "mfma", "mfma " },
        { CLATTN_BF16, 0x90a, CAPS_PASSED, "mfma", "mfma " },
        { CLATTN_F16, 0x90a, CAPS_PASSED, "", "simt " },
        { CLATTN_F16, 0x950, CAPS_PASSED, "mfma", "mfma " },
        { CLATTN_F16, 0x942, CAPS_UNTESTED, "mfma", "simt " },
        { CLATTN_F16, 0x942, CAPS_FAILED, "", "simt " },
        { CLATTN_F32, 0x942, CAPS_PASSED, "", "simt " },
        { CLATTN_F16, 0x906, CAPS_PASSED, "", "simt " },
        { CLATTN_F16, 0x1250, CAPS_PASSED, "", "simt " },
        { CLATTN_F16, 0x1100, CAPS_PASSED, "wmma", "wmma nw4,rt1,bk64,qreg1" },
        { CLATTN_BF16, 0x1151, CAPS_PASSED, "wmma", "wmma " },
        { CLATTN_F16, 0x1170, CAPS_PASSED, "wmma", "wmma " },
        { CLATTN_F16, 0x1201, CAPS_FAILED, "", "simt " },
        { CLATTN_F16, 0x1030, CAPS_PASSED, "", "simt " },
        { CLATTN_F16, 0x1300, CAPS_PASSED, "", "simt " },
        { CLATTN_F16, 0, CAPS_PASSED, "", "simt " },
    };
    static const char *const names[] = { "mfma", "wmma" };
    struct caps c;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const clattn_problem p = problem(rows[i].type, 64, 64, 1000);
        char text[128];
        caps_generic(&c);
        c.nv_cc = 0;
        c.gfx = rows[i].gfx;
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            struct config config = { .engine = NULL };
            struct why why = { "" };
            engine_set_verdict(engine_find(names[n], 4), &c, rows[i].verdict);
            const cl_int status = tile_config_read(&config, names[n], &c, &p, &why);
            ok(strcmp(rows[i].engine, names[n]) ? status == CLATTN_ERROR_NOT_SUPPORTED && *why.text : !status,
               "%s, gfx%x, verdict %d: %s is %s", problem_type_name(rows[i].type), (unsigned)rows[i].gfx,
               rows[i].verdict, names[n], status ? why.text : "taken");
        }
        ok(!strncmp(first(&c, &p, text, sizeof text), rows[i].first, strlen(rows[i].first)), "first is %s", text);
    }
    test_gfx11();
}

/* A GPU of Intel's with the least local memory that those with matrix units have, and a verdict on its engines. */
static void intel(struct caps *c, int sub_group, int verdict)
{
    caps_generic(c);
    c->any = false;
    c->nv_cc = c->gfx = 0;
    c->local_bytes = 1 << 16;
    c->sub_group = sub_group;
    engine_set_verdict(engine_find("dpas", 4), c, verdict);
    engine_set_verdict(engine_find("dpas8", 5), c, verdict);
}

/* What Intel's GPUs begin with: registers are full of a wide tile, or of Q, and of sums of wide rows. */
static void test_intel_tiles(void)
{
    static const struct {
        int32_t d, dv, flags, bias;
        double softcap, dropout;
        const char *of_16, *of_8;
    } rows[] = {
        { 64, 64, 0, 0, 0, 0, "dpas nw8,rt1,bk64,qreg0", "dpas8 nw8,rt1,bk32,qreg1" },
        { 16, 40, 0, 0, 0, 0, "dpas nw8,rt1,bk64,qreg0", "dpas8 nw8,rt1,bk32,qreg1" },
        { 64, 64, CLATTN_MASK, 0, 0, 0, "dpas nw8,rt1,bk32,qreg1", "dpas8 nw8,rt1,bk32,qreg1" },
        { 64, 64, 0, 0, 5, 0, "dpas nw8,rt1,bk32,qreg1", "dpas8 nw8,rt1,bk32,qreg1" },
        { 64, 64, 0, 0, 0, 0.1, "dpas nw8,rt1,bk32,qreg1", "dpas8 nw8,rt1,bk32,qreg1" },
        { 64, 64, 0, CLATTN_F32, 0, 0, "dpas nw8,rt1,bk32,qreg1", "dpas8 nw8,rt1,bk32,qreg0" },
        { 128, 128, 0, 0, 0, 0, "dpas nw8,rt1,bk32,qreg0", "dpas8 nw8,rt1,bk16,qreg0" },
        { 64, 128, 0, 0, 0, 0, "dpas nw8,rt1,bk32,qreg0", "dpas8 nw8,rt1,bk16,qreg0" },
        { 65, 64, 0, 0, 0, 0, "dpas nw8,rt1,bk32,qreg0", "dpas8 nw8,rt1,bk16,qreg0" },
        { 128, 128, 0, 0, 5, 0, "dpas nw8,rt1,bk16,qreg0", "dpas8 nw8,rt1,bk16,qreg0" },
        { 128, 128, CLATTN_MASK, 0, 0, 0, "dpas nw8,rt1,bk16,qreg0", "dpas8 nw8,rt1,bk16,qreg0" },
        { 64, 128, 0, CLATTN_F32, 0, 0, "dpas nw8,rt1,bk16,qreg0", "dpas8 nw8,rt1,bk16,qreg0" },
        { 128, 64, 0, 0, 0, 0.1, "dpas nw8,rt1,bk16,qreg0", "dpas8 nw8,rt1,bk16,qreg0" },
        { 128, 129, 0, 0, 0, 0, "dpas nw8,rt1,bk16,qreg0", "simt " },
        { 256, 256, 0, 0, 5, 0.1, "dpas nw8,rt1,bk16,qreg0", "simt " },
        { 256, 64, CLATTN_MASK, 0, 0, 0, "simt ", "simt " },
        { 64, 129, 0, CLATTN_F32, 0, 0, "simt ", "simt " },
        { 64, 64, CLATTN_BACKWARD, 0, 0, 0, "dpas nw4,rt1,bk16,qreg0", "dpas8 nw8,rt1,bk16,qreg0" },
        { 64, 64, CLATTN_BACKWARD, CLATTN_F32, 0, 0.1, "dpas nw4,rt1,bk16,qreg0", "dpas8 nw8,rt1,bk16,qreg0" },
        { 64, 65, CLATTN_BACKWARD, 0, 0, 0, "simt ", "simt " },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int lanes = 8; lanes <= 16; lanes *= 2) {
            const char *const want = lanes == 8 ? rows[i].of_8 : rows[i].of_16;
            clattn_problem p = problem(CLATTN_F16, rows[i].d, rows[i].dv, 1000);
            struct caps c;
            char text[128];
            p.flags |= rows[i].flags;
            p.bias_type = rows[i].bias;
            p.softcap = rows[i].softcap;
            p.dropout_p = rows[i].dropout;
            intel(&c, lanes, CAPS_PASSED);
            first(&c, &p, text, sizeof text);
            ok(!strncmp(text, want, strlen(want)), "sub-groups of %d, d%d/%d, row %d: %s", lanes, (int)p.d, (int)p.dv,
               (int)i, text);
        }
}

/* A refusal says what it is for: registers, widths, types or the device. */
static void test_intel_refusals(void)
{
    static const struct {
        const char *config;
        int lanes, k_type;
        int32_t d, flags, bias;
        double dropout;
        const char *words; /* of the refusal, NULL for none */
    } rows[] = {
        { "dpas nw8,rt1,bk64,qreg0", 16, CLATTN_F16, 64, 0, 0, 0.1, "dropout" },
        { "dpas nw8,rt1,bk32,qreg0", 16, CLATTN_F16, 64, 0, 0, 0.1, NULL },
        { "dpas nw8,rt1,bk64,qreg0", 16, CLATTN_F16, 64, 0, 0, 0, NULL },
        { "dpas nw8,rt1,bk32,qreg0", 16, CLATTN_F16, 128, CLATTN_MASK, 0, 0, "a mask" },
        { "dpas nw8,rt1,bk32,qreg0", 16, CLATTN_F16, 128, 0, CLATTN_F32, 0, "a bias" },
        { "dpas nw8,rt1,bk32,qreg0", 16, CLATTN_F16, 128, 0, 0, 0.1, "dropout" },
        { "dpas nw8,rt1,bk32,qreg0", 16, CLATTN_F16, 128, 0, 0, 0, NULL },
        { "dpas nw8,rt1,bk16,qreg0", 16, CLATTN_F16, 128, CLATTN_MASK, CLATTN_F32, 0.1, NULL },
        { "dpas nw8,rt1,bk32,qreg1", 16, CLATTN_F16, 64, 0, CLATTN_F32, 0, NULL },
        { "dpas8 nw8,rt1,bk32,qreg1", 8, CLATTN_F16, 64, 0, CLATTN_F32, 0, "bias" },
        { "dpas8 nw8,rt1,bk32,qreg0", 8, CLATTN_F16, 64, 0, CLATTN_F32, 0, NULL },
        { "dpas8 nw8,rt1,bk32,qreg1", 8, CLATTN_F16, 64, 0, 0, 0, NULL },
        { "dpas8 nw8,rt1,bk64,qreg0", 8, CLATTN_F16, 64, 0, 0, 0.1, NULL },
        { "dpas nw8,rt1,bk24,qreg0", 16, CLATTN_F16, 64, 0, 0, 0, "multiple of 16" },
        { "dpas8 nw8,rt1,bk24,qreg0", 8, CLATTN_F16, 64, 0, 0, 0, "multiple of 16" },
        { "dpas", 16, CLATTN_F16, 128, 0, 0, 0, NULL },
        { "dpas8", 8, CLATTN_F16, 128, 0, 0, 0, NULL },
        { "dpas", 16, CLATTN_F16, 256, 0, 0, 0, NULL },
        { "dpas8", 8, CLATTN_F16, 256, 0, 0, 0, "no tile" },
        { "dpas8 nw8,rt1,bk16,qreg0", 8, CLATTN_F16, 256, 0, 0, 0, NULL },
        { "dpas nw3,rt1,bk16,qreg0", 16, CLATTN_F16, 129, 0, 0, 0, "two share rows" },
        { "dpas8 nw1,rt1,bk16,qreg0", 8, CLATTN_F16, 256, 0, 0, 0, "two share rows" },
        { "dpas nw3,rt1,bk16,qreg0", 16, CLATTN_F16, 128, 0, 0, 0, NULL },
        { "dpas nw8,rt1,bk16,qreg0", 16, CLATTN_F16, 129, CLATTN_MASK, 0, 0, "a mask" },
        { "dpas8 nw8,rt1,bk16,qreg0", 8, CLATTN_F16, 129, 0, CLATTN_F32, 0, "a bias" },
        { "dpas nw8,rt1,bk16,qreg0", 16, CLATTN_F16, 257, 0, 0, 0, "at most 256" },
        { "dpas8 nw8,rt1,bk16,qreg0", 8, CLATTN_F16, 257, 0, 0, 0, "at most 256" },
        { "dpas", 16, CLATTN_F16, 128, CLATTN_BACKWARD, 0, 0, "no tile" },
        { "dpas8 nw8,rt1,bk16,qreg0", 8, CLATTN_F16, 129, CLATTN_BACKWARD, 0, 0, "at most 128" },
        { "dpas", 16, CLATTN_INT8, 64, 0, 0, 0, "alike" },
        { "dpas8", 8, CLATTN_BF16, 64, 0, 0, 0, "alike" },
        { "dpas", 8, CLATTN_F16, 64, 0, 0, 0, "sub-groups have 16" },
        { "dpas8", 16, CLATTN_F16, 64, 0, 0, 0, "sub-groups have 8" },
        { "dpas", 0, CLATTN_F16, 64, 0, 0, 0, "sub-groups have 16" },
        { "dpas8", 0, CLATTN_F16, 64, 0, 0, 0, "sub-groups have 8" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_problem p = problem(CLATTN_F16, rows[i].d, rows[i].d, 1000);
        struct config config;
        struct caps c;
        struct why why = { "" };
        p.flags |= rows[i].flags;
        p.k_type = rows[i].k_type;
        p.bias_type = rows[i].bias;
        p.dropout_p = rows[i].dropout;
        intel(&c, rows[i].lanes, CAPS_PASSED);
        const cl_int status = tile_config_read(&config, rows[i].config, &c, &p, &why);
        ok(rows[i].words ? status == CLATTN_ERROR_NOT_SUPPORTED && strstr(why.text, rows[i].words) : !status,
           "%s in sub-groups of %d, row %d, is %s", rows[i].config, rows[i].lanes, (int)i, status ? why.text : "taken");
    }
}

/* Intel's, by how many items the device's shortest sub-groups have. */
static void test_intel(void)
{
    static const struct {
        int type, lanes, verdict;
        const char *engine, *first; /* asked for, and what is taken by itself */
    } rows[] = {
        { CLATTN_F16, 16, CAPS_PASSED, "dpas", "dpas " },     { CLATTN_BF16, 16, CAPS_PASSED, "dpas", "dpas " },
        { CLATTN_F16, 8, CAPS_PASSED, "dpas8", "dpas8 " },    { CLATTN_BF16, 8, CAPS_PASSED, "dpas8", "dpas8 " },
        { CLATTN_F16, 16, CAPS_UNTESTED, "dpas", "simt " },   { CLATTN_F16, 8, CAPS_UNTESTED, "dpas8", "simt " },
        { CLATTN_BF16, 16, CAPS_UNTESTED, "dpas", "simt " },  { CLATTN_BF16, 8, CAPS_UNTESTED, "dpas8", "simt " },
        { CLATTN_F16, 16, CAPS_FAILED, "", "simt " },         { CLATTN_F16, 8, CAPS_FAILED, "", "simt " },
        { CLATTN_F32, 16, CAPS_PASSED, "", "simt " },         { CLATTN_F32, 8, CAPS_PASSED, "", "simt " },
        { CLATTN_F64, 16, CAPS_PASSED, "", "simt " },         { CLATTN_F16, 32, CAPS_PASSED, "", "simt " },
        { CLATTN_F16, 0, CAPS_PASSED, "", "simt " },
    };
    static const char *const names[] = { "dpas", "dpas8" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const clattn_problem p = problem(rows[i].type, 64, 64, 1000);
        struct caps c;
        char text[128];
        intel(&c, rows[i].lanes, rows[i].verdict);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            struct config config = { .engine = NULL };
            struct why why = { "" };
            const cl_int status = tile_config_read(&config, names[n], &c, &p, &why);
            ok(strcmp(rows[i].engine, names[n]) ? status == CLATTN_ERROR_NOT_SUPPORTED && *why.text : !status,
               "%s, sub-groups of %d, verdict %d: %s is %s", problem_type_name(rows[i].type), rows[i].lanes,
               rows[i].verdict, names[n], status ? why.text : "taken");
        }
        ok(!strncmp(first(&c, &p, text, sizeof text), rows[i].first, strlen(rows[i].first)), "first is %s", text);
    }
    test_intel_tiles();
    test_intel_refusals();
}

/* Tiles whose registers are full are for what leaves scores alone. */
static void test_plain(void)
{
    struct caps c;
    char text[128];
    clattn_problem p = problem(CLATTN_F16, 64, 64, 1000);
    caps_generic(&c);
    engine_set_verdict(engine_find("mma_nv", 6), &c, CAPS_PASSED);
    is_str(first(&c, &p, text, sizeof text), "mma_nv nw4,rt2,bk64,qreg1", "a plain problem");
    p.causal = 1;
    is_str(first(&c, &p, text, sizeof text), "mma_nv nw4,rt2,bk64,qreg1", "causal is one too");
    p.softcap = 5;
    is_str(first(&c, &p, text, sizeof text), "mma_nv nw4,rt1,bk64,qreg1", "softcap");
    p.softcap = 0;
    p.flags = CLATTN_MASK;
    is_str(first(&c, &p, text, sizeof text), "mma_nv nw4,rt1,bk64,qreg1", "a mask");
    p.flags = 0;
    p.scale = -1;
    is_str(first(&c, &p, text, sizeof text), "mma_nv nw4,rt1,bk64,qreg1", "a scale below 0");
    p.scale = 0.1;
    p.sizes.nq = 64;
    is_str(first(&c, &p, text, sizeof text), "mma_nv nw4,rt1,bk64,qreg1", "few queries");
}

/* Rows are few by what they share keys with: heads that are packed count, others do not. */
static void test_shared(void)
{
    struct caps c;
    char text[128];
    clattn_problem p = problem(CLATTN_F32, 64, 64, 1);
    caps_generic(&c);
    c.kind = CAPS_CPU;
    c.float_width = 16;
    p.sizes.h = 32;
    p.sizes.hk = 8;
    is_str(first(&c, &p, text, sizeof text), "row w16,nr4,rk4,rd4,bk64", "four heads share keys");
    p.sizes.hk = 2;
    is_str(first(&c, &p, text, sizeof text), "cpu w16,nv1,rk8,rd8,bk64", "sixteen do");
    p.d = p.dv = 128;
    is_str(first(&c, &p, text, sizeof text), "row w16,nr8,rk2,rd2,bk64", "and their rows are wide");
    p.sizes.h = 34;
    ok(!strncmp(first(&c, &p, text, sizeof text), "cpu", 3), "seventeen, more than lanes: %s", text);
    p.sizes.h = 2;
    p.sizes.nq = 16;
    ok(!strncmp(first(&c, &p, text, sizeof text), "cpu", 3), "sixteen queries of wide rows: %s", text);
    p.d = p.dv = 64;
    p.sizes.h = 32;
    p.sizes.nq = 1;
    p.flags = CLATTN_ALIBI;
    is_str(first(&c, &p, text, sizeof text), "row w16,nr1,rk8,rd8,bk64", "sixteen that are kept apart");
    p.sizes.nq = 0;
    is_str(first(&c, &p, text, sizeof text), "cpu w16,nv4,rk6,rd6,bk64", "of any length");
}

int main(void)
{
    int i;
    for (i = 0; i < DEVICES; i++) {
        test_device(i);
        test_defaults(i);
    }
    if (harness_turn(0, 1))
        test_neighbours("cpu", harness_more() ? 1 : 3);
    if (harness_rest())
        return done_testing();
    test_first();
    test_refusals();
    test_numbers();
    test_widths();
    test_matrix_widths();
    test_lanes("cpu");
    test_lanes("row");
    test_neighbours("row", 1);
    test_neighbours("naive", 1);
    test_words();
    test_stack();
    test_ranks();
    test_matrix();
    test_amd();
    test_intel();
    test_plain();
    test_shared();
    return done_testing();
}
