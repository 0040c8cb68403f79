/* mod_grads.c - derivatives of score_mods: the caller's texts checked, and wrapped into functions of a program.
 * Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/mod_grads.h"

#include "problem/mods.h"

#include <string.h>

static cl_int check_text(const clattn_problem *p, int i, struct why *why)
{
    const char *const text = p->mod_grads ? p->mod_grads[i] : NULL, *const name = p->mods[i].name;
    if (!text)
        REFUSE("score_mod %d%s%.80s has no derivative: mod_grads[%d] is NULL", i, name ? ", " : "", name ? name : "",
               i);
    if (strlen(text) > MODS_TEXT_MAX)
        INVALID("mod_grads[%d] is longer than %d bytes", i, MODS_TEXT_MAX);
    return CL_SUCCESS;
}

/* Whether a captured buffer may have a gradient. */
static bool is_real(const clattn_aux *aux)
{
    return aux->type == CLATTN_F32 || aux->type == CLATTN_F64;
}

/* What a text says of the element that it looks up: behind the buffer's name. */
static const char *const results[] = { "_index", "_grad" };

/* These names are no other buffer's. */
static cl_int check_names(const clattn_problem *p, int i, struct why *why)
{
    const size_t n = strlen(p->aux[i].name);
    for (int j = 0; j < p->n_aux && is_real(&p->aux[i]); j++)
        for (int r = 0; r < 2; r++)
            if (!strncmp(p->aux[j].name, p->aux[i].name, n) && !strcmp(p->aux[j].name + n, results[r]))
                INVALID("aux[%d].name \"%.40s\" means something else in a derivative, which aux[%d] is \"%.40s\" in", j,
                        p->aux[j].name, i, p->aux[i].name);
    return CL_SUCCESS;
}

static cl_int check_marks(const clattn_problem *p, struct why *why)
{
    if (p->aux_grads >> p->n_aux)
        INVALID("aux_grads is 0x%x, but n_aux is %d", (unsigned)p->aux_grads, (int)p->n_aux);
    for (int i = 0; i < p->n_aux; i++)
        if (p->aux_grads >> i & 1 && !is_real(&p->aux[i]))
            INVALID("aux_grads marks aux[%d], \"%.40s\", whose type %d is neither CLATTN_F32 nor CLATTN_F64", i,
                    p->aux[i].name, (int)p->aux[i].type);
    return CL_SUCCESS;
}

cl_int mod_grads_check(const clattn_problem *p, struct why *why)
{
    cl_int status = check_marks(p, why);
    for (int i = 0; i < p->n_mods && !status; i++)
        status = check_text(p, i, why);
    for (int i = 0; i < p->n_aux && !status; i++)
        status = check_names(p, i, why);
    return status;
}

/* Whether text i may say what it looked up in buffer j, which is marked. A name that the preprocessor puts together
 * may be any. */
static bool looks_up(const clattn_problem *p, int i, int j)
{
    static const char *const joints[] = { "##", "%:%:", "\\", ("?" "?") };
    const char *const name = p->aux[j].name;
    bool says = false;
    for (size_t n = 0; n < sizeof joints / sizeof *joints; n++)
        says = says || strstr(p->mod_grads[i], joints[n]);
    for (const char *s = p->mod_grads[i]; !says && (s = strstr(s, name)); s++)
        says = !strncmp(s + strlen(name), results[0], strlen(results[0]));
    return says && p->aux_grads >> j & 1;
}

int mod_grads_look_ups(const clattn_problem *p, int j)
{
    int n = 0;
    for (int i = 0; i < p->n_mods; i++)
        n += looks_up(p, i, j);
    return n;
}

/* Now and then next to the last element, on both sides. */
int64_t mod_grads_cell(int j, int64_t b, int64_t h, int64_t q, int64_t k)
{
    return ((3 * q + 5 * k + b + h + j) & 63) - 1;
}

/* The look-ups are numbered, text by text: how many there are, and the buffer of each. */
static void write_buffers(struct text *to, const clattn_problem *p)
{
    int n = 0;
    text_add(to, "__constant int cla_look_up_buffers[] = { ");
    for (int i = 0; i < p->n_mods; i++)
        for (int j = 0; j < p->n_aux; j++)
            if (looks_up(p, i, j)) {
                text_add(to, "%d, ", j);
                n++;
            }
    text_add(to, "-1 };\n#define CLA_LOOK_UPS %d\n", n);
}

/* Scores before each mod are computed once more. What has no gradient behind the mods has none before any of them,
 * whatever a text makes of 0. */
void mod_grads_write_calls(struct text *to, const clattn_problem *p)
{
    text_add(to, "#line 1 \"mod_grads\"\n");
    if (p->aux_grads) {
        write_buffers(to, p);
        text_add(to, "CLA_FN void cla_mods_off(const cla_env *e, real ds, integer q, integer k);\n");
    }
    for (int i = 0; i < p->n_mods; i++) {
        mods_write_head(to, p, i, true);
        text_add(to, ";\n");
    }
    text_add(to, "CLA_FN real cla_mods_grad(const cla_env *e, real s, real ds, integer q, integer k)\n{\n");
    if (mods_may_be_off(p))
        text_add(to, "    if (CLA_MODS_OFF(e)) {\n%s        return ds;\n    }\n",
                 p->aux_grads ? "        cla_mods_off(e, ds, q, k);\n" : "");
    mods_write_bounds(to, p);
    text_add(to, "    const integer none = ds == (real)(0);\n    real s0 = s;\n");
    for (int i = 0; i + 1 < p->n_mods; i++) {
        mods_write_call(to, p, i, false);
        text_add(to, "    real s%d = s;\n", i + 1);
    }
    for (int i = p->n_mods; i--;) {
        mods_write_call(to, p, i, true);
        text_add(to, "    ds = none ? (real)(0) : ds;\n");
    }
    text_add(to, "    return ds;\n}\n");
}

/* A text can say what it looks up whether calls want that or not; what is left unused is none of its author's. */
static void write_results(struct text *to, const clattn_problem *p, int i)
{
    const bool vector = mods_is_vector(&p->mods[i]);
    for (int j = 0; j < p->n_aux; j++)
        if (is_real(&p->aux[j]))
            text_add(to, "    %s %s%s = -1;\n    %s %s%s = 0;\n    (void)%s%s, (void)%s%s;\n",
                     vector ? "integer" : "int",
                     p->aux[j].name, results[0], vector ? "real" : "cla_scalar", p->aux[j].name, results[1],
                     p->aux[j].name, results[0], p->aux[j].name, results[1]);
    if (p->aux_grads)
        text_add(to, "    const %s cla_ds = ds;\n    (void)cla_ds;\n", vector ? "real" : "cla_scalar");
}

/* What it looked up, to where it is summed; *n: the number of the next look-up. */
static void write_look_ups(struct text *to, const clattn_problem *p, int i, int *n)
{
    const bool vector = mods_is_vector(&p->mods[i]);
    for (int j = 0; j < p->n_aux; j++)
        if (looks_up(p, i, j))
            text_add(to, "    cla_look_up%s(cla_e, %d, %d, %scla_ds, %s%s, %s%s);\n", vector ? "s" : "", (*n)++, j,
                     vector ? "" : "cla_lane, ", p->aux[j].name, results[0], p->aux[j].name, results[1]);
}

/* What a call with the mods off looks up: not unrolled, so that compilers have little to do with it. */
static void write_cells(struct text *to, const clattn_problem *p)
{
    int n = 0;
    for (int i = 0; i < p->n_mods; i++)
        for (int j = 0; j < p->n_aux; j++)
            if (looks_up(p, i, j)) {
                text_add(to, "    %scell = ((q * 3 + k * 5 + (e->b + e->h + %d)) & 63) - 1;\n", n ? "" : "integer ",
                         j);
                if (mods_is_vector(&p->mods[i]))
                    text_add(to, "    cla_look_ups(e, %d, %d, ds, cell, ds + ds);\n", n++, j);
                else
                    text_add(to,
                             "    CLA_NO_UNROLL for (int i = 0; i < CLA_WIDTH; i++)\n        cla_look_up(e, %d, %d, i, "
                             "CLA_LANE(ds, cla_scalar, i), (int)CLA_LANE(cell, CLA_INTEGER, i), "
                             "2 * CLA_LANE(ds, cla_scalar, i));\n",
                             n++, j);
            }
}

void mod_grads_write_texts(struct text *to, const clattn_problem *p, bool look_ups)
{
    int n = 0;
    if (p->flags & CLATTN_BACKWARD && p->aux_grads) {
        text_add(to, "#line 1 \"mods_off\"\nCLA_FN void cla_mods_off(const cla_env *e, real ds, integer q, integer k)\n"
                     "{\n");
        if (look_ups)
            write_cells(to, p);
        text_add(to, "}\n");
    }
    for (int i = 0; i < p->n_mods && p->flags & CLATTN_BACKWARD; i++) {
        mods_write_before(to, p->mod_grads[i]);
        mods_write_head(to, p, i, true);
        text_add(to, "\n{\n");
        write_results(to, p, i);
        mods_write_inside(to, "derivative of ", p->mods[i].name, p->mod_grads[i]);
        if (look_ups)
            write_look_ups(to, p, i, &n);
        text_add(to, "    return ds;\n}\n");
    }
}
