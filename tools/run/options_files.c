/* options_files.c - outputs of clattn-run: not onto an input, nor onto another output, and where a file can be written
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/options.h"

#include "tools/system/files.h"
#include "tools/npy/output.h"

#include <string.h>

/* A file that the command line names, and as what. */
struct named_file {
    const char *argument, *path;
};
enum { FILES_MAX = 25 + 5 * LIST_MAX };
struct named_files {
    int n;
    struct named_file at[FILES_MAX];
};

static void add(struct named_files *all, const char *argument, const char *path)
{
    if (path)
        all->at[all->n++] = (struct named_file){ argument, path };
}

/* Values that are files, or "NAME=FILE" where `named`; one without a name is refused when it is read. */
static void add_list(struct named_files *all, const char *argument, const struct list *list, int named)
{
    for (int i = 0; i < list->n; i++) {
        const char *const equals = strchr(list->at[i], '=');
        add(all, argument, named ? equals ? equals + 1 : NULL : list->at[i]);
    }
}

static void add_inputs(struct named_files *all, const struct options *o)
{
    const struct named_file rows[] = {
        { "Q", o->q }, { "K", o->k }, { "V", o->v }, { "O_PARTS", o->o_parts }, { "LSE_PARTS", o->lse_parts },
        { "--bias", o->bias }, { "--mask", o->mask }, { "--block-map", o->block_map },
        { "--alibi", o->alibi }, { "--bias-slopes", o->bias_slopes }, { "--sinks", o->sinks },
        { "--cu-q", o->cu_q }, { "--cu-k", o->cu_k }, { "--q-len", o->q_len }, { "--kv-len", o->kv_len },
        { "--kv-start", o->kv_start }, { "--align", o->offsets }, { "--block-table", o->block_table },
        { "--k-scale", o->k_scale }, { "--k-zero", o->k_zero }, { "--v-scale", o->v_scale },
        { "--v-zero", o->v_zero }, { "--dout", o->dout }, { "--dlse", o->dlse },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add(all, rows[i].argument, rows[i].path);
    add_list(all, "--score-mod", &o->mods, 0);
    add_list(all, "--score-mod-grad", &o->mod_grads, 0);
    add_list(all, "--aux", &o->aux, 1);
}

static void add_outputs(struct named_files *all, const struct options *o)
{
    const struct named_file rows[] = {
        { "-o", o->out }, { "--lse", o->lse }, { "--dq", o->dq }, { "--dk", o->dk }, { "--dv", o->dv },
        { "--dbias", o->dbias }, { "--dslopes", o->dslopes }, { "--dsinks", o->dsinks },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add(all, rows[i].argument, rows[i].path);
    add_list(all, "--daux", &o->daux, 1);
    add_list(all, "--scores", &o->scores, 1);
}

int options_files(const struct options *o, struct fault *f)
{
    struct named_files inputs = { 0 }, outputs = { 0 };
    add_inputs(&inputs, o);
    add_outputs(&outputs, o);
    for (int i = 0; i < outputs.n; i++) {
        const struct named_file *const to = &outputs.at[i];
        for (int k = 0; k < inputs.n; k++)
            if (outputs_is_same(inputs.at[k].path, to->path))
                return fault_set(f, EXIT_USAGE, "%s: %s: that is the file of %s, %s, which is only read", to->argument,
                                 to->path, inputs.at[k].argument, inputs.at[k].path);
        for (int k = 0; k < i; k++)
            if (outputs_is_same(outputs.at[k].path, to->path))
                return fault_set(f, EXIT_USAGE, "%s: %s: %s, %s, writes the same file", to->argument, to->path,
                                 outputs.at[k].argument, outputs.at[k].path);
        const char *const why = files_may_appear(to->path);
        if (why)
            return fault_set(f, EXIT_USAGE, "%s: %s: %s", to->argument, to->path, why);
    }
    return 0;
}
