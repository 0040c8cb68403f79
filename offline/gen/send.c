/* send.c - messages written as descriptors
 * SPDX-License-Identifier: Apache-2.0
 *
 * `send.ugm (16|M0) r10 r8 null:0 0x10000 0x04403580`: to memory, by the load and store unit or the older data port,
 * and to the gateway, which has the barriers. */
#include "reader.h"

enum { LSC_FENCE = 31 };

/* The offset is in the extended descriptor, whose bits depend on the kind of surface. */
static void take_extended(struct reader *r, struct word text, struct message *m)
{
    struct word number = word_until(&text, ':'), rest = text;
    int64_t x = 0;
    int in_register = 0;
    if (word_begins(number, "a0.")) {
        rest = number;
        number.length = 0;
    }
    if (word_begins(rest, "a0.")) {
        in_register = 1;
        word_until(&rest, '.');
        if (!word_digits(&rest, &m->index) || rest.length)
            fail(r, "a surface %.*s", WORD(text));
    }
    if (number.length && !word_number(number, &x))
        fail(r, "an extended descriptor %.*s", WORD(number));
    const uint32_t bits = (uint32_t)x;
    if (m->block2d) {
        m->offset = (int32_t)(bits << 10) >> 22;
        m->offset_y = (int32_t)bits >> 22;
    } else if (m->surface == SURFACE_FLAT) {
        m->offset = (int32_t)bits >> 12;
    } else if (m->surface == SURFACE_BTI) {
        m->index = bits >> 24;
        m->offset = (int32_t)(bits << 8) >> 20;
    } else {
        const uint32_t field = (bits >> 19) << 4 | (bits >> 12 & 15);
        m->offset = (int32_t)(field << 15) >> 15;
    }
    if ((m->surface == SURFACE_BSS || m->surface == SURFACE_SS) != in_register)
        fail(r, "an extended descriptor %.*s", WORD(number));
}

static void take_payload(struct reader *r, const struct statement *s, const struct op *o, struct message *m)
{
    struct word first = s->words[1];
    uint32_t n;
    m->gather = NO_REGISTER;
    m->to = read_register(r, s->words[0], NULL);
    if (word_begins(first, "r[s0.")) {
        word_until(&first, '.');
        if (!word_digits(&first, &n) || !word_is(first, "]") || n > 7)
            fail(r, "a payload %.*s", WORD(s->words[1]));
        if (m->block2d)
            fail(r, "a block of two dimensions with a payload that s0 lists");
        m->gather = (uint16_t)(8 * n);
        m->gather_skips = (uint8_t)((o->width * m->address_bytes + r->kernel->grf - 1u) / r->kernel->grf);
        m->from = 0;
        m->data = m->op == MESSAGE_LOAD ? NO_REGISTER : 0;
        return;
    }
    m->from = read_register(r, first, NULL);
    m->data = read_register(r, s->words[2], NULL);
    if (m->from == NO_REGISTER)
        fail(r, "a message without a payload");
}

static void read_lsc(struct reader *r, struct statement *s, struct op *o, uint8_t space, uint32_t desc)
{
    struct message *m = reader_alloc(r, 1, sizeof *m);
    o->message = m;
    m->space = space;
    if ((desc & 63) == LSC_FENCE) {
        m->to = read_register(r, s->words[0], NULL);
        o->run = message_fence;
        return;
    }
    message_decode(r, desc, m);
    take_payload(r, s, o, m);
    take_extended(r, s->words[s->n_words - 2], m);
    message_check_room(r, o, m);
}

/* The older data port, of DG2 and PVC: blocks of owords with a header, and scratch. */
static void read_data_port(struct reader *r, struct statement *s, struct op *o, uint32_t desc)
{
    struct message *m = reader_alloc(r, 1, sizeof *m);
    static const uint16_t owords[8] = { 1, 1, 2, 4, 8, 16, 0, 0 };
    const uint32_t kind = desc >> 14 & 31;
    o->message = m;
    m->to = read_register(r, s->words[0], NULL);
    m->from = read_register(r, s->words[1], NULL);
    m->data = read_register(r, s->words[2], NULL);
    m->gather = NO_REGISTER;
    m->width = m->stored = 4;
    if (desc >> 18 & 1) {
        m->scratch = 1;
        m->op = desc >> 17 & 1 ? MESSAGE_STORE : MESSAGE_LOAD;
        m->space = SPACE_LOCAL;
        m->count = (uint8_t)(8u << (desc >> 12 & 3)); /* words: hwords are 32 bytes */
        m->offset = (int32_t)(desc & 0xfff) * 32;
    } else if (kind == 1 && (desc & 0xff) == 0xfd && owords[desc >> 8 & 7]) {
        m->oword = 1;
        m->op = MESSAGE_LOAD;
        m->space = SPACE_GLOBAL;
        m->count = (uint8_t)(owords[desc >> 8 & 7] * 4);
    } else {
        fail(r, "a message of the data port that is not known here: descriptor 0x%08X", desc);
    }
    if (m->from == NO_REGISTER)
        fail(r, "a message without a payload");
    message_check_room(r, o, m);
}

static void read_gateway(struct reader *r, struct op *o, uint32_t desc, int ends)
{
    if (ends)
        o->run = message_end;
    else if ((desc & 7) == 4)
        o->run = barrier_signal;
    else
        fail(r, "a message of the gateway that is not known here: descriptor 0x%08X", desc);
}

/* `send.UNIT to payload data extended-descriptor descriptor` */
static void read_send(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    struct word behind;
    int64_t desc;
    (void)f;
    if (s->n_words < 4 || s->n_words > 5 || !word_number(s->words[s->n_words - 1], &desc) || desc < 0 ||
        desc > UINT32_MAX)
        fail(r, "%s is not written as a message", s->name);
    const struct word none = { "null:0", 6 };
    if (s->n_words == 4) { /* a payload that s0 lists is all of it */
        s->words[4] = s->words[3];
        s->words[3] = s->words[2];
        s->words[2] = none;
        s->n_words = 5;
    }
    o->run = message_access;
    if (!strcmp(s->name, "send.gtwy"))
        read_gateway(r, o, (uint32_t)desc, word_find(s->notes, "EOT", &behind));
    else if (!strcmp(s->name, "send.slm") || !strcmp(s->name, "send.ugm"))
        read_lsc(r, s, o, s->name[5] == 's' ? SPACE_SHARED : SPACE_GLOBAL, (uint32_t)desc);
    else if (!strcmp(s->name, "send.dc0"))
        read_data_port(r, s, o, (uint32_t)desc);
    else
        fail(r, "%s is not executed here", s->name);
}

static const struct form forms[] = {
    { "send", 0, NULL, NULL, message_access, read_send, 0, 0 },
};

struct forms gen_send_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
