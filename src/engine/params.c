/* params.c - the buffers that a kernel takes: one list for the program's text and for the calls. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/params.h"

#include "problem/mods.h"

/* Lengths are few: every kernel takes them, so that plans with and without differ in one fragment only. So it is with
 * the workspace, which nearly no kernel uses. */
static const struct {
    const char *type, *name;
    uint32_t flag; /* of the problem; 0: always taken */
} rows[PARAM_AUX] = {
    [PARAM_Q] = { "const __global cla_q_elem", "q", 0 },
    [PARAM_K] = { "const __global cla_k_elem", "k", 0 },
    [PARAM_V] = { "const __global cla_v_elem", "v", 0 },
    [PARAM_O] = { "__global cla_q_elem", "o", 0 },
    [PARAM_LSE] = { "__global float", "lse", 0 },
    [PARAM_Q_LEN] = { "const __global int", "q_len", 0 },
    [PARAM_KV_LEN] = { "const __global int", "kv_len", 0 },
    [PARAM_KV_START] = { "const __global int", "kv_start", 0 },
    [PARAM_OFFSETS] = { "const __global int", "offsets", 0 },
    [PARAM_CU_Q] = { "const __global int", "cu_q", 0 },
    [PARAM_CU_K] = { "const __global int", "cu_k", 0 },
    [PARAM_WORKSPACE] = { "__global uint", "workspace", 0 },
    [PARAM_BIAS] = { "const __global cla_bias_elem", "bias", 0 },
    [PARAM_MASK] = { "const __global uchar", "mask", CLATTN_MASK },
    [PARAM_BLOCK_MAP] = { "const __global uchar", "block_map", CLATTN_BLOCK_MAP },
    [PARAM_SLOPES] = { "const __global float", "slopes", CLATTN_ALIBI },
    [PARAM_SINKS] = { "const __global float", "sinks", CLATTN_SINKS },
};

bool params_is_taken(const clattn_problem *p, int param)
{
    if (param >= PARAM_AUX)
        return param - PARAM_AUX < p->n_aux;
    if (param == PARAM_BIAS)
        return p->bias_type;
    return !rows[param].flag || p->flags & rows[param].flag;
}

static const char *type_of(const clattn_problem *p, int param)
{
    return param < PARAM_AUX ? rows[param].type : mods_aux_type(p->aux[param - PARAM_AUX].type);
}

/* Names of captured buffers are the caller's: they get a prefix. */
static void write_name(struct text *to, const clattn_problem *p, int param)
{
    if (param < PARAM_AUX)
        text_add(to, "%s", rows[param].name);
    else
        text_add(to, "aux_%s", p->aux[param - PARAM_AUX].name);
}

void params_write(struct text *to, const clattn_problem *p)
{
    if (p->bias_type)
        text_add(to, "typedef cla_elem_%s cla_bias_elem;\n", problem_type_name(p->bias_type));
    text_add(to, "typedef struct {\n    int unused;\n"); /* see args.h */
    for (int i = 0; i < PARAMS; i++)
        if (params_is_taken(p, i)) {
            text_add(to, "    %s *", type_of(p, i));
            write_name(to, p, i);
            text_add(to, ";\n");
        }
    text_add(to, "} cla_pointers;\n#define CLA_PARAMS");
    for (int i = 0; i < PARAMS; i++)
        if (params_is_taken(p, i)) {
            text_add(to, "%s \\\n    %s *cla_p_", i ? "," : "", type_of(p, i));
            write_name(to, p, i);
        }
    text_add(to, "\n#define CLA_TAKE_PARAMS(to)");
    for (int i = 0; i < PARAMS; i++)
        if (params_is_taken(p, i)) {
            text_add(to, " \\\n    to.");
            write_name(to, p, i);
            text_add(to, " = cla_p_");
            write_name(to, p, i);
            text_add(to, ";");
        }
    text_add(to, "\n");
}
