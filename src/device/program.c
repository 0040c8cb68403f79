/* program.c - program text to built programs, from the compiler or from what it made earlier
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "device/program.h"

#include "device/build_log.h"
#include "device/device.h"
#include "base/settings.h"
#include "base/text.h"
#include "base/version.h"

#include <stdlib.h>
#include <string.h>

struct kept {
    struct kept *next;
    cl_program program; /* NULL: what the compiler makes of it computes wrong results */
    char *key;
    bool brief, saved;
};

static void count(uint64_t *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

/* ---- What is kept in memory ---- */

static void forget(struct kept *k)
{
    if (k->program)
        clReleaseProgram(k->program);
    free(k->key);
    free(k);
}

cl_int programs_init(struct programs *p, struct why *why)
{
    p->first = NULL;
    p->count = 0;
    if (pthread_mutex_init(&p->lock, NULL))
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "a mutex cannot be made");
    return CL_SUCCESS;
}

void programs_clear(struct programs *p)
{
    for (struct kept *k = p->first, *next; k; k = next) {
        next = k->next;
        forget(k);
    }
    pthread_mutex_destroy(&p->lock);
}

/* With the lock held. */
static struct kept *find(const struct programs *p, const char *key)
{
    for (struct kept *k = p->first; k; k = k->next)
        if (!strcmp(k->key, key))
            return k;
    return NULL;
}

static cl_program find_retained(struct programs *p, const char *key, bool *brief, bool *wrong)
{
    pthread_mutex_lock(&p->lock);
    const struct kept *k = find(p, key);
    cl_program found = k && k->program && !clRetainProgram(k->program) ? k->program : NULL;
    *brief = found && k->brief;
    *wrong = k && !k->program;
    pthread_mutex_unlock(&p->lock);
    return found;
}

/* With the lock held. */
static struct kept *take_oldest(struct programs *p)
{
    struct kept **at = &p->first, *oldest;
    while ((*at)->next)
        at = &(*at)->next;
    oldest = *at;
    *at = NULL;
    p->count--;
    return oldest;
}

/* Keeps a program, or with NULL the fact that it is wrong, unless another thread did so meanwhile. Failing to keep it
 * is no error and only costs time. Takes ownership of key. */
static void keep(struct programs *p, char *key, cl_program program, bool brief, bool saved)
{
    struct kept *k = malloc(sizeof *k), *oldest = NULL;
    pthread_mutex_lock(&p->lock);
    struct kept *const old = find(p, key);
    if (old) {
        old->brief = old->brief && brief;
        old->saved = old->saved || saved;
    } else if (k && (!program || !clRetainProgram(program))) {
        *k = (struct kept){ p->first, program, key, brief, saved };
        p->first = k;
        k = NULL;
        key = NULL;
        if (++p->count > PROGRAMS_MAX)
            oldest = take_oldest(p);
    }
    pthread_mutex_unlock(&p->lock);
    if (oldest)
        forget(oldest);
    free(k);
    free(key);
}

static bool is_saved(struct programs *p, const char *key)
{
    pthread_mutex_lock(&p->lock);
    const struct kept *k = find(p, key);
    const bool saved = k && k->saved;
    pthread_mutex_unlock(&p->lock);
    return saved;
}

void programs_drop_brief(struct programs *p)
{
    struct kept *dropped = NULL;
    pthread_mutex_lock(&p->lock);
    for (struct kept **at = &p->first; *at;) {
        struct kept *k = *at;
        if (!k->brief) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        k->next = dropped;
        dropped = k;
        p->count--;
    }
    pthread_mutex_unlock(&p->lock);
    for (struct kept *next; dropped; dropped = next) {
        next = dropped->next;
        forget(dropped);
    }
}

/* ---- Building ---- */

/* Every field has its length with it, so that no two lists of fields are alike. */
static void add_field(struct text *to, const char *name, const char *text)
{
    text_add(to, "%s %zu ", name, strlen(text));
    text_add_n(to, text, strlen(text));
    text_add_n(to, "\n", 1);
}

static void write_key(struct text *to, const struct caps *caps, const struct source *s)
{
    /* Binaries of another format get other names. */
    text_add(to, "clattn %s, binaries %d\n", version_text, BINARY_CACHE_FORMAT);
    add_field(to, "device", caps->identity);
    add_field(to, "driver", caps->driver);
    settings_codegen(to);
    add_field(to, "options", s->options);
    add_field(to, "text", s->text);
}

char *program_key(const struct caps *caps, const struct source *s)
{
    struct text measure = { NULL, 0, 0 };
    write_key(&measure, caps, s);
    struct text key = { malloc(measure.length + 1), measure.length + 1, 0 };
    if (key.to)
        write_key(&key, caps, s);
    return key.to;
}

/* What the driver said, cut to what fits: the first error, the rest of its log, and last what it was asked for. */
static void explain(struct why *why, cl_program program, cl_device_id device, cl_int status, const char *options)
{
    struct text words = { why->text, sizeof why->text, 0 };
    char *const log = build_log_read(program, device);
    if (log) {
        build_log_add_errors(&words, log);
        text_add(&words, "\n");
    }
    text_add(&words, "clBuildProgram: %s, options %s", clattn_status_string(status), options);
    free(log);
}

/* Warnings of a program that was built. */
static void repeat(struct why *why, cl_program program, cl_device_id device)
{
    struct text words = { why->text, sizeof why->text, 0 };
    char *const log = build_log_read(program, device);
    if (log)
        text_add_n(&words, log, strlen(log));
    free(log);
}

static cl_int compile(cl_program *out, struct programs *p, const struct source *s, struct why *why)
{
    const char *text = s->text;
    cl_int status;
    cl_program program = clCreateProgramWithSource(p->context, 1, &text, NULL, &status);
    if (!program || status)
        return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateProgramWithSource");
    count(&p->counters->compiles);
    status = clBuildProgram(program, 1, &p->device, s->options, NULL, NULL);
    if (!status) {
        repeat(why, program, p->device);
        *out = program;
        return CL_SUCCESS;
    }
    explain(why, program, p->device, status, s->options);
    clReleaseProgram(program);
    return status == CL_BUILD_PROGRAM_FAILURE ? CLATTN_ERROR_BUILD : status;
}

/* ---- Binaries ---- */

static cl_program load_binary(struct programs *p, const struct source *s, const unsigned char *binary, size_t n)
{
    cl_int status = CL_SUCCESS, taken = CL_SUCCESS;
    cl_program program =
        clCreateProgramWithBinary(p->context, 1, &p->device, &n, (const unsigned char **)&binary, &taken, &status);
    if (!program)
        return NULL;
    if (!status && !taken && !clBuildProgram(program, 1, &p->device, s->options, NULL, NULL))
        return program;
    clReleaseProgram(program);
    return NULL;
}

/* From here to program_done() or program_refuse() the binary may crash the process, so it is marked. */
static cl_program load(struct programs *p, const struct source *s, const char *key)
{
    unsigned char *binary;
    size_t n;
    bool rejected = false;
    if (!binary_cache_load(p->store, key, &binary, &n, &rejected)) {
        count(rejected ? &p->counters->binary_rejects : &p->counters->binary_misses);
        return NULL;
    }
    binary_cache_enter(p->store, key);
    cl_program program = load_binary(p, s, binary, n);
    free(binary);
    if (program)
        return program;
    binary_cache_leave(p->store, key);
    binary_cache_remove(p->store, key);
    count(&p->counters->binary_rejects);
    return NULL;
}

/* Returns the index of our device among the program's devices, or -1. */
static int device_index(cl_program program, cl_device_id device, cl_uint n)
{
    cl_device_id devices[64];
    if (n > 64 || clGetProgramInfo(program, CL_PROGRAM_DEVICES, n * sizeof *devices, devices, NULL))
        return -1;
    return device_find(devices, n, device);
}

/* Returns the binary of a built program, which the caller frees, or NULL when the driver has none. */
static unsigned char *take_binary(cl_program program, cl_device_id device, size_t *size)
{
    unsigned char *binaries[64] = { NULL };
    size_t sizes[64];
    cl_uint n = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL))
        return NULL;
    const int at = device_index(program, device, n);
    if (at < 0 || clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, n * sizeof *sizes, sizes, NULL) || !sizes[at] ||
        sizes[at] > BINARY_CACHE_MAX || !(binaries[at] = malloc(sizes[at])))
        return NULL;
    *size = sizes[at];
    if (!clGetProgramInfo(program, CL_PROGRAM_BINARIES, n * sizeof *binaries, binaries, NULL))
        return binaries[at];
    free(binaries[at]);
    return NULL;
}

static void save(struct programs *p, cl_program program, const char *key)
{
    size_t n;
    unsigned char *binary = take_binary(program, p->device, &n);
    if (binary && binary_cache_save(p->store, key, binary, n))
        count(&p->counters->binary_saves);
    free(binary);
}

/* ---- Handing out ---- */

cl_int program_get(struct built *out, struct programs *p, const struct source *source, bool anew, struct why *why)
{
    cl_int status = CL_SUCCESS;
    bool brief, wrong = false;
    why->text[0] = '\0';
    *out = (struct built){ NULL, program_key(p->caps, source), BUILT_KEPT };
    if (!out->key)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for the name of a program");
    if (!anew && (out->program = find_retained(p, out->key, &brief, &wrong))) {
        out->from = brief ? BUILT_BRIEF : BUILT_KEPT;
        return CL_SUCCESS;
    }
    if (wrong) {
        free(out->key);
        out->key = NULL;
        return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it computed a wrong result before");
    }
    out->from = BUILT_LOADED;
    if (!anew && !store_is_none(p->store) && (out->program = load(p, source, out->key)))
        return CL_SUCCESS;
    out->from = BUILT_COMPILED;
    if ((status = compile(&out->program, p, source, why))) {
        free(out->key);
        out->key = NULL;
    }
    return status;
}

void program_done(struct built *b, struct programs *p, bool brief)
{
    bool saved = b->from == BUILT_LOADED;
    if (saved) {
        binary_cache_leave(p->store, b->key);
        count(&p->counters->binary_hits);
    } else if (!brief && !store_is_none(p->store) && !is_saved(p, b->key)) {
        save(p, b->program, b->key);
        saved = true;
    }
    keep(p, b->key, b->program, brief, saved);
    clReleaseProgram(b->program);
}

void program_refuse(struct built *b, struct programs *p, bool wrong)
{
    if (b->from == BUILT_LOADED) {
        binary_cache_leave(p->store, b->key);
        binary_cache_remove(p->store, b->key);
        count(&p->counters->binary_rejects);
    } else if (b->from == BUILT_COMPILED && wrong) {
        keep(p, b->key, NULL, false, false);
        b->key = NULL;
    }
    clReleaseProgram(b->program);
    free(b->key);
}
