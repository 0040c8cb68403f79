/* layer.h - what layers of the ICD loader for tests have in common
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAYER_H
#define LAYER_H

#include <CL/cl.h>
#if defined __has_include
#if __has_include(<CL/cl_layer.h>)
#include <CL/cl_layer.h> /* headers without it: there are no layers, their tests skip */
#endif
#endif

#ifdef CL_LAYER_API_VERSION

#include <stdlib.h>
#include <string.h>

/* An answer to a question, as clGet..Info() gives it. */
static inline cl_int layer_give(const void *from, size_t size, size_t room, void *to, size_t *got)
{
    if (to && room < size)
        return CL_INVALID_VALUE;
    if (to)
        memcpy(to, from, size);
    if (got)
        *got = size;
    return CL_SUCCESS;
}

/* clGetLayerInfo() of the layer of this name. */
static inline cl_int layer_info(const char *name, cl_layer_info what, size_t room, void *to, size_t *got)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (what == CL_LAYER_NAME)
        return layer_give(name, strlen(name) + 1, room, to, got);
    return what == CL_LAYER_API_VERSION ? layer_give(&version, sizeof version, room, to, got) : CL_INVALID_VALUE;
}

/* Begins clInitLayer(): `mine` calls what is below, as far as both know of it; *got entries. */
static inline void layer_begin(cl_icd_dispatch *mine, cl_uint n, const cl_icd_dispatch *below, cl_uint *got)
{
    const size_t size = n * sizeof(void *) < sizeof *mine ? n * sizeof(void *) : sizeof *mine;
    memcpy(mine, below, size);
    *got = (cl_uint)(size / sizeof(void *));
}

/* The texts of a program after one another, ended by NUL; free() it. NULL: no memory. */
static inline char *layer_join(cl_uint n, const char *const *texts, const size_t *lengths)
{
    size_t size = 1, at = 0;
    for (cl_uint i = 0; i < n; i++)
        size += lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
    char *const all = malloc(size);
    for (cl_uint i = 0; all && i < n; i++) {
        const size_t length = lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
        memcpy(all + at, texts[i], length);
        at += length;
    }
    if (all)
        all[at] = '\0';
    return all;
}

#endif

#endif
