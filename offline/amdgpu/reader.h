/* reader.h - object and listing to kernels: the state that the files of reading share
 * SPDX-License-Identifier: Apache-2.0
 *
 * object.c takes the ELF file apart, metadata.c its note, text.c the listing, operand.c and statement.c instructions,
 * read.c makes the module of it. A failure anywhere is fail(), which does not return: everything that is kept lies in
 * the module's arena. */
#ifndef AMDGPU_READER_H
#define AMDGPU_READER_H

#include <setjmp.h>

#include "inside.h"
#include "offline/frame/word.h"

#if defined(__GNUC__)
#define AMDGPU_NORETURN __attribute__((noreturn))
#else
#define AMDGPU_NORETURN
#endif

enum { MAX_OPS = 1 << 20, MAX_KERNELS = 1 << 10, MAX_PARAMS = 1 << 10, MAX_IMAGE = 1 << 28, NAME = 128,
       MAX_PIECES = 12 };

struct object_symbol {
    struct word name;
    uint64_t address, size;
    int is_function;
};

struct label {
    struct word name;
    uint64_t address;
    uint32_t op;
};

struct branch {
    struct word to;
    uint32_t op;
};

struct reader {
    struct amdgpu_module *module;
    char *why;
    size_t why_size;
    jmp_buf bail;

    const unsigned char *object; /* NULL: text alone */
    size_t object_size;
    struct object_symbol *symbols;
    size_t n_symbols;
    const unsigned char *note;
    size_t note_size;

    const struct form **forms; /* sorted by name */
    size_t n_forms;
    struct label *labels;
    size_t n_labels;
    struct branch *branches;
    size_t n_branches;
    uint32_t line;             /* of the listing; 0: none is to blame */
    uint32_t wave;             /* lanes */
};

/* An instruction's text: its name, operands between commas and modifiers behind them. */
struct statement {
    char name[NAME];
    struct word operands[MAX_PIECES];
    size_t n_operands;
    struct word modifiers;
    int is_dpp, is_sdwa, is_wide; /* suffixes */
};

/* text.c */
void fail(struct reader *r, const char *format, ...) FRAME_PRINTF(2, 3) AMDGPU_NORETURN;
void *reader_alloc(struct reader *r, size_t n, size_t size);
/* An array with room for one more: it grows when n is a power of two. */
void *reader_grow(struct reader *r, void *array, size_t n, size_t size, size_t most, const char *what);
char *word_copy(struct reader *r, struct word w);
/* `key:value` among modifiers; the value ends at a blank outside of brackets. False: it is not there. */
int find_modifier(struct word modifiers, const char *key, struct word *value);
int has_modifier(struct word modifiers, const char *key); /* without a value */

/* object.c */
void object_read(struct reader *r);
const struct object_symbol *object_find(const struct reader *r, struct word name);
const char *object_processor(uint32_t flags); /* NULL: not known */
/* metadata.c: the kernels that the note tells of, into the module */
void metadata_read(struct reader *r);
/* operand.c */
void read_operand(struct reader *r, struct word text, char type, struct operand *o);
void read_kind(struct reader *r, struct word text, char type, enum operand_kind kind, struct operand *o); /* no other */
void read_modifiers(struct reader *r, const struct form *f, const struct statement *s, struct op *o);
uint16_t read_scalar_name(struct word text, uint8_t *words); /* N_SCALARS: none */
/* statement.c */
void read_statement(struct reader *r, struct word text, struct op *o);
void read_operands(struct reader *r, const struct form *f, struct statement *s, struct op *o);
const struct form *find_form(struct reader *r, const char *name);
/* read.c */
void read_whole(struct reader *r, const char *listing, size_t length); /* object and listing */
void read_text(struct reader *r, const struct amdgpu_facts *facts, const char *listing, size_t length);
void add_branch(struct reader *r, const struct op *o, struct word to);
/* names.c: what an older or newer generation calls otherwise; of accesses what stands behind load_, store_, .. */
const char *amdgpu_name_of(const char *name);
const char *amdgpu_width_of(const char *name);

#endif
