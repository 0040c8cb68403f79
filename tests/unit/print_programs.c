/* print_programs.c - writes the program of every kernel of many plans into a folder, as a generic GPU and CPU get them
 * SPDX-License-Identifier: Apache-2.0
 *
 * print_programs FOLDER: ENGINE.N.KERNEL.cl, whose first line is a comment with the build options. */
#include "config.h"

#include <clattn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every engine in every type, with what changes a program most. */
static const struct {
    const char *engine, *problem;
} rows[] = {
    { "naive", "f32 b1 h1 q5 k9 d64 causal lse" },
    { "naive", "f16 b1 h1 q5 k9 d42/26 window3,1 softcap4 alibi bias:bhqk mask:11qk blocks:2,2 sink lse" },
    { "naive", "f64 b1 h1 q5 k9 d42/26 sink dropout0.5 lse" },
    { "cpu", "f32 b1 h1 q5 k9 d64 causal lse" },
    { "cpu", "f16 b1 h1 q5 k9 d42/26 window3,1 softcap4 alibi bias:bhqk mask:11qk blocks:2,2 sink page4 k:int8:16z "
             "v:int4 lse" },
    { "cpu", "bf16 b1 h1 q5 k9 d64 varlen k:q8_0 v:q4_0 lse" },
    { "cpu", "f64 b1 h1 q5 k9 d41/26 softcap3 dropout0.5 scale4 lse" },
    { "row", "f32 b1 h4/1 q1 k9 d64 causal lse" },
    { "row", "f16 b1 h1 q1 k9 d41/26 window3,1 softcap4 alibi bias:bhqk mask:11qk blocks:2,2 sink lse" },
    { "row", "bf16 b1 h8/2 q1 k9 d64 dropout0.5 page4 k:q8_0 v:q4_0 lse" },
    { "row", "f16 b1 h8/2 q1 k9 d64 kvlen:9 k:int8 v:int4:32z lse" },
    { "row", "f64 b1 h1 q1 k9 d64 lse" },
    { "simt", "f32 b1 h1 q5 k9 d64 causal lse" },
    { "simt", "f16 b1 h1 q5 k9 d42/26 window3,1 softcap4 alibi bias:bhqk mask:11qk blocks:2,2 sink page4 k:int8:16z "
              "v:int4 lse" },
    { "simt", "bf16 b1 h1 q5 k9 d64 dropout0.5 varlen k:q8_0 v:q4_0 lse" },
    { "simt", "f64 b1 h1 q5 k9 d41/26 softcap3 scale4 lse" },
    { "mma_emu", "f16 b1 h1 q5 k9 d64 causal dropout0.5 lse" },
    { "mma_emu", "bf16 b1 h1 q5 k9 d72/40 window3,1 softcap4 alibi bias:bhqk mask:11qk blocks:2,2 sink page4 lse" },
    { "cpu", "f32 b1 h1 q5 k9 d8 alibi bias:11q1 sink causal lse bwd" },
    { "cpu", "f32 b1 h1 q5 k9 d64 causal dropout0.5 lse bwd" },
    { "cpu", "f16 b1 h2/1 q5 k9 d64 window3,1 softcap4 mask:b1qk bias:11qk lse bwd" },
    { "cpu", "f64 b1 h2 q5 k9 d41/26 alibi dropout0.5 varlen lse bwd" },
    { "simt", "bf16 b1 h1 q5 k9 d8 alibi bias:11q1 sink causal lse bwd" },
    { "simt", "f32 b1 h2/1 q5 k9 d64 window3,1 softcap4 mask:b1qk blocks:2,2 lse bwd" },
    { "simt", "f64 b1 h1 q5 k9 d41/26 bias:bhqk dropout0.5 lse bwd" },
    { "mma_emu", "f16 b1 h1 q5 k9 d64 alibi bias:11q1 sink causal lse bwd" },
    { "mma_emu", "bf16 b1 h1 q5 k9 d72/40 softcap4 dropout0.5 lse bwd" },
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Every second one has score_mods, the caller's own, of both forms; they look up a table. */
static const clattn_score_mod mods[] = { { "s = s + table[h * 4 + (q & 3)];", "lookup", 0 },
                                         { "s = s * (real)(0.5f);", "half", CLATTN_MOD_VECTOR } };
static const char *const mod_grads[] = { "table_index = h * 4 + (q & 3); table_grad = ds;", "ds *= (real)(0.5f);" };

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return 0;
}

static int write_text(const char *path, const char *text)
{
    FILE *const f = fopen(path, "w");
    if (!f)
        return fail(path, "cannot be written");
    const int good = fputs(text, f) >= 0;
    return (fclose(f) == 0 && good) || fail(path, "cannot be written");
}

/* Writes the program of a kernel. */
static int emit(const clattn_problem *p, const char *engine, const char *kernel, const char *path)
{
    size_t needed = 0;
    cl_int e = clattn_emit_kernel(NULL, p, engine, kernel, NULL, 0, &needed);
    char *const text = e ? NULL : malloc(needed);
    e = text ? clattn_emit_kernel(NULL, p, engine, kernel, text, needed, NULL) : e ? e : CL_OUT_OF_HOST_MEMORY;
    const int good = e ? fail(kernel, clattn_status_string(e)) : write_text(path, text);
    free(text);
    return good;
}

/* The kernels of the problem's plans: those that a name which is none is answered with. */
static int emit_all(const clattn_problem *p, const char *engine, const char *folder, int row)
{
    char names[1024] = "", path[2048];
    const char *at;
    clattn_emit_kernel(NULL, p, engine, "none", names, sizeof names, NULL);
    if (!(at = strstr(names, "but ")))
        return fail(engine, names);
    for (at += 4; *at; at += strspn(at, ", ")) {
        char kernel[64];
        const size_t n = strcspn(at, ",");
        snprintf(kernel, sizeof kernel, "%.*s", (int)n, at);
        snprintf(path, sizeof path, "%s/%s.%d.%s.cl", folder, engine, row, kernel);
        if (!emit(p, engine, kernel, path))
            return 0;
        at += n;
    }
    return 1;
}

int main(int argc, char **argv)
{
    char why[512] = "";
    int good = argc == 2;
    for (int i = 0; i < ROWS && good; i++) {
        clattn_workload w = CLATTN_WORKLOAD_INIT;
        clattn_problem *const p = &w.problem;
        if (clattn_workload_parse(rows[i].problem, &w, why, sizeof why))
            return !fail(rows[i].problem, why);
        const clattn_aux table = { "table", p->type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32 };
        const int backward = (p->flags & CLATTN_BACKWARD) != 0;
        if (!backward && !(p->flags & CLATTN_CU_K))
            p->flags |= CLATTN_APPEND | CLATTN_ROTARY;
        p->flags |= backward ? 0 : CLATTN_SCORES;
        if (i % 2 && !(backward && !strcmp(rows[i].engine, "mma_emu"))) {
            p->mods = mods;
            p->n_mods = 2;
            p->aux = &table;
            p->n_aux = 1;
            p->mod_grads = backward ? mod_grads : NULL;
            p->aux_grads = backward;
        }
        good = emit_all(p, rows[i].engine, argv[1], i);
    }
    return !good;
}
