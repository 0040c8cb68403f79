/* mods.c - score_mods: the caller's texts checked, and wrapped into functions of a program. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/mods.h"
#include "base/text.h"

#include <string.h>

#define INVALID(...) return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

enum { TEXT_MAX = 1 << 20, NAME_MAX_BYTES = 64 };

const char *mods_aux_type(int type)
{
    static const char *const names[] = {
        [CLATTN_F32] = "const __global float",   [CLATTN_F16] = "const __global half",
        [CLATTN_BF16] = "const __global ushort", [CLATTN_F64] = "const __global double",
        [CLATTN_I32] = "const __global int",     [CLATTN_U8] = "const __global uchar",
    };
    return type >= CLATTN_F32 && type <= CLATTN_U8 ? names[type] : NULL;
}

/* ---- Checking ---- */

static cl_int check_mod(const clattn_score_mod *m, int i, struct why *why)
{
    if (!m->text)
        INVALID("mods[%d].text is NULL", i);
    if (strlen(m->text) > TEXT_MAX)
        INVALID("mods[%d].text is longer than %d bytes", i, TEXT_MAX);
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
    if (!name)
        INVALID("aux[%d].name is NULL", i);
    if (!is_identifier(name))
        INVALID("aux[%d].name \"%.40s\" is no identifier of at most %d letters, digits and _", i, name, NAME_MAX_BYTES);
    if (is_taken(name))
        INVALID("aux[%d].name \"%.40s\" means something else in a score_mod", i, name);
    for (int j = 0; j < i; j++)
        if (!strcmp(name, p->aux[j].name))
            INVALID("aux[%d] and aux[%d] are both named \"%.40s\"", j, i, name);
    if (!mods_aux_type(p->aux[i].type))
        INVALID("aux[%d].type %d is none of CLATTN_F32 .. CLATTN_U8", i, (int)p->aux[i].type);
    if (p->aux[i].type == CLATTN_F64 && p->type != CLATTN_F64)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "aux[%d]: captured buffers of f64 go with f64 only", i);
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

static bool is_vector(const clattn_score_mod *m)
{
    return m->flags & CLATTN_MOD_VECTOR;
}

/* Texts for vectors never index. */
static bool any_scalar(const clattn_problem *p)
{
    for (int i = 0; i < p->n_mods; i++)
        if (!is_vector(&p->mods[i]))
            return true;
    return false;
}

/* The name between the quotes of a #line. */
static void write_name(struct text *to, const char *name)
{
    for (; *name; name++)
        text_add(to, (*name == '"' || *name == '\\') ? "\\%c" : "%c", (unsigned char)*name < ' ' ? '?' : *name);
}

/* ---- Macros of a text, which must not reach the next one ---- */

/* The next character of a C text as the preprocessor sees it, where lines that end in a backslash go on; '\0' at the
 * end. */
static char next(const char **at)
{
    for (;;) {
        const char *end = *at + 1;
        if (**at != '\\')
            break;
        end += strspn(end, " \t\f\v");
        if (*end != '\n' && *end != '\r')
            break;
        *at = end + (end[0] == '\r' && end[1] == '\n' ? 2 : 1);
    }
    return **at ? *(*at)++ : '\0';
}

static char peek(const char *at)
{
    return next(&at);
}

static bool ends_line(char c)
{
    return !c || c == '\n' || c == '\r';
}

/* Past a comment whose slash was read, if it is one. A comment of one line leaves the end of that. */
static bool skip_comment(const char **at)
{
    const char kind = peek(*at);
    if (kind == '/')
        while (!ends_line(peek(*at)))
            next(at);
    if (kind != '*')
        return kind == '/';
    next(at);
    for (char c = next(at); c && !(c == '*' && peek(*at) == '/'); c = next(at))
        ;
    next(at);
    return true;
}

static void skip_literal(const char **at, char quote)
{
    for (char c = peek(*at); !ends_line(c) && next(at) != quote; c = peek(*at))
        if (c == '\\')
            next(at);
}

/* Blanks and comments inside a line. */
static void skip_blanks(const char **at)
{
    for (;;) {
        const char *past = *at;
        const char c = next(&past);
        if (!(c == ' ' || c == '\t' || c == '\f' || c == '\v' || (c == '/' && skip_comment(&past))))
            return;
        *at = past;
    }
}

/* Whatever a compiler may take for a part of a name. */
static bool is_of_name(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '$' || (unsigned char)c >= 0x80;
}

static bool read_word(const char **at, const char *word)
{
    const char *past = *at;
    while (*word && next(&past) == *word)
        word++;
    if (*word || is_of_name(peek(past)))
        return false;
    *at = past;
    return true;
}

static bool is_hash(char c, const char **at)
{
    return c == '#' || (c == '%' && peek(*at) == ':' && next(at));
}

/* The name in the next #define or #undef, wherever it stands; NULL: there is none. */
static const char *find_macro(const char **at)
{
    bool begins = true; /* nothing but blanks so far in this line */
    for (;;) {
        skip_blanks(at);
        const char c = next(at);
        if (!c)
            return NULL;
        if (begins && is_hash(c, at)) {
            skip_blanks(at);
            if (read_word(at, "define") || read_word(at, "undef")) {
                skip_blanks(at);
                if (is_of_name(peek(*at)))
                    return *at;
            }
        } else if (c == '"' || c == '\'') {
            skip_literal(at, c);
        }
        begins = ends_line(c);
    }
}

static void write_macro(struct text *to, const char *before, const char *name, const char *after)
{
    text_add(to, "%s", before);
    while (is_of_name(peek(name)))
        text_add(to, "%c", next(&name));
    text_add(to, "%s\n", after);
}

/* Names that the text defines or undefines are kept as they are before it, and given back after it. Compilers that do
 * not know the pragmas forget them, which is as good unless the driver's own built-ins are macros of that name. */
static void write_macros(struct text *to, const char *text, bool after)
{
    for (const char *at = text, *name; (name = find_macro(&at));) {
        if (after)
            write_macro(to, "#undef ", name, "");
        write_macro(to, after ? "#pragma pop_macro(\"" : "#pragma push_macro(\"", name, "\")");
    }
}

/* ---- Functions ---- */

static void write_head(struct text *to, const clattn_problem *p, int i)
{
    const clattn_score_mod *m = &p->mods[i];
    const char *real = is_vector(m) ? "real" : "cla_scalar", *integer = is_vector(m) ? "integer" : "int";
    text_add(to, "CLA_FN %s cla_mod_%d(%s s, const int b, const int h, const %s q, const %s k", real, i, real, integer,
             integer);
    for (int j = 0; j < p->n_aux; j++)
        text_add(to, ", %s *%s", mods_aux_type(p->aux[j].type), p->aux[j].name);
    text_add(to, ")");
}

/* The caller's text as a function, with his own file name and lines in front of the compiler. An empty line ends it,
 * should its last one end in a backslash. */
static void write_function(struct text *to, const clattn_problem *p, int i)
{
    const clattn_score_mod *m = &p->mods[i];
    text_add(to, "#line 1 \"mods\"\n");
    write_macros(to, m->text, false);
    write_head(to, p, i);
    text_add(to, "\n{\n#line 1 \"");
    write_name(to, m->name && *m->name ? m->name : "score_mod");
    text_add(to, "\"\n");
    text_add_n(to, m->text, strlen(m->text));
    text_add(to, "\n\n#line 1 \"mods\"\n");
    write_macros(to, m->text, true);
    text_add(to, "    return s;\n}\n");
}

static void write_call(struct text *to, const clattn_problem *p, int i)
{
    if (is_vector(&p->mods[i]))
        text_add(to, "    s = cla_mod_%d(s, e->b, e->h, q, k", i);
    else
        text_add(to,
                 "    CLA_UNROLL for (int i = 0; i < CLA_WIDTH; i++)\n        CLA_LANE(s, cla_scalar, i) = "
                 "cla_mod_%d(CLA_LANE(s, cla_scalar, i), e->b, e->h, (int)CLA_LANE(q, CLA_INTEGER, i), "
                 "(int)CLA_LANE(k, CLA_INTEGER, i)",
                 i);
    for (int j = 0; j < p->n_aux; j++)
        text_add(to, ", e->at.aux_%s + e->a->aux_offset[%d]", p->aux[j].name, j);
    text_add(to, ");\n");
}

void mods_write_texts(struct text *to, const clattn_problem *p)
{
    for (int i = 0; i < p->n_mods; i++)
        write_function(to, p, i);
}

void mods_write_calls(struct text *to, const clattn_problem *p)
{
    text_add(to, "#line 1 \"mods\"\n");
    for (int i = 0; i < p->n_mods; i++) {
        write_head(to, p, i);
        text_add(to, ";\n");
    }
    text_add(to, "CLA_FN real cla_mods(const cla_env *e, real s, integer q, integer k)\n{\n");
    /* Elements past the last query and key are computed too and dropped afterwards: let a text read at [q] and [k]. */
    if (any_scalar(p))
        text_add(to,
                 "    q = min(q, (integer)(cla_last(e->q_len)));\n    k = min(k, (integer)(cla_last(e->k_end)));\n");
    for (int i = 0; i < p->n_mods; i++) {
        write_call(to, p, i);
        if (i + 1 < p->n_mods) /* what one mod drops no later one brings back */
            text_add(to, "    %s(s == (real)(-INFINITY));\n", i ? "gone |= " : "integer gone = ");
    }
    text_add(to, p->n_mods > 1 ? "    return gone ? (real)(-INFINITY) : s;\n}\n" : "    return s;\n}\n");
}
