/* build.c - a configuration made runnable: from programs to kernels that have run
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "build.h"

#include <stdarg.h>
#include <stdio.h>

void maker_log(struct maker *maker, const char *format, ...)
{
    struct why line;
    va_list ap;
    if (!maker->log)
        return;
    va_start(ap, format);
    if (vsnprintf(line.text, sizeof line.text, format, ap) < 0)
        line.text[0] = '\0';
    va_end(ap);
    maker->log(maker->log_user, line.text);
}

void maker_count(uint64_t *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

/* The programs of a plan: forward, and where a problem has both mask and map, the one that makes maps. */
enum { FORWARD, MAP, BUILDS };
struct set {
    struct built of[BUILDS];
    bool has[BUILDS];
};

static cl_int get(struct set *set, int which, struct maker *maker, struct source *source, bool anew, struct why *why)
{
    const cl_int status = program_get(&set->of[which], &maker->programs, source, anew, why);
    source_free(source);
    set->has[which] = !status;
    return status;
}

static cl_int get_map(struct set *set, struct maker *maker, const clattn_problem *p, bool anew, struct why *why)
{
    enum { BOTH = CLATTN_MASK | CLATTN_BLOCK_MAP };
    struct source source = { NULL, NULL };
    if ((p->flags & BOTH) != BOTH)
        return CL_SUCCESS;
    const cl_int status = source_compose_map(&source, &maker->caps, why);
    return status ? status : get(set, MAP, maker, &source, anew, why);
}

static bool any(const struct set *set, int from)
{
    bool found = false;
    for (int i = 0; i < BUILDS; i++)
        found = found || (set->has[i] && (int)set->of[i].from == from);
    return found;
}

static void finish(struct set *set, struct maker *maker, bool good, bool brief)
{
    for (int i = 0; i < BUILDS; i++) {
        if (set->has[i] && good)
            program_done(&set->of[i], &maker->programs, brief);
        else if (set->has[i])
            program_refuse(&set->of[i], &maker->programs);
        set->has[i] = false;
    }
}

/* A small call with everything that the problem has, against the answer. What a caller's text computes nobody here knows. */
static cl_int test_loaded(struct launch *l, struct maker *maker, const clattn_problem *p, struct why *why)
{
    struct sample sample = { *p, 7, true, false };
    struct bed bed;
    double seconds, device;
    if (p->n_mods)
        return CL_SUCCESS;
    sample.p.sizes = (clattn_sizes){ 2, 2, 1, 9, 17, 0, 0, 0 };
    if (p->flags & CLATTN_CU_Q)
        sample.p.sizes.total_q = 5 + 9;
    if (p->flags & CLATTN_CU_K)
        sample.p.sizes.total_k = 9 + 17;
    cl_int status = bed_open(&bed, maker->context, maker->device, &sample, false, 1, why);
    if (!status && !(status = bed_run(&bed, l, 0, &seconds, &device, why)))
        status = bed_check(&bed, 1, why);
    bed_close(&bed);
    return status;
}

/* Where the programs of a try came from. */
struct origin {
    bool loaded, compiled;
};

/* One try; anew: without binaries. *words: what the compiler said. */
static cl_int try(struct launch *out, struct maker *maker, const clattn_problem *p, const struct config *config,
                  bool brief, bool anew, struct origin *origin, struct why *words)
{
    struct set set = { .has = { false, false } };
    struct source source = { NULL, NULL };
    struct why fault;
    cl_int status;
    *origin = (struct origin){ false, false };
    if ((status = source_compose(&source, p, &maker->caps, config, words)) ||
        (status = get(&set, FORWARD, maker, &source, anew, words)))
        return status;
    if (!(status = get_map(&set, maker, p, anew, &fault)) &&
        !(status = launch_init(out, maker->context, maker->device, set.of[FORWARD].program,
                               set.has[MAP] ? set.of[MAP].program : NULL, p, &maker->caps, config, &fault))) {
        if (!(status = launch_idle(out, &fault)) && any(&set, BUILT_LOADED))
            status = test_loaded(out, maker, p, &fault);
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
    cl_int status = try(out, maker, p, config, brief, false, &origin, why);
    if (status && origin.loaded) {
        maker_log(maker, "a stored binary is thrown away: %s", why->text);
        status = try(out, maker, p, config, brief, true, &origin, why);
    }
    *binary = store_is_none(&maker->store) ? CLATTN_BINARY_NONE
              : origin.compiled            ? CLATTN_BINARY_MISS
                                           : CLATTN_BINARY_HIT;
    return status;
}
