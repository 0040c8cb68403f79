/* silent.c - nothing reaches stderr or stdout, neither of the library nor of a driver's compiler, whatever is built
 * SPDX-License-Identifier: Apache-2.0
 *
 * Drivers write there what their compilers warn of: PoCL does. The programs of all kernels are compiled and run. */
#include "config.h"

#include "tests/lib/cache_fixture.h"
#include "tests/lib/each.h"

#include <unistd.h>

/* Each kernel of each engine, once; the pass over keys of gradients with everything that it may add up. */
static const struct {
    const char *config, *problem;
    int mods; /* and with a score_mod, whose table has a gradient */
} rows[] = {
    { NULL, "f32 b1 h2/1 q5 k9 d8 causal lse", 0 },
    { NULL, "f16 b1 h2/1 q1 k9 d8 kvlen:9 k:int8z v:int4 page4 alibi sink lse", 1 },
    { NULL, "f32 b1 h2/1 q5 k9 d32 mask:11qk blocks:2,2 softcap4 bias:b1qk k:q8_0 v:q4_0 lse", 0 },
    { "naive", "bf16 b1 h2/1 q5 k9 d8 window3,1 lse", 0 },
    { "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", "f16 b1 h2/1 q5 k9 d8 causal alibi lse", 1 },
    { NULL, "f32 b1 h2/1 q5 k9 d8 causal alibi bias:11q1 sink lse bwd", 0 },
    { NULL, "f32 b1 h2/1 q5 k9 d64 lse bwd", 1 },
    { NULL, "f64 b1 h2/1 q9 k40 d8 bias:11qk lse bwd", 0 },
    { "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", "f16 b1 h2/1 q5 k9 d8 window3,1 softcap4 alibi bias:11qk sink lse bwd", 1 },
    { "mma_emu nw1,rt1,bk16,qreg0", "f16 b1 h2/1 q5 k9 d16 causal alibi bias:1h1k lse bwd", 0 },
};

static const clattn_score_mod mods[] = { { "s = s + table[h * 4 + (q & 3)];", "lookup", 0 } };
static const char *const mod_grads[] = { "table_index = h * 4 + (q & 3); table_grad = ds;" };
static const clattn_aux table = { "table", CLATTN_F32 };

static cl_int build(const struct device *d, size_t i)
{
    clattn_workload w = each_case(rows[i].problem);
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    clattn_problem *const p = &w.problem;
    const int backward = (p->flags & CLATTN_BACKWARD) != 0;
    o.config = rows[i].config;
    p->flags |= backward ? 0 : CLATTN_APPEND | CLATTN_ROTARY | CLATTN_SCORES;
    if (rows[i].mods) {
        p->mods = mods;
        p->aux = &table;
        p->n_mods = p->n_aux = 1;
        p->mod_grads = mod_grads;
        p->aux_grads = backward;
    }
    const cl_int e = clattn_plan_create(&plan, d->handle, p, &o);
    clattn_plan_release(plan);
    return e;
}

/* What is written to both by one build, as far as there is room; *e: its status. */
static void listen(const struct device *d, size_t i, cl_int *e, char *said, size_t room)
{
    FILE *const file = tmpfile();
    const int out = dup(1), err = dup(2);
    if (!file || out < 0 || err < 0 || fflush(stdout) || dup2(fileno(file), 1) < 0 || dup2(fileno(file), 2) < 0)
        bail("no file in place of stderr");
    *e = build(d, i);
    fflush(stdout);
    fflush(stderr);
    if (dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(99);
    const ssize_t n = pread(fileno(file), said, room - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    fclose(file);
    close(out);
    close(err);
}

static void test(const struct device *d)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* make check: the default backward, and forward with caches and a score_mod */
        if (!harness_turn((unsigned)i, i == 1 || i == 5))
            continue;
        char said[1024] = "";
        cl_int e;
        listen(d, i, &e, said, sizeof said);
        if (e == CLATTN_ERROR_NOT_SUPPORTED)
            skip("%s, %s has no such plan here", rows[i].config, rows[i].problem);
        else if (!ok(!e && !*said, "%s builds in silence (%s): %s", rows[i].config ? rows[i].config : "the default",
                     clattn_status_string(e), rows[i].problem))
            diag("%s", said);
    }
}

int main(void)
{
    char cache[NEST_PATH];
    cache_fixture_make(cache);
    setenv("POCL_CACHE_DIR", cache, 1); /* empty, so that all is compiled */
    const int status = each_device(test);
    cache_fixture_remove(cache);
    return status;
}
