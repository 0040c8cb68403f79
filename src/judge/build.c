/* build.c - a configuration made runnable: from programs to kernels that have run
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/build.h"

#include "device/exp2.h"
#include "problem/mods.h"
#include "judge/judge.h"

#include <math.h>

void build_probe(struct maker *maker, const clattn_problem *p, const struct config *config)
{
    struct why said = { "" };
    if (p->type != CLATTN_F64)
        exp2_find(&maker->programs, &maker->caps, config->engine, &said);
    if (*said.text)
        maker_log(maker, "%s", said.text);
}

/* The programs of a plan: one for each of its passes. */
struct set {
    struct built of[PASSES];
    struct source sources[PASSES];
    bool has[PASSES], wrong[PASSES];
};

/* Composes the programs of all passes that apply to the problem, and finds those that are there. */
static cl_int look_up_all(struct set *set, struct maker *maker, const clattn_problem *p, const struct config *config,
                          bool anew, struct why *why)
{
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < PASSES && !status; i++) {
        const struct target target = target_make(i, p, &maker->caps, config);
        if (!pass_applies(i, p, config->engine) || (status = source_compose(&set->sources[i], &target, why)))
            continue;
        status = program_look_up(&set->of[i], &maker->programs, &set->sources[i], anew, why);
        set->has[i] = !status;
    }
    return status;
}

/* Builds the others. The order of passes is that in which threads wait for each other (programs_begin()). What is to be
 * kept is told; of the rest a search tells. *words: what compilers said first. */
static cl_int compile_all(struct set *set, struct maker *maker, const clattn_problem *p, const struct config *config,
                          bool brief, bool anew, struct why *words)
{
    struct why said;
    cl_int status = CL_SUCCESS;
    words->text[0] = '\0';
    for (int i = 0; i < PASSES && !status; i++) {
        if (!set->has[i])
            continue;
        if (!brief && !set->of[i].program && !maker_tell(maker, CLATTN_STEP_COMPILE, p, config, pass_at(i)->kernel))
            return why_set(words, CLATTN_ERROR_CANCELLED, "cancelled");
        status = program_compile(&set->of[i], &maker->programs, &set->sources[i], anew, &said);
        if (status || !*words->text)
            *words = said;
    }
    return status;
}

/* What is kept was tried when it came to be kept. */
static bool is_untried(const struct set *set, int which)
{
    const int from = set->has[which] ? (int)set->of[which].from : BUILT_KEPT;
    return from == BUILT_LOADED || from == BUILT_COMPILED;
}

static bool any(const struct set *set, int from)
{
    bool found = false;
    for (int i = 0; i < PASSES; i++)
        found = found || (set->has[i] && (int)set->of[i].from == from);
    return found;
}

static void finish(struct set *set, struct maker *maker, bool good, bool brief)
{
    const enum program_verdict all = brief ? PROGRAM_BRIEF : PROGRAM_GOOD;
    for (int i = 0; i < PASSES; i++)
        if (set->has[i])
            program_judge(&set->of[i], &maker->programs, good ? all : set->wrong[i] ? PROGRAM_WRONG : PROGRAM_BAD);
    for (int i = 0; i < PASSES; i++) {
        if (set->has[i])
            program_release(&set->of[i], &maker->programs);
        source_free(&set->sources[i]);
    }
}

/* ---- Trying ---- */

/* Two heads that share keys, and two more where K and V are paged or quantised; a row in every lane of a tile, and some
 * of the next; some keys more than a tile; all lengths odd; two entries where anything is given for each. A program
 * serves all scales of a kind (see source.c): one beyond 2 would take the sample's scores out of the domain. */
static void choose_sample(struct sample *s, const clattn_problem *p, const struct config *config)
{
    enum { ROWS_MOST = 128, KEYS_BEHIND = 11, SCALE_MOST = 2 };
    const uint32_t of_entries = CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START | CLATTN_CU_Q | CLATTN_CU_K;
    const bool cached = p->page || problem_type_is_quantised(p->k_type) || problem_type_is_quantised(p->v_type);
    const int64_t hk = cached ? 2 : 1;
    const struct engine *const e = config->engine;
    const int own = e->rows_per_group(e, &config->tile, p), tile = e->keys_per_tile(&config->tile);
    const bool backward = p->flags & CLATTN_BACKWARD; /* owns keys, and has queries in its tiles */
    const bool summed = backward && (p->bias_type || p->aux_grads || p->flags & (PROBLEM_SLOPES | CLATTN_SINKS));
    const bool two = p->flags & of_entries || p->align == CLATTN_ALIGN_OFFSETS || p->page || summed;
    const int rows = backward ? tile : own, keys = backward ? own : tile;
    *s = (struct sample){ .p = *p, .seed = 7, .ragged = true };
    s->p.sizes = (clattn_sizes){ .b = two ? 2 : 1, .h = 2 * hk, .hk = hk, .nk = keys + KEYS_BEHIND };
    s->p.sizes.nq = (rows < ROWS_MOST ? rows : ROWS_MOST) + 3;
    s->p.scale = fmax(-SCALE_MOST, fmin(s->p.scale, SCALE_MOST));
    sample_set_totals(&s->p);
}

/* Of a sample's rows so many are computed in double as take a few milliseconds. An odd step meets all lanes. */
static int64_t step_of(const struct sample *s)
{
    enum { PRODUCTS = 700000 };
    const clattn_sizes *const z = &s->p.sizes;
    const int64_t of_row = z->nk * (s->p.d + s->p.dv), rows = z->b * z->h * z->nq;
    return rows * of_row / PRODUCTS | 1;
}

/* Runs the programs that nobody has seen run yet on a sample that has everything that the problem has, and compares the
 * result with the answer. */
static cl_int try(struct set *set, struct launch *l, const clattn_problem *p, const struct config *config,
                  struct why *why)
{
    struct sample sample;
    cl_int status = CL_SUCCESS;
    if (p->n_aux && !mods_may_be_off(p)) /* there is nothing to put into captured buffers */
        return CL_SUCCESS;
    choose_sample(&sample, p, config);
    launch_set_scale(l, sample.p.scale);
    for (int i = 0; i < PASSES && !status; i++)
        if (is_untried(set, i)) {
            status = judge_pass(i, &sample, l, step_of(&sample), false, why);
            set->wrong[i] = status == CLATTN_ERROR_WRONG_RESULT;
        }
    launch_set_scale(l, p->scale);
    return status;
}

/* ---- Making ---- */

/* Where the programs of an attempt came from. */
struct origin {
    bool loaded, compiled;
};

/* One attempt; anew: without binaries. *words: what the compiler said. */
static cl_int attempt(struct launch *out, struct maker *maker, const clattn_problem *p, const struct config *config,
                      bool brief, bool anew, struct origin *origin, struct why *words)
{
    struct set set = { .has = { false } };
    cl_program programs[PASSES];
    struct why fault;
    build_probe(maker, p, config);
    cl_int status = look_up_all(&set, maker, p, config, anew, words);
    if (!status)
        status = compile_all(&set, maker, p, config, brief, anew, words);
    if (status)
        fault = *words;
    for (int i = 0; i < PASSES; i++)
        programs[i] = set.has[i] ? set.of[i].program : NULL;
    if (!status &&
        !(status = launch_init(out, maker->context, maker->device, programs, p, &maker->caps, config, &fault))) {
        if (!(status = launch_idle(out, &fault)))
            status = try(&set, out, p, config, &fault);
        if (status)
            launch_clear(out);
    }
    *origin = (struct origin){ any(&set, BUILT_LOADED), any(&set, BUILT_COMPILED) || any(&set, BUILT_BRIEF) };
    finish(&set, maker, !status, brief);
    if (status)
        *words = fault;
    return status;
}

cl_int build_launch(struct launch *out, struct maker *maker, const clattn_problem *p, const struct config *config,
                    bool brief, int *binary, struct why *why)
{
    struct origin origin;
    cl_int status = attempt(out, maker, p, config, brief, false, &origin, why);
    if (status && origin.loaded) {
        maker_log(maker, "a stored binary is thrown away: %s", why->text);
        status = attempt(out, maker, p, config, brief, true, &origin, why);
    }
    *binary = store_is_none(&maker->store) ? CLATTN_BINARY_NONE
              : origin.compiled            ? CLATTN_BINARY_MISS
                                           : CLATTN_BINARY_HIT;
    return status;
}
