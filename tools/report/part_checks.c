/* part_checks.c - results of every engine against float64, by the bound that clattn.h promises
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/parts.h"

#include "tools/report/checked.h"

#include <math.h>
#include <string.h>

/* All of the library; tests/program/report.t holds this to what it says of a wrong name. */
static const char *const engines[] = { "simt", "cpu", "row", "naive", "mma_nv", "mfma", "wmma", "dpas", "dpas8", NULL };

/* What each engine has to show, in each type. */
static const char *const engine_problems[] = {
    "f16 b1 h4/2 q65 k133 d64 causal lse", "bf16 b1 h4/2 q65 k133 d64 causal lse",
    "f32 b1 h4/2 q65 k133 d64 causal lse", NULL,
};

/* The configuration that a call gets by itself: prompts, decoding, gradients, stored in the ways that models have. */
static const char *const usual[] = {
    "f16 b1 h4/2 q131 k261 d128 causal lse",
    "bf16 b1 h4/2 q131 k261 d128 causal lse",
    "f32 b1 h2 q131 k261 d64 lse",
    "f16 b2 h8/2 q1 k1030 d128 kvlen:1030,77 lse",
    "f16 b1 h2 q65 k130 d64 causal bwd",
    "f32 b1 h4/2 q65 k90 d64 causal bwd",
    "f16 b2 h8/2 q1 k500 d128 page16 kvlen:500,77 k:q8_0 v:q4_0 lse",
    "f32 b2 h4/2 q33 k70 d64 window20,9 softcap5 alibi bias:1hqk mask:b1qk sink lse",
    NULL,
};

/* The rest, where there is time: of each engine, then of what few ask for. */
static const char *const of_each[] = { "f32 b2 h2 q129 k127 d128 lse", "f16 b2 h8/2 q3 k300 d128 causal lse",
                                       "f16 b1 h4/2 q65 k70 d64 causal bwd", NULL };
static const char *const others[] = {
    "bf16 b1 h2 q65 k130 d64 causal bwd",
    "f16 b4 h4/2 q65 k65 d80 varlen causal lse",
    "f16 b1 h2/1 q33 k66 d576/512 causal lse",
    "f16 b2 h4/2 q33 k70 d96 k:int8:32 v:int4:16z lse",
    "f32 b2 h4/2 q9 k70 d64/96 k:q5_1 v:q4_1 bias:12qk slopes lse",
    "f32 b1 h2 q150 k300 d64 blocks:64,64 lse",
    "f32 b1 h2 q65 k90 d64 causal softcap5 alibi bias:1hqk sink bwd",
    "f32 b2 h8 q257 k2 d64 scale0.01 lse",
    "f32 b1 h2 q33 k70 d64 scale1000 lse",
    "f64 b1 h2 q33 k70 d64 causal lse",
    NULL,
};

static void tell_check(struct visit *v, const char *problem, const char *config, const struct checked *c)
{
    struct fact_line l;
    fact_begin(&l, "check");
    fact_add(&l, problem);
    fact_add(&l, *c->config ? c->config : config ? config : "");
    fact_add(&l, c->what ? c->what : "");
    fact_add_number(&l, c->bounds, 3);
    fact_add(&l, checked_verdict(c));
    fact_add(&l, c->words);
    parts_send(v, &l);
}

static void check(struct visit *v, const char *problem, const char *config)
{
    struct checked c;
    char doing[256];
    snprintf(doing, sizeof doing, "%s%s%s", problem, config ? " by " : "", config ? config : "");
    if (!parts_step(v, doing))
        return;
    checked_run(&v->where, v->handle, problem, config, &c);
    tell_check(v, problem, config, &c);
}

static void try_engine(struct visit *v, const char *engine, const char *problem)
{
    struct checked c;
    struct fact_line l;
    char doing[256], type[8];
    snprintf(doing, sizeof doing, "engine %s: %s", engine, problem);
    snprintf(type, sizeof type, "%.*s", (int)strcspn(problem, " "), problem);
    if (!parts_step(v, doing))
        return;
    checked_run(&v->where, v->handle, problem, engine, &c);
    fact_begin(&l, "engine");
    fact_add(&l, engine);
    fact_add(&l, type);
    fact_add(&l, checked_verdict(&c));
    fact_add_number(&l, c.compile_s, 3);
    fact_add(&l, c.what ? c.what : "");
    fact_add_number(&l, c.bounds, 3);
    fact_add(&l, c.config);
    fact_add(&l, c.words);
    parts_send(v, &l);
}

void part_engines(struct visit *v)
{
    for (int p = 0; engine_problems[p]; p++)
        for (int i = 0; engines[i]; i++)
            try_engine(v, engines[i], engine_problems[p]);
}

void part_checks(struct visit *v)
{
    for (int i = 0; usual[i]; i++)
        check(v, usual[i], NULL);
}

void part_more_checks(struct visit *v)
{
    for (int i = 0; others[i]; i++)
        check(v, others[i], NULL);
    for (int p = 0; of_each[p]; p++)
        for (int i = 0; engines[i]; i++)
            check(v, of_each[p], engines[i]);
}
