/* passes.c - what the kernel of each pass takes
 * SPDX-License-Identifier: Apache-2.0
 *
 * The struct of arguments is written into the program and packed by the host from one list: a kernel behind the
 * program's own declarations reads every member back. */
#include "config.h"

#include "src/api/handle.h"
#include "tests/lib/each.h"

#include <stddef.h>

/* ---- The struct of arguments ---- */

/* Every member that a kernel may be told, as the host has it. */
enum kind { ROWS, SCORES, LONG, FLOAT, INT };
static const struct member {
    const char *name;
    enum kind kind;
    size_t at;
    int n; /* of an array */
} members[] = {
#define MEMBER(kind, name) { #name, kind, offsetof(struct arguments, name), 1 }
#define ARRAY(kind, name, n) { #name, kind, offsetof(struct arguments, name), n }
    MEMBER(ROWS, q),
    MEMBER(ROWS, k),
    MEMBER(ROWS, v),
    MEMBER(ROWS, o),
    MEMBER(ROWS, lse),
    MEMBER(ROWS, o_parts),
    MEMBER(ROWS, lse_parts),
    MEMBER(SCORES, bias),
    MEMBER(SCORES, mask),
    MEMBER(SCORES, map),
    MEMBER(LONG, slopes_stride),
    MEMBER(LONG, slopes_offset),
    MEMBER(LONG, sinks_offset),
    MEMBER(LONG, q_len_offset),
    MEMBER(LONG, kv_len_offset),
    MEMBER(LONG, kv_start_offset),
    MEMBER(LONG, offsets_offset),
    MEMBER(LONG, cu_q_offset),
    MEMBER(LONG, cu_k_offset),
    MEMBER(LONG, table_stride),
    MEMBER(LONG, table_offset),
    MEMBER(LONG, k_scale_offset),
    MEMBER(LONG, k_zero_offset),
    MEMBER(LONG, v_scale_offset),
    MEMBER(LONG, v_zero_offset),
    ARRAY(LONG, aux_offset, CLATTN_AUX_MAX),
    MEMBER(LONG, states_offset),
    MEMBER(LONG, workspace_offset),
    MEMBER(LONG, o_parts_stride),
    MEMBER(LONG, lse_parts_stride),
    MEMBER(LONG, scale_bits),
    MEMBER(LONG, softcap_bits),
    MEMBER(LONG, dropout_scale_bits),
    MEMBER(FLOAT, scale),
    MEMBER(FLOAT, scale_log2),
    MEMBER(FLOAT, softcap),
    MEMBER(FLOAT, dropout_scale),
    MEMBER(INT, dropout_threshold),
    MEMBER(INT, dropout_seed_low),
    MEMBER(INT, dropout_seed_high),
    MEMBER(INT, dropout_offset),
    MEMBER(INT, h),
    MEMBER(INT, heads_per_kv),
    MEMBER(INT, nq),
    MEMBER(INT, nk),
    MEMBER(INT, total_q),
    MEMBER(INT, total_k),
    MEMBER(INT, align),
    MEMBER(INT, offset),
    MEMBER(INT, flags),
    MEMBER(INT, given),
    MEMBER(INT, write_lse),
    MEMBER(INT, window_low),
    MEMBER(INT, window_high),
    MEMBER(INT, block_q),
    MEMBER(INT, block_k),
    MEMBER(INT, parts),
    MEMBER(INT, part_least),
    MEMBER(INT, page),
    MEMBER(INT, page_magic),
    MEMBER(INT, page_shift),
    MEMBER(INT, pages),
    ARRAY(INT, k_scale, 4),
    ARRAY(INT, k_zero, 4),
    ARRAY(INT, v_scale, 4),
    ARRAY(INT, v_zero, 4),
    MEMBER(INT, groups),
    MEMBER(INT, heads),
    MEMBER(INT, heads_inner),
    MEMBER(INT, packed_heads),
    MEMBER(FLOAT, per_packed_head),
    MEMBER(LONG, blocks),
    ARRAY(INT, map_shape, 4),
    MEMBER(INT, mask_q),
    MEMBER(INT, mask_k),
    MEMBER(INT, rows),
    MEMBER(INT, columns),
    MEMBER(INT, merge_flags),
    MEMBER(INT, lse_is_wide),
    MEMBER(ROWS, new_k),
    MEMBER(ROWS, new_v),
    MEMBER(ROWS, dout),
    MEMBER(ROWS, dlse),
    MEMBER(ROWS, dq),
    MEMBER(ROWS, dk),
    MEMBER(ROWS, dv),
    MEMBER(ROWS, stats),
    MEMBER(SCORES, dbias),
    MEMBER(SCORES, bias_part),
    MEMBER(LONG, stats_rows),
    MEMBER(LONG, bias_cells),
    MEMBER(LONG, dslopes_offset),
    MEMBER(LONG, dsinks_offset),
    MEMBER(LONG, aux_cells),
    ARRAY(LONG, aux_at, CLATTN_AUX_MAX),
    ARRAY(LONG, daux_offset, CLATTN_AUX_MAX),
    ARRAY(INT, aux_n, CLATTN_AUX_MAX),
    ARRAY(INT, bias_shape, 4),
    MEMBER(INT, wanted),
    MEMBER(INT, tiles),
    MEMBER(INT, unit_b),
    MEMBER(INT, unit_hk),
    MEMBER(INT, shared),
    MEMBER(LONG, new_len_offset),
    MEMBER(LONG, positions_offset),
    MEMBER(LONG, dropped_offset),
    MEMBER(LONG, cosines_offset),
    MEMBER(LONG, sines_offset),
    MEMBER(LONG, rotary_items),
    MEMBER(INT, row_parts),
    MEMBER(INT, sequences),
    MEMBER(INT, kv_heads),
    MEMBER(INT, rotary_rows),
    MEMBER(INT, rotary_width),
    MEMBER(INT, interleaved),
};
enum { MEMBERS = (int)(sizeof members / sizeof *members) };

/* Where a member's numbers stand in its own struct: of one that says where something lies behind `unused`. */
static int numbers_of(const struct member *m)
{
    static const int of_kind[] = { [ROWS] = 4, [SCORES] = 5, [LONG] = 1, [FLOAT] = 1, [INT] = 1 };
    return of_kind[m->kind];
}
static size_t size_of(const struct member *m)
{
    static const size_t of_kind[] = {
        [ROWS] = sizeof(cla_rows_at), [SCORES] = sizeof(cla_scores_at), [LONG] = 8, [FLOAT] = 4, [INT] = 4
    };
    return of_kind[m->kind];
}

/* Numbers that are all different, and as long as their type. */
static void fill(struct arguments *a)
{
    int64_t next = 3;
    for (int i = 0; i < MEMBERS; i++)
        for (size_t at = 0; at < size_of(&members[i]) * (size_t)members[i].n;
             at += size_of(&members[i]) < 8 ? 4 : 8, next++) {
            const int32_t narrow = (int32_t)(0x1000001 * next);
            const int64_t wide = 0x10000001000001 * next;
            memcpy((char *)a + members[i].at + at, size_of(&members[i]) < 8 ? (const void *)&narrow : &wide,
                   size_of(&members[i]) < 8 ? 4 : 8);
        }
}

/* Whether the struct of a program declares the member, and of an array how many. */
static int declared(const char *text, const struct member *m)
{
    const char *end = strstr(text, "} cla_args;");
    text = strstr(text, "#line 1 \"params\""); /* behind the types that its members have */
    char plain[64], array[64];
    snprintf(plain, sizeof plain, " %s;", m->name);
    snprintf(array, sizeof array, " %s[", m->name);
    const char *at = strstr(text, plain), *of = strstr(text, array);
    if (of && of < end)
        return atoi(of + strlen(array));
    return at && at < end;
}

static const char *const parts[] = { "offset", "b", "h", "row" }, *const score_parts[] = { "offset", "b", "h", "q",
                                                                                           "k" };

/* A kernel that hands out each number of the struct, and its size. */
static int write_probe(struct text *to, const char *text, const int64_t **want, const struct arguments *a)
{
    static int64_t list[512];
    int n = 0;
    text_add(to, "#line 1 \"args.h\"\n%s\n__kernel void cla_probe(const cla_args a, __global long *to)\n{\n", text);
    for (int i = 0; i < MEMBERS; i++)
        for (int j = 0; j < declared(text, &members[i]); j++)
            for (int k = 0; k < numbers_of(&members[i]); k++, n++) {
                const struct member *const m = &members[i];
                const char *const from = (const char *)a + m->at + (size_t)j * size_of(m);
                int32_t narrow;
                text_add(to, "    to[%d] = ", n);
                text_add(to, m->kind == FLOAT ? "as_int(a.%s" : "(a.%s", m->name);
                if (m->n > 1)
                    text_add(to, "[%d]", j);
                if (m->kind == ROWS || m->kind == SCORES)
                    text_add(to, ".%s", m->kind == ROWS ? parts[k] : score_parts[k]);
                text_add(to, ");\n");
                memcpy(&narrow, from, sizeof narrow);
                if (m->kind == INT || m->kind == FLOAT)
                    list[n] = narrow;
                else
                    memcpy(&list[n], from + (m->kind == LONG ? 0 : 8 * (1 + k)), 8);
            }
    text_add(to, "    to[%d] = sizeof a;\n}\n", n);
    *want = list;
    return n;
}

/* Declarations of a program up to the end of its struct of arguments. */
static char *declarations(const char *text)
{
    const char *const from = strstr(text, "#line 1 \"params\""), *const to = strstr(from, "} cla_args;");
    const char *const types = strstr(text, "#ifndef CLA_ARGS_H");
    const size_t n = (size_t)(strstr(types, "#line") - types), m = (size_t)(to - from) + strlen("} cla_args;");
    char *out = calloc(n + m + 1, 1);
    memcpy(out, types, n);
    memcpy(out + n, from, m);
    return out;
}

static int run_probe(const struct device *d, const char *text, const void *packed, size_t bytes, cl_long *to, int n)
{
    cl_int e;
    cl_program program = clCreateProgramWithSource(d->cl.context, 1, &text, NULL, &e);
    cl_mem out = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, (size_t)n * sizeof *to, NULL, &e);
    if (clBuildProgram(program, 1, &d->cl.device, "-cl-std=CL1.2", NULL, NULL))
        bail("the probe is not built: %s", text);
    cl_kernel kernel = clCreateKernel(program, "cla_probe", &e);
    const size_t one = 1;
    const int good = !e && !clSetKernelArg(kernel, 0, bytes, packed) && !clSetKernelArg(kernel, 1, sizeof out, &out) &&
                     !clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL) &&
                     !clEnqueueReadBuffer(d->queue, out, CL_TRUE, 0, (size_t)n * sizeof *to, to, 0, NULL, NULL);
    clReleaseKernel(kernel);
    clReleaseMemObject(out);
    clReleaseProgram(program);
    return good;
}

static void test_pass(const struct device *d, const char *what, const struct target *t)
{
    struct source source = { NULL, NULL };
    struct why why;
    struct arguments a;
    char probe[65536];
    struct text to = { probe, sizeof probe, 0 };
    const int64_t *want;
    cl_ulong packed[PARAMS_WORDS];
    cl_long got[512];
    fill(&a);
    struct params params;
    params_find(&params, t);
    params_pack(packed, &a, &params);
    const size_t bytes = params.bytes, all = params_bytes(&params);
    if (source_compose(&source, t, &why))
        bail("%s: %s", what, why.text);
    char *const text = declarations(source.text);
    const int n = write_probe(&to, text, &want, &a);
    int right = to.length < sizeof probe && run_probe(d, probe, packed, bytes, got, n + 1);
    for (int i = 0; i < n && right; i++)
        right = got[i] == want[i];
    ok(right && n > 4 && got[n] == (cl_long)bytes && all == bytes + 8 * (size_t)params.n_buffers && all <= 1024,
       "pass %s, engine %s: a struct of %zu bytes as the host packs it; with buffers %zu, at most 1024: %s",
       pass_at(t->pass)->kernel, t->config->engine->name, bytes, all, what);
    free(text);
    source_free(&source);
}

/* ---- Problems ---- */

/* Every pass of a problem, by every engine that takes it, with a workspace or without.
 * make check has one in five; CLATTN_PART=1: all. */
static void test_structs(const struct device *d, const char *what, const clattn_problem *given)
{
    static unsigned turn;
    struct caps caps;
    struct why why;
    clattn_problem p;
    caps_generic(&caps); /* the struct has no member that asks for doubles */
    if (problem_read(&p, given, &why))
        bail("%s: %s", what, why.text);
    for (size_t e = 0; engine_at(e); e++) {
        struct config config;
        if (tile_config_read(&config, engine_at(e)->name, &caps, &p, &why))
            continue;
        for (int id = 0; id < PASSES; id++) {
            const struct target t = target_make(id, &p, &caps, &config);
            if (pass_applies(id, &p, config.engine) && harness_deals(turn++, 5))
                test_pass(d, what, &t);
        }
    }
}

/* More than kernels may take: refused by every engine, in words. */
static void test_too_much(const struct device *d, const clattn_problem *given, const char *what)
{
    char why[512] = "";
    const cl_int e = clattn_emit_source(d->handle, given, "naive", why, sizeof why, NULL);
    ok(e == CLATTN_ERROR_NOT_SUPPORTED && strstr(why, "bytes of parameters"), "too much for a kernel: %s: %s", what,
       why);
    ok(clattn_supports(d->handle, given, why, sizeof why) == CLATTN_ERROR_NOT_SUPPORTED, "no engine takes it: %s", why);
}

/* All that there is, in one problem; with captured buffers as many as there may be. */
static void test_everything(const struct device *d, const char *text, int type, const char *what, int n_aux)
{
    static const clattn_score_mod mod = { "s = s;", NULL, 0 };
    static const char *const grad = "";
    static const char names[CLATTN_AUX_MAX][2] = { "a", "c", "d", "e", "f", "g", "i", "j",
                                                   "l", "m", "n", "o", "p", "r", "t", "u" };
    clattn_aux aux[CLATTN_AUX_MAX];
    clattn_problem p = each_case(text).problem;
    for (int i = 0; i < CLATTN_AUX_MAX; i++)
        aux[i] = (clattn_aux){ names[i], CLATTN_F32 };
    p.flags |= CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START | CLATTN_CU_Q | (p.page ? 0 : CLATTN_CU_K);
    p.sizes.total_q = p.sizes.total_k = 9;
    p.mods = &mod;
    p.aux = n_aux ? aux : NULL;
    p.n_mods = 1;
    p.n_aux = n_aux;
    p.mod_grads = &grad;
    p.aux_grads = (1u << n_aux) - 1;
    p.type = type;
    if (!p.page)
        p.k_type = p.v_type = type;
    if (p.page && n_aux)
        test_too_much(d, &p, what);
    else
        test_structs(d, what, &p);
}

/* Passes that write caches. */
static void test_caches(const struct device *d, const char *text)
{
    clattn_problem p = each_case(text).problem;
    p.flags |= CLATTN_APPEND | CLATTN_ROTARY | CLATTN_SCORES;
    test_structs(d, text, &p);
}

static void test_device(const struct device *d)
{
    static const char cached[] = "f32 b1 h1 q9 k9 d8 window3,4 softcap2 bias:11qk mask:11qk blocks:4,4 alibi sink "
                                 "dropout0.5 page4 k:int8z v:int8z";
    static const char backward[] = "f32 b1 h1 q9 k9 d8 window3,4 softcap2 bias:11qk mask:11qk blocks:4,4 alibi sink "
                                   "dropout0.5 bwd";
    static const char *const texts[] = {
        "f32 b1 h1 q1 k1 d8",
        "f32 b1 h1 q9 k9 d8 window3,4 softcap2 bias:11qk mask:11qk blocks:4,4 alibi sink dropout0.5",
        "f64 b1 h1 q9 k9 d8 varlen softcap2 dropout0.5",
        "f32 b1 h1 q9 k9 d8 kvlen:3 causal",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const clattn_problem p = each_case(texts[i]).problem;
        test_structs(d, texts[i], &p);
    }
    test_everything(d, texts[1], CLATTN_F32, "everything but captured buffers, in f32", 0);
    test_everything(d, texts[1], CLATTN_F16, "everything, in f16", CLATTN_AUX_MAX);
    test_everything(d, texts[1], CLATTN_F32, "everything, in f32", CLATTN_AUX_MAX);
    test_everything(d, texts[1], CLATTN_F64, "everything, in f64", CLATTN_AUX_MAX);
    test_everything(d, cached, CLATTN_F32, "everything, in f32 and int8 on pages", 0);
    test_everything(d, cached, CLATTN_F32, "everything and captured buffers, in f32 and int8 on pages",
                    CLATTN_AUX_MAX);
    test_everything(d, backward, CLATTN_F32, "everything, backward, in f32", 3);
    test_everything(d, backward, CLATTN_F64, "everything, backward, in f64", 3);
    test_caches(d, "f32 b1 h1 q9 k9 d8 page4");
    test_caches(d, "f64 b1 h1 q9 k9 d8");
}

int main(void)
{
    return each_device(test_device);
}
