/* module.c - modules: made, asked, freed
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "reader.h"

static struct amdgpu_module *begin(struct reader *r, char *why, size_t why_size)
{
    memset(r, 0, sizeof *r);
    r->module = calloc(1, sizeof *r->module);
    r->why = why;
    r->why_size = why_size;
    say_why(why, why_size, "%s", r->module ? "" : "out of memory");
    return r->module;
}

struct amdgpu_module *amdgpu_module_read(const void *object, size_t size, const char *listing, size_t length, char *why,
                                         size_t why_size)
{
    struct reader r;
    struct amdgpu_module *m = begin(&r, why, why_size);
    if (!m)
        return NULL;
    r.object = object;
    r.object_size = size;
    if (setjmp(r.bail)) {
        amdgpu_module_free(m);
        return NULL;
    }
    read_whole(&r, listing, length);
    return m;
}

struct amdgpu_module *amdgpu_module_text(const struct amdgpu_facts *facts, const char *listing, size_t length,
                                         char *why, size_t why_size)
{
    struct reader r;
    struct amdgpu_module *m = begin(&r, why, why_size);
    if (!m)
        return NULL;
    if (setjmp(r.bail)) {
        amdgpu_module_free(m);
        return NULL;
    }
    read_text(&r, facts, listing, length);
    return m;
}

void amdgpu_module_free(struct amdgpu_module *m)
{
    if (!m)
        return;
    arena_free(&m->arena);
    free(m);
}

const char *amdgpu_module_target(const struct amdgpu_module *m)
{
    return m->target;
}

size_t amdgpu_module_lines(const struct amdgpu_module *m)
{
    return m->n_lines;
}

size_t amdgpu_module_kernels(const struct amdgpu_module *m)
{
    return m->n_kernels;
}

const struct amdgpu_kernel *amdgpu_kernel_at(const struct amdgpu_module *m, size_t i)
{
    return i < m->n_kernels ? &m->kernels[i] : NULL;
}

const struct amdgpu_kernel *amdgpu_kernel_named(const struct amdgpu_module *m, const char *name)
{
    for (size_t i = 0; i < m->n_kernels; i++)
        if (!strcmp(m->kernels[i].name, name))
            return &m->kernels[i];
    return NULL;
}

const char *amdgpu_kernel_name(const struct amdgpu_kernel *k)
{
    return k->name;
}

const struct amdgpu_info *amdgpu_kernel_info(const struct amdgpu_kernel *k)
{
    return &k->info;
}
