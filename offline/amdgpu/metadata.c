/* metadata.c - the note of a code object (MessagePack) and kernel descriptors: what kernels take and have
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "reader.h"

/* ---- MessagePack ---- */

enum item_kind { ITEM_OTHER, ITEM_NUMBER, ITEM_STRING, ITEM_ARRAY, ITEM_MAP };
struct item {
    enum item_kind kind;
    uint64_t value; /* a number; of arrays and maps how many follow */
    struct word text;
};
struct pack {
    struct reader *r;
    const unsigned char *p, *end;
};

static const unsigned char *take_bytes(struct pack *k, uint64_t n)
{
    if ((uint64_t)(k->end - k->p) < n)
        fail(k->r, "the metadata ends early");
    const unsigned char *p = k->p;
    k->p += n;
    return p;
}

static uint64_t take_big(struct pack *k, int bytes)
{
    const unsigned char *p = take_bytes(k, (uint64_t)bytes);
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x = x << 8 | p[i];
    return x;
}

static struct item sized(struct pack *k, enum item_kind kind, uint64_t size)
{
    struct item i = { kind, size, { "", 0 } };
    if (kind == ITEM_STRING || kind == ITEM_OTHER) {
        i.text.at = (const char *)take_bytes(k, size);
        i.text.length = (size_t)size;
    }
    return i;
}

static struct item take_item(struct pack *k)
{
    const unsigned b = *take_bytes(k, 1);
    struct item number = { ITEM_NUMBER, b, { "", 0 } };
    if (b < 0x80 || b >= 0xe0)
        return number;
    if (b < 0x90)
        return sized(k, ITEM_MAP, b & 15);
    if (b < 0xa0)
        return sized(k, ITEM_ARRAY, b & 15);
    if (b < 0xc0)
        return sized(k, ITEM_STRING, b & 31);
    switch (b) {
    case 0xc2: case 0xc3: number.value = b & 1; return number;
    case 0xc4: case 0xc5: case 0xc6: return sized(k, ITEM_OTHER, take_big(k, 1 << (b - 0xc4)));
    case 0xca: case 0xcb: return sized(k, ITEM_OTHER, 4u << (b - 0xca));
    case 0xcc: case 0xcd: case 0xce: case 0xcf: number.value = take_big(k, 1 << (b - 0xcc)); return number;
    case 0xd0: case 0xd1: case 0xd2: case 0xd3: number.value = take_big(k, 1 << (b - 0xd0)); return number;
    case 0xd9: case 0xda: case 0xdb: return sized(k, ITEM_STRING, take_big(k, 1 << (b - 0xd9)));
    case 0xdc: case 0xdd: return sized(k, ITEM_ARRAY, take_big(k, 2 << (b - 0xdc)));
    case 0xde: case 0xdf: return sized(k, ITEM_MAP, take_big(k, 2 << (b - 0xde)));
    default: return sized(k, ITEM_OTHER, 0);
    }
}

static void skip_item(struct pack *k, unsigned depth)
{
    const struct item i = take_item(k);
    if (depth > 32)
        fail(k->r, "the metadata is too deep");
    const uint64_t n = i.kind == ITEM_MAP ? 2 * i.value : i.kind == ITEM_ARRAY ? i.value : 0;
    for (uint64_t j = 0; j < n; j++)
        skip_item(k, depth + 1);
}

static struct item take_kind(struct pack *k, enum item_kind kind)
{
    const struct item i = take_item(k);
    if (i.kind != kind)
        fail(k->r, "the metadata has something else than it should");
    return i;
}

/* ---- arguments ---- */

struct found { /* an argument as the note tells it */
    struct word name, kind;
    uint64_t offset, size;
};

static const struct {
    const char *name;
    enum hidden_kind kind;
} hidden_names[] = {
    { "hidden_block_count_", HIDDEN_BLOCKS }, { "hidden_group_size_", HIDDEN_GROUP_SIZE },
    { "hidden_remainder_", HIDDEN_REMAINDER }, { "hidden_global_offset_", HIDDEN_OFFSET },
    { "hidden_grid_dims", HIDDEN_DIMS }, { "hidden_dynamic_lds_size", HIDDEN_SHARED_SIZE },
    { "hidden_private_base", HIDDEN_PRIVATE_BASE }, { "hidden_shared_base", HIDDEN_SHARED_BASE },
};

static void add_hidden(struct amdgpu_kernel *k, const struct found *f)
{
    struct hidden *h = &k->hidden[k->n_hidden++];
    h->offset = (size_t)f->offset;
    h->size = (size_t)f->size;
    for (size_t i = 0; i < sizeof hidden_names / sizeof *hidden_names; i++)
        if (word_begins(f->kind, hidden_names[i].name))
            h->kind = hidden_names[i].kind;
    const char last = f->kind.at[f->kind.length - 1];
    h->dimension = last == 'y' ? 1 : last == 'z' ? 2 : 0;
}

static void add_param(struct reader *r, struct amdgpu_kernel *k, const struct found *f)
{
    struct amdgpu_param *p = &k->params[k->info.n_params++];
    p->name = word_copy(r, f->name);
    p->offset = (size_t)f->offset;
    p->size = (size_t)f->size;
    p->kind = word_is(f->kind, "global_buffer") ? PARAM_GLOBAL :
              word_is(f->kind, "dynamic_shared_pointer") ? PARAM_SHARED : PARAM_VALUE;
    if (p->kind == PARAM_VALUE && !word_is(f->kind, "by_value"))
        fail(r, "kernel %s takes something of kind %.*s", k->name ? k->name : "?", WORD(f->kind));
    if (p->size != (p->kind == PARAM_GLOBAL ? 8 : p->kind == PARAM_SHARED ? 4 : p->size))
        fail(r, "an argument has another size than its kind");
}

static void read_arg(struct pack *k, struct amdgpu_kernel *kernel)
{
    struct found f = { { "", 0 }, { "", 0 }, 0, 0 };
    const uint64_t n = take_kind(k, ITEM_MAP).value;
    for (uint64_t i = 0; i < n; i++) {
        const struct word key = take_kind(k, ITEM_STRING).text;
        if (word_is(key, ".offset"))
            f.offset = take_kind(k, ITEM_NUMBER).value;
        else if (word_is(key, ".size"))
            f.size = take_kind(k, ITEM_NUMBER).value;
        else if (word_is(key, ".name"))
            f.name = take_kind(k, ITEM_STRING).text;
        else if (word_is(key, ".value_kind"))
            f.kind = take_kind(k, ITEM_STRING).text;
        else
            skip_item(k, 0);
    }
    if (f.offset > 1 << 20 || f.size > 1 << 20)
        fail(k->r, "an argument lies too far");
    if (f.kind.length > 7 && !memcmp(f.kind.at, "hidden_", 7))
        add_hidden(kernel, &f);
    else
        add_param(k->r, kernel, &f);
}

static void read_args(struct pack *k, struct amdgpu_kernel *kernel)
{
    const uint64_t n = take_kind(k, ITEM_ARRAY).value;
    if (n > MAX_PARAMS)
        fail(k->r, "a kernel has too many arguments");
    if (kernel->params)
        fail(k->r, "a kernel has its arguments twice");
    kernel->params = reader_alloc(k->r, (size_t)n + 1, sizeof *kernel->params);
    kernel->hidden = reader_alloc(k->r, (size_t)n + 1, sizeof *kernel->hidden);
    kernel->info.params = kernel->params;
    for (uint64_t i = 0; i < n; i++)
        read_arg(k, kernel);
}

/* ---- kernels ---- */

static void read_required(struct pack *k, struct amdgpu_kernel *kernel)
{
    const uint64_t n = take_kind(k, ITEM_ARRAY).value;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t size = take_kind(k, ITEM_NUMBER).value;
        if (i < 3)
            kernel->info.required[i] = (uint32_t)size;
    }
}

static int read_number(struct pack *k, struct word key, struct amdgpu_info *info)
{
    const struct {
        const char *key;
        uint32_t *to;
    } numbers[] = {
        { ".vgpr_count", &info->vgprs }, { ".agpr_count", &info->agprs }, { ".sgpr_count", &info->sgprs },
        { ".vgpr_spill_count", &info->vgpr_spills }, { ".sgpr_spill_count", &info->sgpr_spills },
        { ".wavefront_size", &info->wave }, { ".max_flat_workgroup_size", &info->max_work_group },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (word_is(key, numbers[i].key)) {
            *numbers[i].to = (uint32_t)take_kind(k, ITEM_NUMBER).value;
            return 1;
        }
    return 0;
}

static void read_kernel(struct pack *k, struct amdgpu_kernel *kernel, struct word *symbol)
{
    const uint64_t n = take_kind(k, ITEM_MAP).value;
    for (uint64_t i = 0; i < n; i++) {
        const struct word key = take_kind(k, ITEM_STRING).text;
        if (word_is(key, ".args"))
            read_args(k, kernel);
        else if (word_is(key, ".name"))
            kernel->name = word_copy(k->r, take_kind(k, ITEM_STRING).text);
        else if (word_is(key, ".symbol"))
            *symbol = take_kind(k, ITEM_STRING).text;
        else if (word_is(key, ".reqd_workgroup_size"))
            read_required(k, kernel);
        else if (!read_number(k, key, &kernel->info))
            skip_item(k, 0);
    }
    if (!kernel->name || !symbol->length)
        fail(k->r, "a kernel of the metadata has no name");
}

static uint64_t field(const unsigned char *p, int at, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes; i-- > 0;)
        x = x << 8 | p[at + i];
    return x;
}

/* The kernel descriptor: 64 bytes, as LLVM's "User Guide for AMDGPU Backend" has them. */
static void read_descriptor(struct reader *r, struct amdgpu_kernel *k, struct word symbol)
{
    const struct amdgpu_module *m = r->module;
    const struct object_symbol *s = object_find(r, symbol);
    if (!s || s->address > m->image_size || m->image_size - s->address < 64)
        fail(r, "kernel %s has no descriptor", k->name);
    const unsigned char *p = m->image + s->address;
    const uint32_t rsrc1 = (uint32_t)field(p, 48, 4), rsrc2 = (uint32_t)field(p, 52, 4);
    const uint32_t properties = (uint32_t)field(p, 56, 2), preload = (uint32_t)field(p, 58, 2);
    struct setup *to = &k->setup;
    k->info.shared = (size_t)field(p, 0, 4);
    k->info.scratch = (size_t)field(p, 4, 4);
    k->info.kernarg = (size_t)field(p, 8, 4);
    k->entry = s->address + field(p, 16, 8);
    to->private_buffer = properties & 1;
    to->dispatch = properties >> 1 & 1;
    to->queue = properties >> 2 & 1;
    to->kernarg = properties >> 3 & 1;
    to->dispatch_id = properties >> 4 & 1;
    to->flat_scratch = properties >> 5 & 1;
    to->private_size = properties >> 6 & 1;
    k->info.wave = properties >> 10 & 1 ? 32 : 64;
    to->user_sgprs = rsrc2 >> 1 & 31;
    for (int i = 0; i < 3; i++)
        to->group_id[i] = rsrc2 >> (7 + i) & 1;
    to->group_info = rsrc2 >> 10 & 1;
    to->work_item = rsrc2 >> 11 & 3;
    to->packed_item = (uint8_t)(r->module->mi200 || r->module->generation >= 11);
    to->private_offset = rsrc2 & 1;
    to->flush = (uint8_t)(((rsrc1 >> 16 & 3) != 3) | ((rsrc1 >> 18 & 3) != 3) << 1);
    to->preload_length = preload & 127;
    to->preload_offset = (uint8_t)(preload >> 7 & 255);
    if (to->preload_length)
        k->entry += 256; /* before it lies what loads them where the firmware does not */
    if (k->info.scratch > 1 << 20 || k->info.shared > MAX_SHARED || k->info.kernarg > 1 << 20)
        fail(r, "kernel %s wants more memory than there is", k->name);
    for (size_t i = 0; i < k->info.n_params; i++)
        if (k->params[i].offset + k->params[i].size > k->info.kernarg)
            fail(r, "an argument of kernel %s lies outside of its arguments", k->name);
}

void metadata_read(struct reader *r)
{
    struct amdgpu_module *m = r->module;
    struct pack k = { r, r->note, r->note + r->note_size };
    const uint64_t n = take_kind(&k, ITEM_MAP).value;
    for (uint64_t i = 0; i < n; i++) {
        if (!word_is(take_kind(&k, ITEM_STRING).text, "amdhsa.kernels")) {
            skip_item(&k, 0);
            continue;
        }
        m->n_kernels = (size_t)take_kind(&k, ITEM_ARRAY).value;
        if (m->n_kernels > MAX_KERNELS)
            fail(r, "the object has too many kernels");
        m->kernels = reader_alloc(r, m->n_kernels + 1, sizeof *m->kernels);
        for (size_t j = 0; j < m->n_kernels; j++) {
            struct word symbol = { "", 0 };
            m->kernels[j].module = m;
            read_kernel(&k, &m->kernels[j], &symbol);
            read_descriptor(r, &m->kernels[j], symbol);
        }
    }
    for (size_t j = 0; j + 1 < m->n_kernels; j++)
        if (m->kernels[j].info.wave != m->kernels[j + 1].info.wave)
            fail(r, "the object's kernels have waves of different size");
}
