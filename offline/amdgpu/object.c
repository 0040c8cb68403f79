/* object.c - the ELF file: its image in memory, symbols and note
 * SPDX-License-Identifier: Apache-2.0
 *
 * Drivers make objects that are linked; compilers also make such that are not, whose sections get their addresses
 * and relocations here: .text the first, because the listing calls that 0. */
#include <string.h>

#include "reader.h"

enum {
    EHDR = 64, PHDR = 56, SHDR = 64, SYM = 24, RELA = 24, MAX_SECTIONS = 4096,
    ET_REL = 1, ET_EXEC = 2, ET_DYN = 3, EM_AMDGPU = 224, PT_LOAD = 1,
    SHT_PROGBITS = 1, SHT_SYMTAB = 2, SHT_RELA = 4, SHT_NOTE = 7, SHT_NOBITS = 8, SHT_DYNSYM = 11, SHF_ALLOC = 2,
    SHF_EXECINSTR = 4, STT_FUNC = 2, NT_AMDGPU_METADATA = 32
};

static const struct {
    uint8_t mach;
    const char *name;
} processors[] = {
    { 0x2c, "gfx900" }, { 0x2d, "gfx902" }, { 0x2e, "gfx904" }, { 0x2f, "gfx906" }, { 0x30, "gfx908" },
    { 0x31, "gfx909" }, { 0x32, "gfx90c" }, { 0x33, "gfx1010" }, { 0x34, "gfx1011" }, { 0x35, "gfx1012" },
    { 0x36, "gfx1030" }, { 0x37, "gfx1031" }, { 0x38, "gfx1032" }, { 0x39, "gfx1033" }, { 0x3d, "gfx1035" },
    { 0x3e, "gfx1034" }, { 0x3f, "gfx90a" }, { 0x40, "gfx940" }, { 0x41, "gfx1100" }, { 0x42, "gfx1013" },
    { 0x43, "gfx1150" }, { 0x44, "gfx1103" }, { 0x45, "gfx1036" }, { 0x46, "gfx1101" }, { 0x47, "gfx1102" },
    { 0x48, "gfx1200" }, { 0x4a, "gfx1151" }, { 0x4b, "gfx941" }, { 0x4c, "gfx942" }, { 0x4e, "gfx1201" },
    { 0x4f, "gfx950" }, { 0x55, "gfx1152" }, { 0x58, "gfx1153" },
};

const char *object_processor(uint32_t flags)
{
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++)
        if (processors[i].mach == (flags & 0xff))
            return processors[i].name;
    return NULL;
}

static uint64_t little(const unsigned char *p, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes; i-- > 0;)
        x = x << 8 | p[i];
    return x;
}

static void put_little(unsigned char *p, int bytes, uint64_t x)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(x >> 8 * i);
}

/* So many bytes of the file. */
static const unsigned char *piece(struct reader *r, uint64_t offset, uint64_t size)
{
    if (offset > r->object_size || size > r->object_size - offset)
        fail(r, "the object ends before what it promises");
    return r->object + offset;
}

struct section {
    const unsigned char *header;
    uint32_t type, link, info;
    uint64_t flags, address, offset, size;
};
struct elf {
    struct reader *r;
    unsigned kind;
    struct section *sections;
    size_t n_sections;
};

static void read_sections(struct elf *e)
{
    struct reader *r = e->r;
    const unsigned char *h = r->object;
    const uint64_t offset = little(h + 40, 8), size = little(h + 58, 2);
    e->n_sections = (size_t)little(h + 60, 2);
    if (!e->n_sections || e->n_sections > MAX_SECTIONS || size != SHDR)
        fail(r, "the object has no sections");
    const unsigned char *table = piece(r, offset, e->n_sections * SHDR);
    e->sections = reader_alloc(r, e->n_sections, sizeof *e->sections);
    for (size_t i = 0; i < e->n_sections; i++) {
        const unsigned char *p = table + i * SHDR;
        struct section *s = &e->sections[i];
        s->type = (uint32_t)little(p + 4, 4);
        s->flags = little(p + 8, 8);
        s->address = little(p + 16, 8);
        s->offset = little(p + 24, 8);
        s->size = little(p + 32, 8);
        s->link = (uint32_t)little(p + 40, 4);
        s->info = (uint32_t)little(p + 44, 4);
        if (s->type && s->type != SHT_NOBITS)
            piece(r, s->offset, s->size);
    }
}

/* ---- the image ---- */

static void place(struct elf *e, uint64_t address, uint64_t size)
{
    struct amdgpu_module *m = e->r->module;
    if (address > MAX_IMAGE || size > MAX_IMAGE - address)
        fail(e->r, "the object is too large");
    if (address + size > m->image_size)
        m->image_size = (size_t)(address + size);
}

static void lay_out_sections(struct elf *e) /* of an object that is not linked */
{
    size_t n_text = 0;
    uint64_t at = 0;
    for (size_t i = 0; i < e->n_sections; i++)
        if (e->sections[i].flags & SHF_EXECINSTR && e->sections[i].size) {
            n_text++;
            at = e->sections[i].size;
        }
    if (n_text > 1)
        fail(e->r, "an object that is not linked has several sections of instructions");
    for (size_t i = 0; i < e->n_sections; i++) {
        struct section *s = &e->sections[i];
        if (!(s->flags & SHF_ALLOC) || s->flags & SHF_EXECINSTR)
            continue;
        at = (at + 255) / 256 * 256;
        s->address = at;
        place(e, at, s->size);
        at += s->size;
    }
}

static void load(struct elf *e, uint64_t address, uint64_t offset, uint64_t size)
{
    memcpy(e->r->module->image + address, piece(e->r, offset, size), (size_t)size);
}

static void make_image(struct elf *e)
{
    struct reader *r = e->r;
    const uint64_t offset = little(r->object + 32, 8), n = little(r->object + 56, 2);
    if (e->kind == ET_REL)
        lay_out_sections(e);
    const unsigned char *segments = e->kind == ET_REL ? NULL : piece(r, offset, n * PHDR);
    for (uint64_t i = 0; segments && i < n; i++)
        if (little(segments + i * PHDR, 4) == PT_LOAD)
            place(e, little(segments + i * PHDR + 16, 8), little(segments + i * PHDR + 40, 8));
    for (size_t i = 0; !segments && i < e->n_sections; i++)
        if (e->sections[i].flags & SHF_ALLOC)
            place(e, e->sections[i].address, e->sections[i].size);
    r->module->image = reader_alloc(r, r->module->image_size + 16, 1);
    for (uint64_t i = 0; segments && i < n; i++) {
        const unsigned char *p = segments + i * PHDR;
        if (little(p, 4) != PT_LOAD)
            continue;
        if (little(p + 32, 8) > little(p + 40, 8))
            fail(r, "a segment is longer in the file than in memory");
        load(e, little(p + 16, 8), little(p + 8, 8), little(p + 32, 8));
    }
    for (size_t i = 0; !segments && i < e->n_sections; i++)
        if (e->sections[i].flags & SHF_ALLOC && e->sections[i].type != SHT_NOBITS)
            load(e, e->sections[i].address, e->sections[i].offset, e->sections[i].size);
}

/* ---- symbols and relocations ---- */

static struct word string_at(struct elf *e, uint32_t table, uint64_t at)
{
    struct word w = { "", 0 };
    if (table >= e->n_sections || at >= e->sections[table].size)
        fail(e->r, "a symbol's name lies outside of the names");
    w.at = (const char *)piece(e->r, e->sections[table].offset, e->sections[table].size) + at;
    const char *end = memchr(w.at, 0, (size_t)(e->sections[table].size - at));
    if (!end)
        fail(e->r, "a symbol's name does not end");
    w.length = (size_t)(end - w.at);
    return w;
}

static uint64_t symbol_address(struct elf *e, const unsigned char *p)
{
    const uint64_t section = little(p + 6, 2), value = little(p + 8, 8);
    if (e->kind != ET_REL || section == 0xfff1) /* absolute */
        return value;
    if (!section || section >= e->n_sections)
        fail(e->r, "a symbol is defined nowhere");
    return e->sections[section].address + value;
}

static void read_symbols(struct elf *e, uint32_t type)
{
    struct reader *r = e->r;
    for (size_t i = 0; i < e->n_sections && !r->n_symbols; i++) {
        const struct section *s = &e->sections[i];
        if (s->type != type)
            continue;
        const unsigned char *p = piece(r, s->offset, s->size);
        r->symbols = reader_alloc(r, (size_t)(s->size / SYM) + 1, sizeof *r->symbols);
        for (uint64_t k = 1; k < s->size / SYM; k++) {
            const unsigned char *sym = p + k * SYM;
            struct object_symbol *to = &r->symbols[r->n_symbols];
            if (!little(sym + 6, 2))
                continue;
            to->name = string_at(e, s->link, little(sym, 4));
            to->address = symbol_address(e, sym);
            to->size = little(sym + 16, 8);
            to->is_function = (sym[4] & 15) == STT_FUNC;
            r->n_symbols++;
        }
    }
}

static void relocate(struct elf *e, const struct section *to, const struct section *symbols, const unsigned char *p)
{
    enum { ABS32_LO = 1, ABS32_HI, ABS64, REL32, REL64, ABS32, REL32_LO = 10, REL32_HI };
    const uint64_t offset = little(p, 8), info = little(p + 8, 8), type = info & 0xffffffffu, index = info >> 32;
    if (index >= symbols->size / SYM || offset > to->size || to->size - offset < 4)
        fail(e->r, "a relocation points nowhere");
    const uint64_t s = symbol_address(e, piece(e->r, symbols->offset + index * SYM, SYM)) + little(p + 16, 8);
    const uint64_t at = to->address + offset, absolute = OWN_ADDRESS(OWN_IMAGE) + s, relative = s - at;
    unsigned char *image = e->r->module->image + at;
    switch (type) {
    case ABS32_LO: case ABS32: put_little(image, 4, absolute); break;
    case ABS32_HI: put_little(image, 4, absolute >> 32); break;
    case ABS64: put_little(image, 8, absolute); break;
    case REL64: put_little(image, 8, relative); break;
    case REL32: case REL32_LO: put_little(image, 4, relative); break;
    case REL32_HI: put_little(image, 4, relative >> 32); break;
    default: fail(e->r, "a relocation of type %u", (unsigned)type);
    }
}

static void relocate_all(struct elf *e)
{
    for (size_t i = 0; e->kind == ET_REL && i < e->n_sections; i++) {
        const struct section *s = &e->sections[i];
        if (s->type != SHT_RELA || s->info >= e->n_sections || s->link >= e->n_sections ||
            !(e->sections[s->info].flags & SHF_ALLOC) || e->sections[s->info].type == SHT_NOBITS)
            continue;
        const unsigned char *p = piece(e->r, s->offset, s->size);
        if (e->sections[s->info].flags & SHF_EXECINSTR && s->size / RELA) /* its disassembly does not have the places */
            fail(e->r, "the object is not linked, and its instructions refer to its data: link it (ld.lld -shared)");
        for (uint64_t k = 0; k < s->size / RELA; k++)
            relocate(e, &e->sections[s->info], &e->sections[s->link], p + k * RELA);
    }
}

const struct object_symbol *object_find(const struct reader *r, struct word name)
{
    for (size_t i = 0; i < r->n_symbols; i++)
        if (words_equal(r->symbols[i].name, name))
            return &r->symbols[i];
    return NULL;
}

/* ---- the note ---- */

static void find_note(struct elf *e)
{
    struct reader *r = e->r;
    for (size_t i = 0; i < e->n_sections && !r->note; i++) {
        const struct section *s = &e->sections[i];
        const unsigned char *p = s->type == SHT_NOTE ? piece(r, s->offset, s->size) : NULL;
        for (uint64_t at = 0; p && at + 12 <= s->size;) {
            const uint64_t name = (little(p + at, 4) + 3) / 4 * 4, size = little(p + at + 4, 4);
            if (name > s->size - at - 12 || size > s->size - at - 12 - name)
                fail(r, "a note ends behind its section");
            if (little(p + at + 8, 4) == NT_AMDGPU_METADATA) {
                r->note = p + at + 12 + name;
                r->note_size = (size_t)size;
            }
            at += 12 + name + (size + 3) / 4 * 4;
        }
    }
    if (!r->note)
        fail(r, "the object has no metadata of AMD's kernels");
}

static const char *check_header(const unsigned char *h, size_t size)
{
    static const unsigned char magic[] = { 0x7f, 'E', 'L', 'F', 2, 1 };
    if (size < EHDR || memcmp(h, magic, sizeof magic))
        return "this is no ELF file of 64 bits";
    if (little(h + 18, 2) != EM_AMDGPU)
        return "this ELF file is not for AMD's GPUs";
    const uint64_t kind = little(h + 16, 2);
    if (kind != ET_REL && kind != ET_EXEC && kind != ET_DYN)
        return "this ELF file is no code object";
    return object_processor((uint32_t)little(h + 48, 4)) ? NULL :
                                                           "the object is for a processor that is not known here";
}

void object_read(struct reader *r)
{
    struct elf e = { r, 0, NULL, 0 };
    const char *fault = check_header(r->object, r->object_size);
    if (fault)
        fail(r, "%s", fault);
    e.kind = (unsigned)little(r->object + 16, 2);
    strcpy(r->module->target, object_processor((uint32_t)little(r->object + 48, 4)));
    read_sections(&e);
    make_image(&e);
    read_symbols(&e, SHT_SYMTAB);
    read_symbols(&e, SHT_DYNSYM);
    relocate_all(&e);
    find_note(&e);
}

int amdgpu_object_target(const void *object, size_t size, char *to, size_t to_size, char *why, size_t why_size)
{
    const char *fault = check_header(object, size);
    const char *name = fault ? NULL : object_processor((uint32_t)little((const unsigned char *)object + 48, 4));
    if (name && strlen(name) < to_size) {
        strcpy(to, name);
        return 1;
    }
    say_why(why, why_size, "%s", fault ? fault : "the room for its name is too small");
    return 0;
}
