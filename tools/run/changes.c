/* changes.c - the files of clattn-run that change scores
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/changes.h"

#include "tools/system/files.h"
#include "tools/run/floats.h"
#include "tools/npy/npy.h"
#include "tools/run/score_arrays.h"
#include "tools/oracle/score_mods.h"
#include "tools/run/wholes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 }; /* the library's limit */

/* ---- Lists ---- */

/* Reads slopes, [h] or with `by_entry` also [b,h], or sinks, [h]. *rows receives b, or 1 where that axis is absent, and
 * *axes how many there are. */
static int read_heads(const char *argument, const char *path, int by_entry, const clattn_sizes *z, double **out,
                      int64_t *rows, int *axes, struct fault *f)
{
    struct npy a;
    char sizes[64];
    int status = 0;
    if (floats_read(argument, path, &a, f) != 0)
        return -1;
    snprintf(sizes, sizeof sizes, by_entry ? "[%lld] or [%lld,%lld]" : "[%lld]", (long long)(z->h),
             (long long)(z->b), (long long)(z->h));
    const int one = a.ndim == 1 && a.shape[0] == z->h;
    const int two = by_entry && a.ndim == 2 && a.shape[0] == z->b && a.shape[1] == z->h;
    if (!one && !two)
        status = npy_fault(&a, f, "its shape is %s, want %s, by the heads of Q", a.axes, sizes);
    if (status == 0) {
        *rows = two && z->b > 0 ? z->b : 1;
        *axes = a.ndim;
        *out = floats_values(&a, CLATTN_F32, f);
        status = *out ? 0 : -1;
    }
    npy_free(&a);
    return status;
}

static int read_lists(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f)
{
    const clattn_sizes *z = &c->problem.sizes;
    int64_t one;
    int axes;
    if (o->alibi && read_heads("--alibi", o->alibi, 1, z, &x->slopes, &x->slopes_b, &x->slopes_axes, f) != 0)
        return -1;
    if (o->bias_slopes &&
        read_heads("--bias-slopes", o->bias_slopes, 1, z, &x->slopes, &x->slopes_b, &x->slopes_axes, f) != 0)
        return -1;
    if (o->sinks && read_heads("--sinks", o->sinks, 0, z, &x->sinks, &one, &axes, f) != 0)
        return -1;
    x->dropout_seed = o->dropout_seed;
    x->dropout_offset = (uint64_t)o->dropout_offset;
    c->problem.flags |= (uint32_t)((o->alibi ? CLATTN_ALIBI : 0) | (o->bias_slopes ? CLATTN_BIAS_SLOPES : 0) |
                                   (o->sinks ? CLATTN_SINKS : 0));
    return 0;
}

/* ---- Score_mods ---- */

/* Reads the text in an open file of n bytes; NULL with `f` set after a failure. */
static char *read_bytes(int fd, size_t n, const char *argument, const char *path, struct fault *f)
{
    char *text = calloc(1, n + 1);
    size_t at = 0;
    ssize_t got = 1;
    if (!text) {
        fault_set(f, EXIT_USAGE, "%s: %s: there is no memory for it", argument, path);
        return NULL;
    }
    while (at < n && (got > 0 || (got < 0 && errno == EINTR)))
        if ((got = read(fd, text + at, n - at)) > 0)
            at += (size_t)got;
    if (at == n && !memchr(text, 0, n))
        return text;
    fault_set(f, EXIT_USAGE, "%s: %s: %s", argument, path, got < 0 ? strerror(errno) : "it is no text");
    free(text);
    return NULL;
}

static char *read_text(const char *argument, const char *path, struct fault *f)
{
    uint64_t bytes = 0;
    char *text = NULL;
    int fd;
    const char *const why = files_open(&fd, path, &bytes);
    if (why) {
        fault_set(f, EXIT_USAGE, "%s: %s: %s", argument, path, why);
        return NULL;
    }
    if (bytes > TEXT_MAX)
        fault_set(f, EXIT_USAGE, "%s: %s: it is longer than %d bytes", argument, path, TEXT_MAX);
    else
        text = read_bytes(fd, (size_t)bytes, argument, path, f);
    (void)close(fd);
    return text;
}

/* A problem string can name texts that are built in. If all texts are, it gets their names. */
static void name_mods(clattn_workload *c, const struct extras *x)
{
    size_t at = 0;
    for (size_t i = 0; i < x->n_mods; i++) {
        const struct mod_text *t = mod_texts;
        while (t->name && strcmp(t->text, x->mods[i].text) != 0)
            t++;
        const size_t n = t->name ? strlen(t->name) - 3 : 0; /* without ".cl" */
        if (!t->name || at + n + 2 > sizeof c->mods) {
            c->mods[0] = '\0';
            return;
        }
        if (i > 0)
            c->mods[at++] = ',';
        memcpy(c->mods + at, t->name, n);
        c->mods[at += n] = '\0';
    }
}

/* "NAME=A.npy" */
static int read_aux(const char *value, struct extras *x, struct fault *f)
{
    const char *argument = "--aux", *equals = strchr(value, '='), *why = NULL;
    char name[sizeof x->aux[0].name];
    struct npy a;
    const size_t n = equals ? (size_t)(equals - value) : 0;
    if (n == 0 || n >= sizeof name)
        return fault_set(f, EXIT_USAGE, "%s: %s is not NAME=A.npy, with a name of less than %zu letters", argument,
                         value, sizeof name);
    memcpy(name, value, n);
    name[n] = '\0';
    for (size_t i = 0; i < x->n_aux; i++)
        if (strcmp(x->aux[i].name, name) == 0)
            return fault_set(f, EXIT_USAGE, "%s: %s: there is a buffer of that name already", argument, value);
    if (npy_read(argument, equals + 1, &a, f) != 0)
        return -1;
    int status = 0;
    if (npy_is_whole(a.type))
        status = wholes_narrow(&a, f);
    else if (a.type != NPY_F4)
        status = npy_fault(&a, f, "its type is %s, want f4, i1 to i8 or u1 to u8", a.name);
    if (status == 0 && a.count == 0)
        status = npy_fault(&a, f, "its shape is %s: a buffer must have elements", a.axes);
    if (status == 0) {
        struct aux *aux = extras_aux(x, name, a.type == NPY_F4 ? CLATTN_F32 : CLATTN_I32, a.count, &why);
        if (aux) {
            memcpy(aux->data, a.data, a.count * 4);
            aux->ndim = a.ndim;
            memcpy(aux->shape, a.shape, sizeof aux->shape);
        } else {
            status = fault_set(f, EXIT_USAGE, "%s: %s: %s", argument, value, why);
        }
    }
    npy_free(&a);
    return status;
}

static int read_mods(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f)
{
    clattn_problem *p = &c->problem;
    for (int i = 0; i < o->mods.n; i++) {
        char *text = read_text("--score-mod", o->mods.at[i], f);
        if (!text)
            return -1;
        const clattn_score_mod mod = { text, o->mods.at[i], score_mods_flags(text) };
        x->owned[i] = text;
        x->mods[x->n_mods++] = mod;
    }
    for (int i = 0; i < o->mod_grads.n; i++) { /* as many as mods, or none */
        char *text = read_text("--score-mod-grad", o->mod_grads.at[i], f);
        if (!text)
            return -1;
        x->mod_grads[i] = x->owned[CLATTN_MODS_MAX + i] = text;
    }
    for (int i = 0; i < o->aux.n; i++)
        if (read_aux(o->aux.at[i], x, f) != 0)
            return -1;
    name_mods(c, x);
    extras_set_mods(p, x);
    return 0;
}

int changes_read(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f)
{
    return score_arrays_read(o, c, x, f) != 0 || read_lists(o, c, x, f) != 0 || read_mods(o, c, x, f) != 0 ? -1 : 0;
}
