/* program.c - program text to built programs, each built once per context
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "program.h"

#include <stdlib.h>
#include <string.h>

struct built {
    struct built *next;
    cl_program program;
    char *key; /* options, newline, text: exactly what the compiler saw */
};

static void forget(struct built *b)
{
    clReleaseProgram(b->program);
    free(b->key);
    free(b);
}

cl_int programs_init(struct programs *p, struct why *why)
{
    p->first = NULL;
    p->count = 0;
    if (pthread_mutex_init(&p->lock, NULL))
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no mutex");
    return CL_SUCCESS;
}

void programs_clear(struct programs *p)
{
    for (struct built *b = p->first, *next; b; b = next) {
        next = b->next;
        forget(b);
    }
    pthread_mutex_destroy(&p->lock);
}

static char *make_key(const struct source *s)
{
    const size_t options = strlen(s->options), text = strlen(s->text);
    char *key = malloc(options + text + 2);
    if (!key)
        return NULL;
    memcpy(key, s->options, options);
    key[options] = '\n';
    memcpy(key + options + 1, s->text, text + 1);
    return key;
}

/* With the lock held. */
static cl_program find(const struct programs *p, const char *key)
{
    for (const struct built *b = p->first; b; b = b->next)
        if (!strcmp(b->key, key))
            return b->program;
    return NULL;
}

static cl_program find_retained(struct programs *p, const char *key)
{
    pthread_mutex_lock(&p->lock);
    cl_program found = find(p, key);
    if (found && clRetainProgram(found))
        found = NULL;
    pthread_mutex_unlock(&p->lock);
    return found;
}

/* With the lock held. */
static struct built *take_oldest(struct programs *p)
{
    struct built **at = &p->first, *oldest;
    while ((*at)->next)
        at = &(*at)->next;
    oldest = *at;
    *at = NULL;
    p->count--;
    return oldest;
}

/* Keeps a program, unless another thread kept the same meanwhile; not keeping it is no failure, it only costs time.
 * Takes key. */
static void keep(struct programs *p, char *key, cl_program program)
{
    struct built *b = malloc(sizeof *b), *oldest = NULL;
    pthread_mutex_lock(&p->lock);
    if (b && !find(p, key) && !clRetainProgram(program)) {
        *b = (struct built){ p->first, program, key };
        p->first = b;
        b = NULL;
        key = NULL;
        if (++p->count > PROGRAMS_MAX)
            oldest = take_oldest(p);
    }
    pthread_mutex_unlock(&p->lock);
    if (oldest)
        forget(oldest);
    free(b);
    free(key);
}

/* The driver's words, cut to what fits: the beginning, where the first error is. */
static void add_log(struct text *to, cl_program program, cl_device_id device)
{
    size_t size = 0;
    char *log = NULL;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) || size < 2 || size > (64u << 20))
        return;
    if (!(log = calloc(1, size + 1)))
        return;
    if (!clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL)) {
        size_t n = strlen(log);
        while (n && (unsigned char)log[n - 1] <= ' ') /* some drivers say nothing in a line of its own */
            n--;
        text_add_n(to, log, n);
    }
    free(log);
}

static cl_int build(cl_program *out, cl_context context, cl_device_id device, const struct source *s, struct why *why)
{
    struct text words = { why->text, sizeof why->text, 0 };
    const char *text = s->text;
    cl_int status;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    if (!program || status)
        return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateProgramWithSource");
    status = clBuildProgram(program, 1, &device, s->options, NULL, NULL);
    if (!status) {
        add_log(&words, program, device);
        *out = program;
        return CL_SUCCESS;
    }
    text_add(&words, "clBuildProgram: %s, options %s\n", clattn_status_string(status), s->options);
    add_log(&words, program, device);
    clReleaseProgram(program);
    return status == CL_BUILD_PROGRAM_FAILURE ? CLATTN_ERROR_BUILD : status;
}

cl_int program_get(cl_program *out, struct programs *p, cl_context context, cl_device_id device,
                   const struct source *source, struct why *why)
{
    char *key = make_key(source);
    why->text[0] = '\0';
    if (!key)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for the name of a program");
    if ((*out = find_retained(p, key))) {
        free(key);
        return CL_SUCCESS;
    }
    cl_int status = build(out, context, device, source, why);
    if (status)
        free(key);
    else
        keep(p, key, *out);
    return status;
}
