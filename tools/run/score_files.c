/* score_files.c - scores and weights of the forward call of a setup, written to files
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/score_files.h"

#include "tools/oracle/convert.h"

#include <stdlib.h>
#include <string.h>

/* The stage that "STAGE=S.npy" begins with; VERIFY_SCORES: none. *path: what stands behind. */
static int stage_of(const char *value, const char **path)
{
    const char *const equals = strchr(value, '=');
    const size_t n = equals ? (size_t)(equals - value) : 0;
    int stage = 0;
    *path = equals ? equals + 1 : NULL;
    while (stage < VERIFY_SCORES &&
           (strlen(verify_score_names[stage]) != n || strncmp(verify_score_names[stage], value, n) != 0))
        stage++;
    return stage;
}

int score_files_need_lse(const struct options *o)
{
    const char *path;
    int needed = 0;
    for (int i = 0; i < o->scores.n; i++)
        needed = needed || stage_of(o->scores.at[i], &path) == CLATTN_SCORES_WEIGHTS;
    return needed;
}

static int make_room(struct score_files *s, const struct options *o, const struct arrays *a, struct fault *f)
{
    const clattn_sizes *const z = &a->c.problem.sizes;
    const int varlen = o->cu_q != NULL;
    const int64_t axes[] = { z->h, varlen ? z->total_q : z->nq, z->nk };
    s->n = varlen ? 1 : (size_t)z->b;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        if (axes[i] && s->n > SIZE_MAX / sizeof(double) / (size_t)axes[i] - 1)
            return fault_set(f, EXIT_USAGE, "--scores: they would be too large");
        s->n *= (size_t)axes[i];
    }
    for (int stage = 0; stage < VERIFY_SCORES; stage++)
        if (s->path[stage] && !(s->at[stage] = malloc((s->n + 1) * sizeof(double))))
            return fault_set(f, EXIT_UNSUPPORTED, "--scores: %s: there is no memory for it", s->path[stage]);
    return 0;
}

int score_files_read(const struct options *o, const struct arrays *a, struct score_files *s, struct fault *f)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < o->scores.n; i++) {
        const char *const value = o->scores.at[i], *path;
        const int stage = stage_of(value, &path);
        if (stage == VERIFY_SCORES)
            return fault_set(f, EXIT_USAGE,
                             "--scores: %s is not STAGE=S.npy, of stage products, changed, masked or weights", value);
        if (s->path[stage])
            return fault_set(f, EXIT_USAGE, "--scores: %s: it is written already", value);
        s->path[stage] = path;
    }
    return o->scores.n ? make_room(s, o, a, f) : 0;
}

void score_files_free(struct score_files *s)
{
    for (int stage = 0; stage < VERIFY_SCORES; stage++)
        free(s->at[stage]);
    memset(s, 0, sizeof *s);
}

cl_int score_files_run(struct score_files *s, struct setup *setup, clattn_plan plan)
{
    const int type = setup->c.problem.o_type;
    clattn_scores_args args = CLATTN_SCORES_ARGS_INIT;
    cl_int e = CL_SUCCESS;
    args.forward = &setup->args;
    for (int stage = 0; stage < VERIFY_SCORES && e == CL_SUCCESS; stage++) {
        if (!s->at[stage])
            continue;
        args.stage = stage;
        e = setup_numbers(setup->context, &args.scores.mem, type, NULL, s->n);
        if (e == CL_SUCCESS)
            e = clattn_enqueue_scores(plan, setup->queue, &args, 0, NULL, NULL);
        if (e == CL_SUCCESS)
            e = clFinish(setup->queue);
        if (e == CL_SUCCESS)
            e = setup_numbers_back(setup->queue, args.scores.mem, type, s->at[stage], s->n);
        setup_release(&args.scores.mem, 1);
    }
    return e;
}
