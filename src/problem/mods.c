/* mods.c - score_mods: the caller's texts checked, and wrapped into functions of a program. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/mods.h"

#include "problem/mod_macros.h"
#include "problem/problem_type.h"

#include <string.h>

enum { NAME_MAX_BYTES = 64 };

/* ---- Checking ---- */

static cl_int check_mod(const clattn_score_mod *m, int i, struct why *why)
{
    if (!m->text)
        INVALID("mods[%d].text is NULL", i);
    if (strlen(m->text) > MODS_TEXT_MAX)
        INVALID("mods[%d].text is longer than %d bytes", i, MODS_TEXT_MAX);
    if (m->flags & ~(uint32_t)CLATTN_MOD_VECTOR)
        INVALID("mods[%d].flags 0x%x has unknown bits", i, (unsigned)m->flags);
    return CL_SUCCESS;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_identifier(const char *name)
{
    size_t n = 0;
    for (; name[n] && n <= NAME_MAX_BYTES; n++)
        if (!is_letter(name[n]) && !(n && name[n] >= '0' && name[n] <= '9'))
            return false;
    return n && n <= NAME_MAX_BYTES;
}

static bool is_taken(const char *name)
{
    static const char *const words[] = { "s", "ds", "b", "h", "q", "k", "real", "integer", "real_" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i]))
            return true;
    return !strncmp(name, "cla_", 4) || !strncmp(name, "CLA_", 4);
}

static cl_int check_aux(const clattn_problem *p, int i, struct why *why)
{
    const char *name = p->aux[i].name;
    char types[PROBLEM_TYPE_WORDS];
    if (!name)
        INVALID("aux[%d].name is NULL", i);
    if (!is_identifier(name))
        INVALID("aux[%d].name \"%.40s\" is no identifier of at most %d letters, digits and _", i, name, NAME_MAX_BYTES);
    if (is_taken(name))
        INVALID("aux[%d].name \"%.40s\" means something else in a score_mod", i, name);
    for (int j = 0; j < i; j++)
        if (!strcmp(name, p->aux[j].name))
            INVALID("aux[%d] and aux[%d] are both named \"%.40s\"", j, i, name);
    if (!problem_type_may(p->aux[i].type, PROBLEM_CAPTURED))
        INVALID("aux[%d].type %d is none of %s", i, (int)p->aux[i].type, problem_type_ranges(types, PROBLEM_CAPTURED));
    if (p->aux[i].type == CLATTN_F64 && p->type != CLATTN_F64)
        REFUSE("aux[%d]: captured buffers of f64 go with f64 only", i);
    return CL_SUCCESS;
}

cl_int mods_check(const clattn_problem *p, struct why *why)
{
    cl_int status = CL_SUCCESS;
    if (p->n_mods < 0 || p->n_mods > CLATTN_MODS_MAX)
        INVALID("n_mods is %d, outside 0 to %d", (int)p->n_mods, CLATTN_MODS_MAX);
    if (p->n_aux < 0 || p->n_aux > CLATTN_AUX_MAX)
        INVALID("n_aux is %d, outside 0 to %d", (int)p->n_aux, CLATTN_AUX_MAX);
    if (p->n_mods && !p->mods)
        INVALID("n_mods is %d, but mods is NULL", (int)p->n_mods);
    if (p->n_aux && !p->aux)
        INVALID("n_aux is %d, but aux is NULL", (int)p->n_aux);
    if (p->n_aux && !p->n_mods)
        INVALID("n_aux is %d, but there is no score_mod to read captured buffers", (int)p->n_aux);
    for (int i = 0; i < p->n_mods && !status; i++)
        status = check_mod(&p->mods[i], i, why);
    for (int i = 0; i < p->n_aux && !status; i++)
        status = check_aux(p, i, why);
    return status;
}

/* ---- Writing ---- */

bool mods_may_be_off(const clattn_problem *p)
{
    return p->n_aux && p->flags & CLATTN_BACKWARD;
}

bool mods_is_vector(const clattn_score_mod *m)
{
    return m->flags & CLATTN_MOD_VECTOR;
}

void mods_write_head(struct text *to, const clattn_problem *p, int i, bool back)
{
    const bool vector = mods_is_vector(&p->mods[i]);
    const char *real = vector ? "real" : "cla_scalar", *integer = vector ? "integer" : "int";
    text_add(to, "CLA_FN %s cla_mod_%s%d(", real, back ? "grad_" : "", i);
    if (back)
        text_add(to, "%s ds, ", real);
    text_add(to, "%s s, const int b, const int h, const %s q, const %s k", real, integer, integer);
    for (int j = 0; j < p->n_aux; j++)
        text_add(to, ", %s *%s", problem_type_at(p->aux[j].type)->captured, p->aux[j].name);
    if (back && p->aux_grads)
        text_add(to, ", const cla_env *cla_e%s", vector ? "" : ", const int cla_lane");
    text_add(to, ")");
}

void mods_write_call(struct text *to, const clattn_problem *p, int i, bool back)
{
    const char *const function = back ? "cla_mod_grad_" : "cla_mod_", *const x = back ? "ds" : "s";
    /* The score's own name, sI, in derivatives. Clang 17 to 21 crash where it is copied back to the parameter s and
     * that is read lane by lane. */
    char name[16] = "s";
    struct text to_name = { name, sizeof name, 0 };
    if (back)
        text_add(&to_name, "s%d", i);
    if (mods_is_vector(&p->mods[i]))
        text_add(to, "    %s = %s%d(%s%s, e->b, e->h, q, k", x, function, i, back ? "ds, " : "", name);
    else
        text_add(to,
                 "    CLA_UNROLL for (int i = 0; i < CLA_WIDTH; i++)\n        CLA_LANE(%s, cla_scalar, i) = "
                 "%s%d(%sCLA_LANE(%s, cla_scalar, i), e->b, e->h, (int)CLA_LANE(q, CLA_INTEGER, i), "
                 "(int)CLA_LANE(k, CLA_INTEGER, i)",
                 x, function, i, back ? "CLA_LANE(ds, cla_scalar, i), " : "", name);
    for (int j = 0; j < p->n_aux; j++)
        text_add(to, ", e->at.aux_%s + e->a->aux_offset[%d]", p->aux[j].name, j);
    if (back && p->aux_grads)
        text_add(to, mods_is_vector(&p->mods[i]) ? ", e" : ", e, i");
    text_add(to, ");\n");
}

void mods_write_bounds(struct text *to, const clattn_problem *p)
{
    bool scalar = false;
    for (int i = 0; i < p->n_mods; i++)
        scalar = scalar || !mods_is_vector(&p->mods[i]);
    if (scalar)
        text_add(to,
                 "    q = min(q, (integer)(cla_last(e->q_len)));\n    k = min(k, (integer)(cla_last(e->k_end)));\n");
}

/* The name between the quotes of a #line. */
static void write_name(struct text *to, const char *name)
{
    for (; *name; name++)
        text_add(to, (*name == '"' || *name == '\\') ? "\\%c" : "%c", (unsigned char)*name < ' ' ? '?' : *name);
}

void mods_write_before(struct text *to, const char *text)
{
    text_add(to, "#line 1 \"mods\"\n");
    mod_macros_write(to, text, false);
}

void mods_write_inside(struct text *to, const char *of, const char *name, const char *text)
{
    text_add(to, "#line 1 \"%s", of);
    write_name(to, name && *name ? name : "score_mod");
    text_add(to, "\"\n");
    text_add_n(to, text, strlen(text));
    text_add(to, "\n\n#line 1 \"mods\"\n");
    mod_macros_write(to, text, true);
}

void mods_write_texts(struct text *to, const clattn_problem *p)
{
    for (int i = 0; i < p->n_mods; i++) {
        mods_write_before(to, p->mods[i].text);
        mods_write_head(to, p, i, false);
        text_add(to, "\n{\n");
        mods_write_inside(to, "", p->mods[i].name, p->mods[i].text);
        text_add(to, "    return s;\n}\n");
    }
}

void mods_write_calls(struct text *to, const clattn_problem *p)
{
    text_add(to, "#line 1 \"mods\"\n");
    if (mods_may_be_off(p))
        text_add(to, "#define CLA_MODS_OFF(e) ((e)->a->wanted & %d)\n", MODS_OFF);
    for (int i = 0; i < p->n_mods; i++) {
        mods_write_head(to, p, i, false);
        text_add(to, ";\n");
    }
    text_add(to, "CLA_FN real cla_mods(const cla_env *e, real s, integer q, integer k)\n{\n");
    if (mods_may_be_off(p))
        text_add(to, "    if (CLA_MODS_OFF(e)) return s;\n");
    mods_write_bounds(to, p);
    for (int i = 0; i < p->n_mods; i++) {
        mods_write_call(to, p, i, false);
        if (i + 1 < p->n_mods) /* what one mod drops no later one brings back */
            text_add(to, "    %s(s == (real)(-INFINITY));\n", i ? "gone |= " : "integer gone = ");
    }
    text_add(to, p->n_mods > 1 ? "    return gone ? (real)(-INFINITY) : s;\n}\n" : "    return s;\n}\n");
}
