/* source.c - programs composed from fragments: complete, named, and with a number for everything
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/engine/source.h"
#include "tests/lib/tap.h"

static clattn_problem problem(const clattn_problem *in)
{
    clattn_problem out;
    struct why why;
    if (problem_read(&out, in, &why))
        bail("%s", why.text);
    return out;
}

static clattn_problem plain(void)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.d = 64;
    p.sizes.b = p.sizes.h = 1;
    p.sizes.nq = p.sizes.nk = 100;
    return p;
}

/* Composes for `in` with configuration `config`; bails out when that fails. */
static struct source compose_for(const struct caps *caps, const clattn_problem *in, const char *config)
{
    const clattn_problem p = problem(in);
    struct source s = { NULL, NULL };
    struct config c;
    struct why why;
    if (tile_config_read(&c, config, caps, &p, &why))
        bail("%s", why.text);
    const struct target target = target_make(PASS_FORWARD, &p, caps, &c);
    if (source_compose(&s, &target, &why))
        bail("%s", why.text);
    return s;
}
static struct source compose(const clattn_problem *in, const char *config)
{
    struct caps caps;
    caps_generic(&caps);
    return compose_for(&caps, in, config);
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (text = strstr(text, what); text; text = strstr(text + 1, what))
        n++;
    return n;
}

static int slot(const struct source *s, const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "#line 1 \"%s\"\n", name);
    return count(s->text, line);
}

/* ---- Fragments ---- */

static void test_fragments(void)
{
    const struct fragment *f;
    int bad = 0, n = 0;
    for (f = fragments; f->name; f++, n++) {
        const size_t length = strlen(f->text);
        /* a text without its last newline would run into the next #line */
        if (!length || f->text[length - 1] != '\n' || (n && strcmp(f[-1].name, f->name) >= 0)) {
            diag("%s", f->name);
            bad++;
        }
    }
    ok(n > 10 && !bad, "%d fragments, sorted, each ends with a newline", n);
}

static int is_there(const char *name)
{
    const struct fragment *f = fragments;
    while (name && f->name && strcmp(f->name, name))
        f++;
    return !name || f->name != NULL;
}

/* Engines that no device here has are compiled nowhere else. */
static void test_engines(void)
{
    clattn_problem p = plain();
    for (size_t i = 0; engine_at(i); i++) {
        const struct engine *const e = engine_at(i);
        ok(is_there(e->fragment) && is_there(e->exp) && is_there(e->gather) && (!e->load || is_there(e->load(&p))),
           "engine %s: its fragments are there", e->name);
        ok(e->waves >= 1 && e->uneven >= 1, "engine %s: keys are split for some work-groups", e->name);
    }
}

/* Values of q4_0 are looked up on CPUs with 16 lanes. */
static void test_values(void)
{
    static const struct {
        const char *platform;
        enum caps_kind kind;
        unsigned width;
        int k_type, v_type, looked_up, computed;
    } rows[] = {
        { "Portable Computing Language", CAPS_CPU, 16, CLATTN_Q4_0, CLATTN_Q4_0, 1, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, CLATTN_F32, CLATTN_Q4_0, 1, 0 },
        { "Intel(R) OpenCL", CAPS_CPU, 16, CLATTN_Q4_0, CLATTN_F32, 1, 0 },
        { "Portable Computing Language", CAPS_CPU, 8, CLATTN_Q4_0, CLATTN_Q4_0, 0, 1 },
        { "rusticl", CAPS_CPU, 16, CLATTN_Q4_0, CLATTN_Q4_0, 0, 1 },
        { "NVIDIA CUDA", CAPS_GPU, 1, CLATTN_Q4_0, CLATTN_Q4_0, 0, 1 },
        { "Portable Computing Language", CAPS_CPU, 16, CLATTN_Q8_0, CLATTN_F32, 0, 0 },
        { "Portable Computing Language", CAPS_CPU, 16, CLATTN_F32, CLATTN_F32, 0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_problem p = plain();
        struct caps caps;
        caps_generic(&caps);
        caps.kind = rows[i].kind;
        caps.quirk = caps_quirk(rows[i].platform);
        caps.float_width = rows[i].width;
        p.k_type = rows[i].k_type;
        p.v_type = rows[i].v_type;
        struct source s = compose_for(&caps, &p, "simt");
        ok(slot(&s, "values_looked_up.cl") == rows[i].looked_up && slot(&s, "values_computed.cl") == rows[i].computed,
           "%s, %u lanes, K in type %d, V in %d: values looked up %d, computed %d", rows[i].platform, rows[i].width,
           rows[i].k_type, rows[i].v_type, rows[i].looked_up, rows[i].computed);
        source_free(&s);
    }
}

/* ---- One program ---- */

static const char *const engines_to_try[] = { "simt", "cpu", "row", "naive" };

/* Each slot is filled once, in the order of the design. */
static void test_slots(const char *engine)
{
    clattn_problem p = plain();
    struct source s = compose(&p, engine);
    char fragment[64];
    const char *at[4];
    snprintf(fragment, sizeof fragment, "engine_%s.cl", engine);
    ok(slot(&s, "args.h") == 1 && slot(&s, "dtype_f32.cl") == 1 && slot(&s, "softmax.cl") == 1 &&
           slot(&s, "forward.cl") == 1,
       "%s: the fixed slots once each", engine);
    is_int(slot(&s, fragment), 1, "%s: its own fragment", engine);
    is_int(count(s.text, "#line 1 \"engine_"), 1, "%s: no other engine", engine);
    is_int(count(s.text, "#line 1 \"mask_"), 0, "%s: no mask", engine);
    is_int(count(s.text, "#line 1 \"kv_"), 1, "%s: one kv", engine);
    is_int(count(s.text, "#line 1 \"rows_"), 1, "%s: one place of rows", engine);
    is_int(count(s.text, "#line 1 \"epilogue_"), 1, "%s: one epilogue", engine);
    is_int(count(s.text, "#line 1 \"score_"), 0, "%s: no score", engine);
    ok(slot(&s, "bias_none.cl") == 1 && slot(&s, "sink_none.cl") == 1 && slot(&s, "gather_square.cl") == 0,
       "%s: no bias, no sink", engine);
    at[0] = strstr(s.text, "#line 1 \"dtype_");
    at[1] = strstr(s.text, "#line 1 \"kv_");
    at[2] = strstr(s.text, "#line 1 \"engine_");
    at[3] = strstr(s.text, "#line 1 \"masks\"");
    ok(at[0] && at[0] < at[1] && at[1] < at[2] && at[2] < at[3], "%s: in order", engine);
    is_int(count(s.text, "__kernel"), 1, "%s: one kernel", engine);
    source_free(&s);
    ok(!s.text && !s.options, "%s: freed", engine);
}

static void test_choices(void)
{
    clattn_problem p = plain();
    struct source s = compose(&p, NULL);
    ok(!strstr(s.text, "#line 1 \"mask_") && slot(&s, "kv_dense.cl"), "plain: no mask, dense");
    source_free(&s);
    p.causal = 1;
    s = compose(&p, NULL);
    ok(slot(&s, "mask_causal.cl") && slot(&s, "kv_dense.cl"), "causal: its mask, dense");
    source_free(&s);
    p.flags = CLATTN_KV_START;
    s = compose(&p, NULL);
    ok(slot(&s, "mask_causal.cl") && slot(&s, "kv_padded.cl"), "lengths: padded");
    source_free(&s);
}

/* Every feature has its fragments, and none but its own. */
static void test_features(void)
{
    static const clattn_score_mod mod = { "s += 1.0f;", "one.cl", 0 };
    static const struct {
        const char *fragments; /* with blanks between */
        uint32_t flags;
        int causal, bias_type, n_mods;
        double softcap;
    } rows[] = {
        { "kv_varlen.cl", CLATTN_CU_Q, 0, 0, 0, 0 },
        { "kv_varlen.cl", CLATTN_CU_K | CLATTN_KV_LEN, 0, 0, 0, 0 },
        { "mask_window.cl", CLATTN_WINDOW, 0, 0, 0, 0 },
        { "mask_window.cl", CLATTN_WINDOW, 1, 0, 0, 0 },
        { "mask_bool.cl mask_unmapped.cl gather_square_rows.cl", CLATTN_MASK, 0, 0, 0, 0 },
        { "mask_bool.cl mask_blocks.cl gather_square_rows.cl", CLATTN_MASK | CLATTN_BLOCK_MAP, 0, 0, 0, 0 },
        { "mask_blocks.cl", CLATTN_BLOCK_MAP, 0, 0, 0, 0 },
        { "score_alibi.cl", CLATTN_ALIBI, 0, 0, 0, 0 },
        { "score_softcap.cl tanh_poly.cl", 0, 0, 0, 0, 5 },
        { "bias_add.cl gather_square_rows.cl dtype_f16.cl", 0, 0, CLATTN_F16, 0, 0 },
        { "sink_logit.cl", CLATTN_SINKS, 0, 0, 0, 0 },
        { "one.cl mods", 0, 0, 0, 1, 0 },
    };
    static const char *const all[] = {
        "kv_varlen.cl", "mask_window.cl", "mask_causal.cl", "mask_bool.cl", "mask_blocks.cl", "mask_unmapped.cl",
        "gather_square_rows.cl", "score_alibi.cl", "score_softcap.cl", "tanh_poly.cl", "bias_add.cl", "dtype_f16.cl",
        "sink_logit.cl", "one.cl", "mods"
    };
    size_t i, f;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_problem p = plain();
        struct source s;
        int wrong = 0;
        p.flags = rows[i].flags;
        p.causal = rows[i].causal;
        p.bias_type = rows[i].bias_type;
        p.softcap = rows[i].softcap;
        p.n_mods = rows[i].n_mods;
        p.mods = &mod;
        s = compose(&p, NULL);
        for (f = 0; f < sizeof all / sizeof *all; f++) {
            if (!slot(&s, all[f]) != !strstr(rows[i].fragments, all[f])) {
                diag("%s", all[f]);
                wrong++;
            }
        }
        ok(!wrong, "fragments %s", rows[i].fragments);
        source_free(&s);
    }
}

/* What lies query by query is read in squares where lanes are rows, in lines where they are keys; engine simt
 * reads squares row by row. */
static void test_squares(const char *engine)
{
    clattn_problem p = plain();
    p.bias_type = CLATTN_F16;
    struct source s = compose(&p, engine);
    const char *const name = !strcmp(engine, "row")    ? "gather_row.cl"
                             : !strcmp(engine, "simt") ? "gather_square_rows.cl"
                                                       : "gather_square.cl";
    ok(slot(&s, name) == 1 && count(s.text, "#line 1 \"gather_") == 1, "%s: %s", engine, name);
    source_free(&s);
}

/* The caller's text stands as it is under its own name; what he calls his buffers is theirs alone. */
static void test_mods(void)
{
    static const clattn_score_mod mods[] = { { "s += table[q];", "a \"b\\c.cl", 0 },
                                             { "s = q < k ? s : -s; // end", NULL, CLATTN_MOD_VECTOR } };
    static const clattn_aux aux[] = { { "table", CLATTN_F32 }, { "ids", CLATTN_I32 } };
    clattn_problem p = plain();
    struct source s, t;
    p.n_mods = p.n_aux = 2;
    p.mods = mods;
    p.aux = aux;
    s = compose(&p, NULL);
    ok(strstr(s.text, "\n#line 1 \"a \\\"b\\\\c.cl\"\ns += table[q];\n\n#line 1 \"mods\"\n") != NULL,
       "a text and its name");
    const char *const forward = strstr(s.text, "#line 1 \"forward.cl\"\n"), *const first =
                                                                                strstr(s.text, "s += table[q];");
    ok(forward && first > strstr(forward, "cla_write(") && strstr(s.text, "cla_mod_1(real s,") < forward,
       "texts stand behind everything else, and are declared before");
    ok(strstr(s.text, "\n#line 1 \"score_mod\"\ns = q < k ? s : -s; // end\n") != NULL, "a text without a name");
    ok(strstr(s.text, "const __global float *table, const __global int *ids)") != NULL,
       "captured buffers by their names");
    p.n_mods = 1;
    t = compose(&p, NULL);
    ok(strcmp(s.text, t.text) != 0, "another text, another program");
    source_free(&t);
    source_free(&s);
}

/* What a text defines and undefines, as the preprocessor sees it, in pairs: text, names. */
static const char *const macros[][2] = {
    { "#define a 1\ns = a;", "a " },
    { "s = s;", "" },
    { "  #  define\ta(x) x\n\t#undef b\n", "a b " },
    { "#define a 1\n#undef a\n#define a 2", "a a a " },
    { "#if 0\n#if 1\n#define a\n#endif\n#else\n#define b\n#endif", "a b " },
    { "/* #define a */ s = s; // #define b\n#define c", "c " },
    { "/* a\n */ #define a\n/**/#/**/define/* x\n */b/**/\n/***/#define c", "a b c " },
    { "#de\\\nfine long_\\\r\nname 1\n", "long_name " },
    { "#define \\\n a\n#def\\ \t\nine b\n", "a b " },
    { "// a comment \\\n#define no\n#define a", "a " },
    { "#define a x \\\n#define no\n#define b", "a b " },
    { "/\\\n* #define no\n*\\\n/\n#define a", "a " },
    { "s = 1; #define no\n#define a", "a " },
    { "const char *x = \"/*\";\n#define a\nx = \"\\\"/*\";\n#define b // \"", "a b " },
    { "char c = '\"';\n#define a\nc = '\\'';\n#define b", "a b " },
    { "#if 0\ndon't\n#endif\n#define a\n#error it's\n#define b\n", "a b " },
    { "#define max min\n#define min max", "max min " },
    { "%:define a\n%: undef b\n%define no", "a b " },
    { "#defined no\n#undefine no\n#definea\n#define\n#define (x)\n#ifdef a\n#pragma define no", "" },
    { "#define a1_$\xc3\xa9(x) 1", "a1_$\xc3\xa9 " },
    { "#define a\r#define b\r\n#define c", "a b c " },
    { "\f\v#define a", "a " },
    { "x % 2; %: define no", "" },
    { "?" "?=define a\n ?" "?= undef b\n#define c ?" "?/\n#define no\n?" "?\n#define d\n?" "?>define no",
      "a b c d " },
    { "#", "" }, { "#define", "" }, { "#undef ", "" }, { "/*", "" }, { "\\", "" }, { "#define \\", "" }, { "\"", "" },
    { "/* *", "" }, { "#define a\\", "a " }, { "'\\", "" }, { "%", "" }, { "/", "" },
    { "?" "?", "" }, { "?" "?/", "" }, { "?" "?=", "" },
};
enum { MACROS = sizeof macros / sizeof *macros };

/* The names between `before` and `after` in a program, with a blank behind each. */
static void names(char *to, size_t room, const char *from, const char *end, const char *before, const char *after)
{
    *to = '\0';
    while ((from = strstr(from, before)) && from < end) {
        const char *const stop = strstr(from += strlen(before), after);
        if (stop && strlen(to) + (size_t)(stop - from) + 2 < room)
            sprintf(to + strlen(to), "%.*s ", (int)(stop - from), from);
    }
}

static void test_macros(void)
{
    for (int i = 0; i < MACROS; i++) {
        const clattn_score_mod mod = { macros[i][0], "macros.cl", 0 };
        clattn_problem p = plain();
        char kept[128], gone[128], back[128];
        p.n_mods = 1;
        p.mods = &mod;
        struct source s = compose(&p, "naive");
        const char *const text = strstr(s.text, "#line 1 \"macros.cl\"\n"), *const end = s.text + strlen(s.text);
        if (!text)
            bail("no text");
        const char *const behind = text + strlen("#line 1 \"macros.cl\"\n") + strlen(macros[i][0]);
        names(kept, sizeof kept, s.text, text, "\n#pragma push_macro(\"", "\")\n");
        names(gone, sizeof gone, behind, end, "\n#undef ", "\n");
        names(back, sizeof back, behind, end, "\n#pragma pop_macro(\"", "\")\n");
        if (!ok(!strcmp(kept, macros[i][1]) && !strcmp(gone, kept) && !strcmp(back, kept), "macros %d: '%s'", i,
                macros[i][1]))
            diag("kept '%s', undefined '%s', given back '%s'", kept, gone, back);
        ok(!strncmp(behind, "\n\n#line 1 \"mods\"\n", 17) && strstr(behind, "    return s;\n}\n"),
           "and the rest follows");
        source_free(&s);
    }
}

static void test_types(void)
{
    clattn_problem p = plain();
    struct source s;
    p.type = CLATTN_F16;
    p.k_type = CLATTN_F32;
    p.v_type = CLATTN_BF16;
    s = compose(&p, NULL);
    ok(slot(&s, "dtype_f16.cl") == 1 && slot(&s, "dtype_f32.cl") == 1 && slot(&s, "dtype_bf16.cl") == 1,
       "three types, three fragments");
    ok(strstr(s.options, "-DCLA_TQ=f16") && strstr(s.options, "-DCLA_TK=f32") && strstr(s.options, "-DCLA_TV=bf16"),
       "and each its tensor");
    source_free(&s);
    p.k_type = p.v_type = CLATTN_F16;
    s = compose(&p, NULL);
    is_int(count(s.text, "#line 1 \"dtype_"), 1, "one type, one fragment");
    source_free(&s);
    p.k_type = p.v_type = CLATTN_BF16;
    s = compose(&p, NULL);
    is_int(count(s.text, "#line 1 \"dtype_"), 2, "K and V share theirs");
    source_free(&s);
    p.type = p.k_type = p.v_type = CLATTN_F64;
    s = compose(&p, NULL);
    ok(slot(&s, "acc_f64.cl") == 1 && slot(&s, "acc_f32.cl") == 0, "f64 computes in f64");
    source_free(&s);
}

/* Heads that share keys are packed where that fills tiles, and where they differ in nothing but sinks. */
static void test_packing(void)
{
    clattn_problem p = plain();
    p.sizes.h = 8;
    p.sizes.hk = 2;
    p.sizes.nq = 1;
    struct source s = compose(&p, "simt");
    ok(strstr(s.options, "-DCLA_PACKS_HEADS=1 ") != NULL, "one query of eight heads: packed");
    source_free(&s);
    p.flags |= CLATTN_ALIBI;
    s = compose(&p, "simt");
    ok(strstr(s.options, "-DCLA_PACKS_HEADS=0 ") != NULL, "with ALiBi: apart");
    source_free(&s);
    p = plain();
    s = compose(&p, "simt");
    ok(strstr(s.options, "-DCLA_PACKS_HEADS=0 ") != NULL, "heads of their own: apart");
    source_free(&s);
}

/* The struct of numbers needs no padding: its numbers of 32 bits are even in number, whatever the problem has. */
static void test_struct(void)
{
    for (int capped = 0; capped < 2; capped++) {
        clattn_problem p = plain();
        p.softcap = 30 * capped;
        struct source s = compose(&p, "naive");
        const char *const end = strstr(s.text, "} cla_args;"), *line = s.text;
        int n = 0;
        for (; end && line < end; line += strcspn(line, "\n") + 1)
            n = !strncmp(line, "typedef struct", 14) ? 0
                : n + (!strncmp(line, "    cla_i32 ", 12) || !strncmp(line, "    cla_f32 ", 12));
        ok(end && n && n % 2 == 0, "%s: %d numbers of 32 bits", capped ? "softcap" : "plain", n);
        source_free(&s);
    }
}

/* Lengths and strides are arguments: another size, the same program, unless heads are packed. */
static void test_sizes_do_not_matter(void)
{
    clattn_problem p = plain(), other = plain();
    struct source s, t;
    other.sizes.nk = 12345;
    other.sizes.b = 7;
    other.sizes.h = 6;
    other.sizes.hk = 2;
    s = compose(&p, "simt");
    t = compose(&other, "simt");
    ok(!strcmp(s.text, t.text) && !strcmp(s.options, t.options), "other sizes, the same program");
    source_free(&t);
    other = plain();
    other.scale = 0.3;
    other.sizes.offset = 5;
    other.softcap = p.softcap = 3;
    p.dropout_p = 0.1;
    other.dropout_p = 0.2;
    other.flags = p.flags = CLATTN_WINDOW;
    other.window_left = 7;
    source_free(&s);
    s = compose(&p, "simt");
    other.softcap = 4;
    t = compose(&other, "simt");
    ok(!strcmp(s.text, t.text) && !strcmp(s.options, t.options),
       "another scale, softcap, dropout, window, the same program");
    source_free(&t);
    other.d = 65;
    other.dv = 64;
    t = compose(&other, "simt");
    ok(strcmp(s.options, t.options) != 0, "another width, another program");
    source_free(&t);
    source_free(&s);
}

/* What the device can do is said in options. */
static void test_device_options(void)
{
    const clattn_problem p = plain();
    struct caps caps;
    struct config c;
    struct source s;
    struct why why;
    caps_generic(&caps);
    caps.fma = false;
    caps.sub_group = 16;
    caps.gfx = 0x90a;
    if (tile_config_read(&c, "simt", &caps, &p, &why))
        bail("%s", why.text);
    const struct target target = target_make(PASS_FORWARD, &p, &caps, &c);
    if (source_compose(&s, &target, &why))
        bail("no program: %s", why.text);
    ok(strstr(s.options, "-DCLA_FMA=0 ") && strstr(s.options, "-DCLA_SUB_GROUP=16 ") &&
           strstr(s.options, "-cl-intel-256-GRF-per-thread") && strstr(s.options, "-DCLA_GFX=2314"),
       "no fused multiply-add, sub-groups of 16, a gfx90a: %s", s.options);
    source_free(&s);
    s = compose(&p, "simt");
    ok(strstr(s.options, "-DCLA_FMA=1") && strstr(s.options, "-DCLA_SUB_GROUP=0") && !strstr(s.options, "intel") &&
           strstr(s.options, "-DCLA_GFX=-1"),
       "none of them elsewhere: %s", s.options);
    source_free(&s);
    clattn_problem halves = p;
    halves.type = CLATTN_F16;
    s = compose(&halves, "dpas");
    ok(strstr(s.options, "-DCLA_SUB_GROUP=0") && strstr(s.options, "-DCLA_WAVE=16 ") &&
           strstr(s.options, "-cl-intel-256-GRF-per-thread") &&
           strstr(s.text, "#define CLA_KERNEL_OF_ENGINE CLA_CAT(CLA_SUB_GROUP_, CLA_WAVE)"),
       "without a device dpas asks for its registers and its sub-groups itself: %s", s.options);
    ok(slot(&s, "mma_surfaces_2d.cl") == 1 && slot(&s, "mma_surfaces_none.cl") == 0, "and reads blocks");
    source_free(&s);
    caps_generic(&caps);
    caps.blocks_2d = false;
    s = compose_for(&caps, &halves, "dpas");
    ok(slot(&s, "mma_surfaces_2d.cl") == 0 && slot(&s, "mma_surfaces_none.cl") == 1, "but not where the device cannot");
    source_free(&s);
    s = compose(&halves, "dpas8");
    ok(slot(&s, "mma_surfaces_2d.cl") == 0 && slot(&s, "mma_surfaces_none.cl") == 1, "nor in sub-groups of 8");
    source_free(&s);
}

static void test_options(void)
{
    clattn_problem p = plain();
    struct source s = compose(&p, "naive wg32,bk8");
    ok(strstr(s.options, "-DCLA_D=64") && strstr(s.options, "-DCLA_DV=64") && strstr(s.options, "-DCLA_WG=32") &&
           strstr(s.options, "-DCLA_BK=8"),
       "numbers by -D: %s", s.options);
    ok(strstr(s.options, "-cl-mad-enable") && !strstr(s.options, "fast-relaxed") && !strstr(s.options, "finite-math"),
       "nothing that breaks the logic of -inf");
    source_free(&s);
}

int main(void)
{
    size_t i;
    test_fragments();
    test_engines();
    test_values();
    for (i = 0; i < sizeof engines_to_try / sizeof *engines_to_try; i++) {
        test_slots(engines_to_try[i]);
        test_squares(engines_to_try[i]);
    }
    test_choices();
    test_features();
    test_mods();
    test_macros();
    test_types();
    test_packing();
    test_struct();
    test_sizes_do_not_matter();
    test_options();
    test_device_options();
    return done_testing();
}
