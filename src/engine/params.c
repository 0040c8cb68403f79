/* params.c - what kernels take: one list for the programs' text and for the calls. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/params_list.h"

#include <string.h>

static const struct {
    const char *name; /* in OpenCL C */
    size_t bytes;
} types[] = {
    [PARAMS_ROWS_AT] = { "cla_rows_at", sizeof(cla_rows_at) },
    [PARAMS_SCORES_AT] = { "cla_scores_at", sizeof(cla_scores_at) },
    [PARAMS_LONG] = { "cla_i64", sizeof(cla_i64) },
    [PARAMS_FLOAT] = { "cla_f32", sizeof(cla_f32) },
    [PARAMS_INT] = { "cla_i32", sizeof(cla_i32) },
};

static size_t bytes_of(const struct params_number *row, const struct target *t)
{
    return types[row->kind].bytes * (size_t)(row->members ? row->members(t) : 1);
}

/* What is behind `n` bytes of numbers, up to the next number of 64 bits. */
static size_t rest_of(size_t n)
{
    return (sizeof(cla_i64) - n % sizeof(cla_i64)) % sizeof(cla_i64);
}

/* ---- Plans ---- */

/* Captured buffers stand last, or the gradients of those that are marked. */
static void find_buffers(struct params *to, const struct target *t)
{
    for (const struct params_buffer *row = NULL; (row = params_list_buffer(row, t));)
        to->buffers[to->n_buffers++] = (unsigned char)row->param;
    for (int i = 0; params_list_has_aux(t) && i < t->p->n_aux; i++)
        to->buffers[to->n_buffers++] = (unsigned char)(PARAM_AUX + i);
    for (int i = 0; params_list_has_daux(t) && i < t->p->n_aux; i++)
        if (t->p->aux_grads >> i & 1)
            to->buffers[to->n_buffers++] = (unsigned char)(PARAM_DAUX + i);
}

static void find_numbers(struct params *to, const struct target *t)
{
    to->bytes = sizeof(cla_i64); /* `unused`, see args.h */
    for (const struct params_number *row = NULL; (row = params_list_number(row, t));) {
        const size_t bytes = bytes_of(row, t);
        to->numbers[to->n_numbers].at = (unsigned short)row->at;
        to->numbers[to->n_numbers++].bytes = (unsigned short)bytes;
        to->bytes += bytes;
    }
    to->bytes += rest_of(to->bytes);
}

void params_find(struct params *to, const struct target *t)
{
    memset(to, 0, sizeof *to);
    find_buffers(to, t);
    find_numbers(to, t);
}

size_t params_bytes(const struct params *p)
{
    return p->bytes + sizeof(cla_i64) * (size_t)p->n_buffers;
}

/* ---- Calls ---- */

void params_pack(cl_ulong to[PARAMS_WORDS], const struct arguments *from, const struct params *p)
{
    unsigned char *out = (unsigned char *)&to[1];
    to[0] = to[p->bytes / sizeof *to - 1] = 0;
    for (int i = 0; i < p->n_numbers; i++) {
        memcpy(out, (const unsigned char *)from + p->numbers[i].at, p->numbers[i].bytes);
        out += p->numbers[i].bytes;
    }
}

/* ---- Text ---- */

/* The struct ends with a number of its own where a compiler would pad it: rusticl of Mesa 22.3 refuses an argument of
 * as many bytes as sizeof says there. */
static void write_struct(struct text *to, const struct target *t)
{
    size_t bytes = sizeof(cla_i64);
    text_add(to, "typedef struct {\n    cla_i64 unused;\n"); /* see args.h */
    for (const struct params_number *row = NULL; (row = params_list_number(row, t));) {
        text_add(to, "    %s %s", types[row->kind].name, row->name);
        if (row->members)
            text_add(to, "[%d]", row->members(t));
        text_add(to, ";\n");
        bytes += bytes_of(row, t);
    }
    text_add(to, "%s} cla_args;\n", rest_of(bytes) ? "    cla_i32 rest;\n" : "");
}

/* A kernel's parameter. Names of captured buffers are the caller's: they get a prefix. */
struct declared {
    int param;
    const char *type, *prefix, *name;
};

static int declare(struct declared to[PARAMS], const struct target *t)
{
    struct params list;
    const struct params_buffer *row = NULL;
    params_find(&list, t);
    for (int i = 0; i < list.n_buffers; i++) {
        const int param = list.buffers[i];
        if (param < PARAM_AUX) {
            row = params_list_buffer(row, t);
            to[i] = (struct declared){ param, row->type, "", row->name };
        } else if (param < PARAM_DAUX) {
            const clattn_aux *const aux = &t->p->aux[param - PARAM_AUX];
            to[i] = (struct declared){ param, problem_type_at(aux->type)->captured, "aux_", aux->name };
        } else {
            to[i] = (struct declared){ param, "__global cla_scalar", "daux_", t->p->aux[param - PARAM_DAUX].name };
        }
    }
    return list.n_buffers;
}

static bool takes(int param, const struct declared *list, int n)
{
    while (n && list[n - 1].param != param)
        n--;
    return n;
}

void params_write(struct text *to, const struct target *t)
{
    struct declared list[PARAMS];
    const int n = declare(list, t);
    write_struct(to, t);
    if (takes(PARAM_LSE, list, n))
        text_add(to, "typedef %s cla_lse_elem;\n", problem_lse_type(t->p) == CLATTN_F64 ? "double" : "float");
    if (takes(PARAM_BIAS, list, n))
        text_add(to, "typedef cla_elem_%s cla_bias_elem;\n", problem_type_name(t->p->bias_type));
    text_add(to, "typedef struct {\n    int unused;\n"); /* see args.h */
    for (int i = 0; i < n; i++)
        text_add(to, "    %s *%s%s;\n", list[i].type, list[i].prefix, list[i].name);
    text_add(to, "} cla_pointers;\n#define CLA_PARAMS");
    for (int i = 0; i < n; i++)
        text_add(to, "%s \\\n    %s *cla_p_%s%s", i ? "," : "", list[i].type, list[i].prefix, list[i].name);
    text_add(to, "\n#define CLA_TAKE_PARAMS(to)");
    for (int i = 0; i < n; i++)
        text_add(to, " \\\n    to.%s%s = cla_p_%s%s;", list[i].prefix, list[i].name, list[i].prefix, list[i].name);
    text_add(to, "\n");
}
