/* program.c - program text to built programs, from the compiler or from what it made earlier
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "device/program.h"

#include "base/text.h"
#include "base/version.h"
#include "device/build_log.h"
#include "device/device.h"
#include "device/driver_variables.h"

#include <stdlib.h>
#include <string.h>

static void count(uint64_t *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
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
    driver_variables_print(to);
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

/* Takes what is kept; false: there is nothing. */
static bool take(struct built *b, const struct found *found)
{
    b->program = found->program;
    if (b->program)
        b->from = found->brief ? BUILT_BRIEF : BUILT_KEPT;
    return b->program;
}

static cl_int refuse_wrong(struct why *why)
{
    return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it computed a wrong result before");
}

cl_int program_look_up(struct built *out, struct programs *p, const struct source *source, bool anew, struct why *why)
{
    why->text[0] = '\0';
    *out = (struct built){ .key = program_key(p->caps, source), .from = BUILT_KEPT };
    if (!out->key)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for the name of a program");
    if (anew)
        return CL_SUCCESS;
    const struct found found = programs_find(p, out->key);
    if (take(out, &found))
        return CL_SUCCESS;
    if (found.wrong) {
        free(out->key);
        return refuse_wrong(why);
    }
    if (!store_is_none(p->store) && (out->program = load(p, source, out->key)))
        out->from = BUILT_LOADED;
    return CL_SUCCESS;
}

cl_int program_compile(struct built *b, struct programs *p, const struct source *source, bool anew, struct why *why)
{
    struct found found;
    why->text[0] = '\0';
    if (b->program)
        return CL_SUCCESS;
    b->leads = programs_begin(p, &b->flight, b->key, anew, &found);
    if (take(b, &found))
        return CL_SUCCESS;
    if (found.wrong)
        return refuse_wrong(why);
    b->from = BUILT_COMPILED;
    return compile(&b->program, p, source, why);
}

void program_judge(struct built *b, struct programs *p, enum program_verdict verdict)
{
    const bool brief = verdict == PROGRAM_BRIEF, loaded = b->from == BUILT_LOADED;
    struct flight *const flight = b->leads ? &b->flight : NULL;
    const bool may_save = !loaded && !brief && !store_is_none(p->store);
    b->good = verdict == PROGRAM_GOOD || brief;
    if (b->good)
        b->to_save = !programs_keep(p, b->key, b->program, brief, loaded || may_save, flight) && may_save;
    else if (b->from == BUILT_COMPILED && verdict == PROGRAM_WRONG)
        (void)programs_keep(p, b->key, NULL, false, false, flight);
    else if (flight)
        programs_land(p, flight);
    b->leads = false;
}

void program_release(struct built *b, struct programs *p)
{
    if (b->from == BUILT_LOADED) {
        binary_cache_leave(p->store, b->key);
        if (!b->good)
            binary_cache_remove(p->store, b->key);
        count(b->good ? &p->counters->binary_hits : &p->counters->binary_rejects);
    } else if (b->to_save) {
        save(p, b->program, b->key);
    }
    if (b->program)
        clReleaseProgram(b->program);
    free(b->key);
}
