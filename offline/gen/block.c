/* block.c - messages that move whole registers: one address, or a block of two dimensions
 * SPDX-License-Identifier: Apache-2.0 */
#include "inside.h"

enum { PIECE = 64 }; /* bytes that are checked at once */

static size_t grf_of(const struct thread *t)
{
    return t->worker->launch->kernel->grf;
}

/* ---- one piece between memory and registers ---- */

static void note_piece(struct thread *t, const struct access *a, const unsigned char *map, size_t to, size_t size)
{
    if (map) {
        memcpy(t->known + to, map, size);
        return;
    }
    for (size_t i = 0; i < size; i++)
        t->known[to + i] = !(a->unwritten[i / 4] & 1);
}

static void load_piece(struct thread *t, const struct op *o, const struct place *p, uint64_t address, size_t to,
                       size_t size)
{
    struct access a;
    a.address[0] = address;
    memory_resolve(t, o, p, 1, size, ACCESS_READ, &a);
    if (a.good)
        memcpy(t->file + to, a.at[0], size);
    else
        memset(t->file + to, 0, size);
    note_piece(t, &a, a.good ? memory_known(t, a.at[0]) : NULL, to, size);
}

static void store_piece(struct thread *t, const struct op *o, const struct place *p, uint64_t address, size_t from,
                        size_t size)
{
    struct access a;
    a.address[0] = address;
    memory_resolve(t, o, p, 1, size, ACCESS_WRITE, &a);
    if (!a.good)
        return;
    unsigned char *const map = memory_known(t, a.at[0]);
    if (map)
        memcpy(map, t->known + from, size);
    else
        access_need(t, o, from, size, 0);
    memcpy(a.at[0], t->file + from, size);
}

/* Registers behind one another, from an address on. */
static void move_block(struct thread *t, const struct op *o, uint64_t address, size_t size)
{
    const struct message *m = o->message;
    const struct place p = memory_place(t, m);
    for (size_t done = 0; done < size; done += PIECE) {
        const size_t n = size - done < PIECE ? size - done : PIECE;
        if (m->op == MESSAGE_STORE)
            store_piece(t, o, &p, address + done, access_data(t, m, done), n);
        else if (m->to != NO_REGISTER)
            load_piece(t, o, &p, address + done, m->to * grf_of(t) + done, n);
    }
}

void block_transposed(struct thread *t, const struct op *o)
{
    struct access a;
    access_addresses(t, o, 1, &a);
    move_block(t, o, a.address[0], (size_t)o->message->width * o->message->count);
}

/* The header's third word has the offset. */
void block_oword(struct thread *t, const struct op *o)
{
    const size_t at = o->message->from * grf_of(t) + 8;
    uint32_t offset;
    access_need(t, o, at, 4, 0);
    memcpy(&offset, t->file + at, sizeof offset);
    move_block(t, o, offset, 4u * o->message->count);
}

/* Spilled registers of the older data port. Each word belongs to a lane, which has to be on. */
void block_scratch(struct thread *t, const struct op *o)
{
    const struct message *m = o->message;
    const struct place p = memory_place(t, m);
    const uint32_t mask = issue_mask(t, o);
    for (unsigned k = 0; k < m->count; k++) {
        if (!(mask >> k % o->width & 1))
            continue;
        const uint64_t address = (uint64_t)m->offset + 4 * k;
        if (m->op == MESSAGE_STORE)
            store_piece(t, o, &p, address, access_data(t, m, 4 * k), 4);
        else if (m->to != NO_REGISTER)
            load_piece(t, o, &p, address, m->to * grf_of(t) + 4 * k, 4);
    }
}

/* ---- blocks of two dimensions ---- */

/* What the payload says of the surface and the block. */
struct block2d {
    uint64_t base;
    uint32_t width, height, pitch; /* bytes, rows, bytes */
    int32_t x, y;                  /* elements, rows */
    uint32_t columns, rows, blocks;
};

static uint32_t payload_word(const struct thread *t, const struct message *m, unsigned k)
{
    uint32_t x;
    memcpy(&x, t->file + m->from * grf_of(t) + 4 * k, sizeof x);
    return x;
}

static struct block2d take_block(const struct thread *t, const struct message *m)
{
    const uint32_t shape = payload_word(t, m, 7);
    struct block2d b;
    b.base = (uint64_t)payload_word(t, m, 1) << 32 | payload_word(t, m, 0);
    b.width = payload_word(t, m, 2) + 1;
    b.height = payload_word(t, m, 3) + 1;
    b.pitch = payload_word(t, m, 4) + 1;
    b.x = (int32_t)(payload_word(t, m, 5) + (uint32_t)m->offset);
    b.y = (int32_t)(payload_word(t, m, 6) + (uint32_t)m->offset_y);
    b.columns = (shape & 0xff) + 1;
    b.rows = (shape >> 8 & 0xff) + 1;
    b.blocks = (shape >> 16 & 15) + 1;
    return b;
}

static int is_legal(const struct block2d *b, const struct message *m)
{
    const uint32_t row = b->columns * m->width;
    return b->base % 64 == 0 && b->width >= 64 && b->width % 4 == 0 && b->pitch >= 64 && b->pitch % 16 == 0 &&
           b->width <= b->pitch && row * b->blocks <= 64 && row % 4 == 0 && b->rows <= 32 &&
           (b->x * (int64_t)m->width) % 4 == 0;
}

static uint32_t power_above(uint32_t x)
{
    uint32_t p = 1;
    while (p < x)
        p <<= 1;
    return p;
}

/* Where an element of a block goes, in elements from the block's first register. */
static size_t element_place(const struct block2d *b, const struct message *m, uint32_t row, uint32_t column)
{
    const uint32_t per_word = m->vnni ? 4 / m->width : 1;
    if (m->transposed)
        return (size_t)(column / per_word) * power_above(b->rows) * per_word + row * per_word + column % per_word;
    return (size_t)(row / per_word) * power_above(b->columns) * per_word + column * per_word + row % per_word;
}

static size_t block_bytes(const struct thread *t, const struct block2d *b, const struct message *m)
{
    const uint32_t per_word = m->vnni ? 4 / m->width : 1, grf = (uint32_t)grf_of(t);
    const uint32_t lines = m->transposed ? b->columns : b->rows, of = m->transposed ? b->rows : b->columns;
    const uint32_t bytes = (lines + per_word - 1) / per_word * per_word * power_above(of) * m->width;
    return (bytes + grf - 1) / grf * grf;
}

/* What lies outside of the surface is zero, without an access. */
static void load_element(struct thread *t, const struct op *o, const struct block2d *b, int64_t x, int64_t y, size_t to)
{
    const struct message *m = o->message;
    const struct place p = { NULL, SPACE_GLOBAL, m->width };
    const int64_t from = x * m->width;
    if (y < 0 || y >= b->height || from < 0 || from + m->width > b->width)
        return;
    load_piece(t, o, &p, b->base + (uint64_t)y * b->pitch + (uint64_t)from, to, m->width);
}

void block_2d(struct thread *t, const struct op *o)
{
    const struct message *m = o->message;
    access_need(t, o, m->from * grf_of(t), 32, 0);
    const struct block2d b = take_block(t, m);
    const size_t bytes = block_bytes(t, &b, m), grf = grf_of(t), end = t->worker->launch->kernel->info.registers * grf;
    if (!is_legal(&b, m) || (m->to != NO_REGISTER && m->to * grf + bytes * b.blocks > end)) {
        check_lanes(t, o, FOUND_SURFACE, 1);
        return;
    }
    if (m->to == NO_REGISTER)
        return;
    memset(t->file + m->to * grf, 0, bytes * b.blocks);
    memset(t->known + m->to * grf, 1, bytes * b.blocks);
    for (uint32_t k = 0; k < b.blocks; k++)
        for (uint32_t row = 0; row < b.rows; row++)
            for (uint32_t column = 0; column < b.columns; column++)
                load_element(t, o, &b, (int64_t)b.x + k * b.columns + column, (int64_t)b.y + row,
                             m->to * grf + k * bytes + element_place(&b, m, row, column) * m->width);
}
