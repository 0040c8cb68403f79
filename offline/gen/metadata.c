/* metadata.c - the .ze_info of a kernel binary: what kernels need and where their arguments go
 * SPDX-License-Identifier: Apache-2.0
 *
 * It is YAML of a simple kind: `key: value` lines, lists whose elements begin with a dash, and depth by indentation. */
#include "reader.h"

/* One line, taken apart. */
struct entry {
    size_t indent; /* of its key */
    int begins;    /* an element of a list */
    struct word key, value;
};

static int next_entry(struct word *rest, struct entry *e)
{
    while (rest->length) {
        struct word line = word_line(rest);
        const char *const start = line.at;
        e->begins = 0;
        line = word_trim(line);
        if (line.length && *line.at == '-' && line.length > 1 && line.at[1] == ' ') {
            e->begins = 1;
            line.at++;
            line.length--;
            line = word_trim(line);
        }
        if (!line.length || *line.at == '.')
            continue;
        e->indent = (size_t)(line.at - start);
        e->key = word_until(&line, ':');
        e->value = word_trim(line);
        if (e->value.length > 1 && *e->value.at == '\'') {
            e->value.at++;
            e->value.length -= 2;
        }
        return 1;
    }
    return 0;
}

static uint32_t entry_number(struct reader *r, const struct entry *e)
{
    int64_t x;
    if (!word_number(e->value, &x) || x < 0 || x > UINT32_MAX)
        fail(r, "%.*s is no number: %.*s", WORD(e->key), WORD(e->value));
    return (uint32_t)x;
}

/* ---- what is known of an argument before all of it was read ---- */

struct argument {
    struct word type, mode, space;
    uint32_t offset, size, index, source;
};

static const struct {
    const char *name;
    enum payload_kind kind;
} kinds[] = {
    { "arg_byvalue", PAYLOAD_VALUE },
    { "buffer_offset", PAYLOAD_BUFFER_OFFSET },
    { "buffer_address", PAYLOAD_POINTER }, /* beside what is reached by a binding */
    { "group_count", PAYLOAD_GROUP_COUNT },
    { "local_size", PAYLOAD_LOCAL_SIZE },
    { "enqueued_local_size", PAYLOAD_LOCAL_SIZE },
    { "global_id_offset", PAYLOAD_GLOBAL_OFFSET },
    { "global_size", PAYLOAD_GLOBAL_SIZE },
    { "work_dimensions", PAYLOAD_WORK_DIM },
    { "private_base_stateless", PAYLOAD_PRIVATE },
    { "const_base", PAYLOAD_CONST },
};

static enum payload_kind pointer_kind(struct reader *r, const struct argument *a)
{
    if (word_is(a->mode, "stateless"))
        return PAYLOAD_POINTER;
    if (word_is(a->mode, "bindless"))
        return PAYLOAD_SURFACE;
    if (word_is(a->mode, "slm"))
        return PAYLOAD_SHARED;
    fail(r, "an argument of address mode %.*s is not known here", WORD(a->mode));
}

static enum payload_kind payload_kind(struct reader *r, const struct argument *a)
{
    if (word_is(a->type, "arg_bypointer"))
        return pointer_kind(r, a);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (word_is(a->type, kinds[i].name))
            return kinds[i].kind;
    fail(r, "an argument of type %.*s is not known here", WORD(a->type));
}

static struct gen_param *param_at(struct reader *r, uint32_t index)
{
    struct gen_kernel *k = r->kernel;
    if (index >= MAX_PARAMS)
        fail(r, "more than %d arguments", MAX_PARAMS);
    while (k->info.n_params <= index) {
        k->params = reader_grow(r, k->params, k->info.n_params, sizeof *k->params, MAX_PARAMS, "arguments");
        k->params[k->info.n_params].name = "";
        k->params[k->info.n_params].kind = PARAM_VALUE;
        k->params[k->info.n_params++].size = 0;
    }
    k->info.params = k->params;
    return &k->params[index];
}

static void add_argument(struct reader *r, const struct argument *a)
{
    struct gen_kernel *k = r->kernel;
    if (!a->type.length)
        return;
    if (word_is(a->mode, "stateful")) /* by a binding: it takes no room */
        return;
    const enum payload_kind kind = payload_kind(r, a);
    const struct payload p = { kind, a->offset, a->size, a->source, a->index };
    if (a->offset > 1 << 16 || a->size > 1 << 16)
        fail(r, "an argument at %u of %u bytes", a->offset, a->size);
    if (kind <= PAYLOAD_BUFFER_OFFSET) {
        struct gen_param *param = param_at(r, a->index);
        if (kind == PAYLOAD_VALUE && param->size < a->source + (size_t)a->size)
            param->size = a->source + (size_t)a->size;
        else if (kind != PAYLOAD_VALUE) {
            param->kind = kind == PAYLOAD_SHARED ? PARAM_SHARED : PARAM_GLOBAL;
            param->size = 8;
        }
    }
    k->payload = reader_grow(r, k->payload, k->n_payload, sizeof *k->payload, 4 * MAX_PARAMS, "arguments");
    k->payload[k->n_payload++] = p;
    if (a->offset + a->size > k->payload_bytes)
        k->payload_bytes = a->offset + a->size;
}

static void read_argument_entry(struct reader *r, struct argument *a, const struct entry *e)
{
    if (word_is(e->key, "arg_type"))
        a->type = e->value;
    else if (word_is(e->key, "addrmode"))
        a->mode = e->value;
    else if (word_is(e->key, "addrspace"))
        a->space = e->value;
    else if (word_is(e->key, "offset"))
        a->offset = entry_number(r, e);
    else if (word_is(e->key, "size"))
        a->size = entry_number(r, e);
    else if (word_is(e->key, "arg_index"))
        a->index = entry_number(r, e);
    else if (word_is(e->key, "source_offset"))
        a->source = entry_number(r, e);
}

/* ---- kernels ---- */

/* [ 128, 1, 1 ] */
static void read_sizes(struct reader *r, const struct entry *e, uint32_t to[3])
{
    struct word rest = e->value;
    for (int i = 0; i < 3; i++) {
        while (rest.length && (*rest.at < '0' || *rest.at > '9')) {
            rest.at++;
            rest.length--;
        }
        if (!word_digits(&rest, &to[i]))
            fail(r, "%.*s is not of three numbers", WORD(e->key));
    }
}

static void read_environment(struct reader *r, const struct entry *e)
{
    struct gen_kernel *k = r->kernel;
    if (word_is(e->key, "simd_size"))
        k->info.simd = entry_number(r, e);
    else if (word_is(e->key, "grf_count"))
        k->info.registers = entry_number(r, e);
    else if (word_is(e->key, "barrier_count"))
        k->info.barriers = entry_number(r, e);
    else if (word_is(e->key, "slm_size"))
        k->info.shared = entry_number(r, e);
    else if (word_is(e->key, "spill_size"))
        k->info.spill = entry_number(r, e);
    else if (word_is(e->key, "inline_data_payload_size"))
        k->inline_bytes = entry_number(r, e);
    else if (word_is(e->key, "required_work_group_size"))
        read_sizes(r, e, k->info.required);
}

/* Tables of arguments; one element at a time is gathered. */
enum table { TABLE_NONE, TABLE_ENVIRONMENT, TABLE_ARGUMENTS, TABLE_THREAD, TABLE_BINDINGS, TABLE_MEMORY };

static enum table table_named(struct word key)
{
    return word_is(key, "execution_env") ? TABLE_ENVIRONMENT : word_is(key, "payload_arguments") ? TABLE_ARGUMENTS :
           word_is(key, "per_thread_payload_arguments") ? TABLE_THREAD :
           word_is(key, "binding_table_indices") ? TABLE_BINDINGS :
           word_is(key, "per_thread_memory_buffers") ? TABLE_MEMORY : TABLE_NONE;
}

static void read_binding(struct reader *r, const struct entry *e)
{
    struct gen_kernel *k = r->kernel;
    if (e->begins) {
        k->bindings = reader_grow(r, k->bindings, k->n_bindings, sizeof *k->bindings, MAX_PARAMS, "bindings");
        memset(&k->bindings[k->n_bindings++], 0, sizeof *k->bindings);
    }
    if (!k->n_bindings)
        fail(r, "a table of bindings begins without one");
    if (word_is(e->key, "bti_value"))
        k->bindings[k->n_bindings - 1].index = entry_number(r, e);
    else if (word_is(e->key, "arg_index")) {
        k->bindings[k->n_bindings - 1].param = entry_number(r, e);
        param_at(r, k->bindings[k->n_bindings - 1].param)->kind = PARAM_GLOBAL;
        param_at(r, k->bindings[k->n_bindings - 1].param)->size = 8;
    }
}

static void read_entry(struct reader *r, enum table table, struct argument *a, const struct entry *e)
{
    struct gen_kernel *k = r->kernel;
    if (table == TABLE_ENVIRONMENT) {
        read_environment(r, e);
    } else if (table == TABLE_ARGUMENTS) {
        if (e->begins) {
            add_argument(r, a);
            memset(a, 0, sizeof *a);
        }
        read_argument_entry(r, a, e);
    } else if (table == TABLE_THREAD && word_is(e->key, "arg_type") && !word_is(e->value, "local_id")) {
        fail(r, "threads are given %.*s, which is not known here", WORD(e->value));
    } else if (table == TABLE_THREAD && word_is(e->key, "size")) {
        k->local_id_bytes = entry_number(r, e);
    } else if (table == TABLE_BINDINGS) {
        read_binding(r, e);
    } else if (table == TABLE_MEMORY && word_is(e->key, "type")) {
        a->space = e->value;
    } else if (table == TABLE_MEMORY && word_is(e->key, "size")) {
        if (word_is(a->space, "global"))
            k->private_bytes = entry_number(r, e);
        else
            k->info.scratch += entry_number(r, e);
    }
}

static void begin_kernel(struct reader *r, struct word name)
{
    struct gen_module *m = r->module;
    m->kernels = reader_grow(r, m->kernels, m->n_kernels, sizeof *m->kernels, MAX_KERNELS, "kernels");
    r->kernel = &m->kernels[m->n_kernels++];
    memset(r->kernel, 0, sizeof *r->kernel);
    r->kernel->module = m;
    r->kernel->name = word_copy(r, name);
}

static void end_kernel(struct reader *r, struct argument *a)
{
    add_argument(r, a);
    memset(a, 0, sizeof *a);
    struct gen_kernel *k = r->kernel;
    if (!k)
        return;
    if (word_begins((struct word){ k->name, strlen(k->name) }, "Intel_Symbol_Table_Void_Program")) {
        r->module->n_kernels--; /* holds the program's constants, no code */
    } else if (k->info.simd != 8 && k->info.simd != 16 && k->info.simd != 32) {
        fail(r, "threads of %u work-items", k->info.simd);
    } else if (k->info.shared > MAX_SHARED || k->info.scratch > 1 << 24 || k->private_bytes > 1 << 20 ||
               k->local_id_bytes > 1 << 10 || k->inline_bytes > 64) {
        fail(r, "it needs too much");
    }
    r->kernel = NULL;
}

/* `kernels:`, elements at a depth of 4, their tables at 4, entries behind. */
static struct word read_kernels(struct reader *r, struct word rest)
{
    struct entry e;
    struct argument a;
    enum table table = TABLE_NONE;
    struct word before = rest;
    memset(&a, 0, sizeof a);
    for (; next_entry(&rest, &e) && e.indent > 0; before = rest) {
        if (e.indent == 4 && e.begins) {
            end_kernel(r, &a);
            begin_kernel(r, e.value);
            table = TABLE_NONE;
        } else if (e.indent == 4) {
            add_argument(r, &a);
            memset(&a, 0, sizeof a);
            table = table_named(e.key);
        } else if (r->kernel) {
            read_entry(r, table, &a, &e);
        }
    }
    end_kernel(r, &a);
    return before;
}

/* ---- what programs call their arguments ---- */

static struct gen_kernel *kernel_of(struct reader *r, struct word name)
{
    for (size_t i = 0; i < r->module->n_kernels; i++)
        if (word_is(name, r->module->kernels[i].name))
            return &r->module->kernels[i];
    return NULL;
}

/* 'float*;8' or 'cla_args;304' */
static void read_type(struct reader *r, struct gen_param *p, struct word type, int is_global)
{
    struct word size = type;
    uint32_t n;
    word_until(&size, ';');
    if (!word_digits(&size, &n))
        fail(r, "the type %.*s has no size", WORD(type));
    if (p->size)
        return;
    p->size = n; /* the kernel does not use it */
    p->kind = is_global ? PARAM_GLOBAL : PARAM_VALUE;
}

static void read_names(struct reader *r, struct word rest)
{
    struct entry e;
    struct gen_param *p = NULL;
    int is_global = 0;
    while (next_entry(&rest, &e)) {
        if (e.indent == 0)
            return;
        if (e.indent == 4 && e.begins)
            r->kernel = kernel_of(r, e.value);
        else if (r->kernel && word_is(e.key, "index"))
            p = param_at(r, entry_number(r, &e));
        else if (r->kernel && p && word_is(e.key, "name"))
            p->name = word_copy(r, e.value);
        else if (r->kernel && p && word_is(e.key, "address_qualifier")) {
            is_global = word_is(e.value, "__global") || word_is(e.value, "__constant");
            if (word_is(e.value, "__local")) {
                p->kind = PARAM_SHARED;
                p->size = 8;
            }
        } else if (r->kernel && p && word_is(e.key, "type_name"))
            read_type(r, p, e.value, is_global);
    }
}

void metadata_read(struct reader *r)
{
    struct word rest = object_section(r, ".ze_info");
    const struct word constants = object_section(r, ".data.const");
    struct entry e;
    if (!rest.length)
        fail(r, "the binary has no .ze_info: it is none of Intel's, or of an old compiler");
    while (next_entry(&rest, &e)) {
        if (word_is(e.key, "kernels") && !e.indent)
            rest = read_kernels(r, rest);
        else if (word_is(e.key, "kernels_misc_info") && !e.indent)
            read_names(r, rest);
    }
    r->kernel = NULL;
    r->module->constants = (unsigned char *)word_copy(r, constants);
    r->module->constants_size = constants.length;
}
