/* options_check.c - options of clattn-run that need each other, or contradict each other
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/options.h"

#include <clattn.h>

/* What needs another option, or excludes it. */
static int check_together(const struct options *o, struct fault *f)
{
    if (o->aux.n > 0 && o->mods.n == 0)
        return fault_set(f, EXIT_USAGE, "--aux: %s needs --score-mod as well", o->aux.at[0]);
    if (o->dropout_text && !o->problem.dropout_p)
        return fault_set(f, EXIT_USAGE, "%s needs --dropout as well", o->dropout_text);
    if (o->block_map && !o->block_q)
        return fault_set(f, EXIT_USAGE, "--block-map: %s needs --block-size as well", o->block_map);
    if (o->block_q && !o->block_map && !o->mask)
        return fault_set(f, EXIT_USAGE, "--block-size: %d,%d needs --block-map, or --mask to make one from",
                         (int)o->block_q, (int)o->block_k);
    if (!o->cu_q != !o->cu_k)
        return fault_set(f, EXIT_USAGE, "%s needs %s as well", o->cu_q ? "--cu-q" : "--cu-k",
                         o->cu_q ? "--cu-k" : "--cu-q");
    if (o->cu_q && o->layout_text)
        return fault_set(f, EXIT_USAGE, "--layout: %s contradicts --cu-q: varlen tensors are [total,h,d]",
                         o->layout_text);
    if (o->cu_q && o->block_table)
        return fault_set(f, EXIT_USAGE, "--block-table: %s contradicts --cu-q: varlen keys lie in no pages",
                         o->block_table);
    if (o->bias_slopes && !o->bias && !o->merge)
        return fault_set(f, EXIT_USAGE, "--bias-slopes: %s needs --bias as well", o->bias_slopes);
    if (o->bias_slopes && o->alibi)
        return fault_set(f, EXIT_USAGE, "--bias-slopes: %s contradicts --alibi", o->bias_slopes);
    if (o->repeat && !o->bias && !o->mask && !o->merge)
        return fault_set(f, EXIT_USAGE, "--repeat needs --bias or --mask as well");
    const struct { const char *name, *path; } gradients[] = { { "--dlse", o->dlse }, { "--dq", o->dq },
                                                              { "--dk", o->dk }, { "--dv", o->dv },
                                                              { "--dbias", o->dbias }, { "--dslopes", o->dslopes },
                                                              { "--dsinks", o->dsinks },
                                                              { "--daux", o->daux.n ? o->daux.at[0] : NULL } };
    for (size_t i = 0; i < sizeof gradients / sizeof *gradients; i++)
        if (gradients[i].path && !o->dout)
            return fault_set(f, EXIT_USAGE, "%s: %s needs --dout as well", gradients[i].name, gradients[i].path);
    int wanted = 0;
    for (size_t i = 1; i < sizeof gradients / sizeof *gradients; i++)
        wanted = wanted || gradients[i].path;
    if (o->dout && !wanted)
        return fault_set(f, EXIT_USAGE, "--dout: %s needs --dq, --dk, --dv or another gradient as well", o->dout);
    if (o->k_zero && !o->k_scale)
        return fault_set(f, EXIT_USAGE, "--k-zero: %s needs --k-scale as well", o->k_zero);
    if (o->v_zero && !o->v_scale)
        return fault_set(f, EXIT_USAGE, "--v-zero: %s needs --v-scale as well", o->v_zero);
    if (o->mod_grads.n > 0 && !o->dout)
        return fault_set(f, EXIT_USAGE, "--score-mod-grad: %s needs --dout as well", o->mod_grads.at[0]);
    if (o->dout && o->mods.n && o->verify)
        return fault_set(f, EXIT_UNSUPPORTED, "--verify: gradients of score_mods are not checked");
    if (o->dout && o->mod_grads.n != o->mods.n)
        return fault_set(f, EXIT_USAGE, "--score-mod-grad: there are %d of them, want one for each of %d --score-mod",
                         o->mod_grads.n, o->mods.n);
    if (o->mods.n > CLATTN_MODS_MAX)
        return fault_set(f, EXIT_USAGE, "--score-mod: %s: at most %d of them", o->mods.at[CLATTN_MODS_MAX],
                         CLATTN_MODS_MAX);
    return 0;
}

/* Of what goes with Q, K and V a merge has only the type. */
static int check_merge(const struct options *o, struct fault *f)
{
    const struct { const char *name; int given; } rows[] = {
        { "--o-type", o->o_type_text != NULL },
        { "--layout", o->layout_text != NULL }, { "--scale", (o->problem.flags & CLATTN_SCALE) != 0 },
        { "--softcap", o->problem.softcap != 0 }, { "--dropout", o->problem.dropout_p != 0 },
        { "--causal", o->problem.causal },
        { "--window", (o->problem.flags & CLATTN_WINDOW) != 0 }, { "--align", o->align_text != NULL },
        { "--bias", o->bias != NULL }, { "--mask", o->mask != NULL }, { "--block-map", o->block_map != NULL },
        { "--alibi", o->alibi != NULL }, { "--bias-slopes", o->bias_slopes != NULL }, { "--repeat", o->repeat },
        { "--sinks", o->sinks != NULL }, { "--score-mod", o->mods.n > 0 }, { "--aux", o->aux.n > 0 },
        { "--cu-q", o->cu_q != NULL }, { "--cu-k", o->cu_k != NULL }, { "--q-len", o->q_len != NULL },
        { "--kv-len", o->kv_len != NULL }, { "--kv-start", o->kv_start != NULL },
        { "--block-table", o->block_table != NULL }, { "--k-scale", o->k_scale != NULL },
        { "--k-zero", o->k_zero != NULL }, { "--v-scale", o->v_scale != NULL }, { "--v-zero", o->v_zero != NULL },
        { "--k-type", o->k_type_text != NULL }, { "--v-type", o->v_type_text != NULL },
        { "--splits", o->problem.splits != 0 },
        { "--batch-invariant", (o->problem.flags & CLATTN_BATCH_INVARIANT) != 0 }, { "--dout", o->dout != NULL },
        { "--scores", o->scores.n > 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && o->merge; i++)
        if (rows[i].given)
            return fault_set(f, EXIT_USAGE, "%s: --merge only merges what was computed before", rows[i].name);
    return 0;
}

int options_check(const struct options *o, struct fault *f)
{
    return check_together(o, f) != 0 || check_merge(o, f) != 0 ? -1 : 0;
}
