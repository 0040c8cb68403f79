/* reader.h - binary and listings to kernels: the state that the files of reading share
 * SPDX-License-Identifier: Apache-2.0
 *
 * object.c takes the ELF file apart, metadata.c its .ze_info, text.c words, read.c a listing, statement.c, operand.c,
 * message.c and send.c its instructions; module.c begins and ends. A failure anywhere is fail(), which does not return:
 * everything that is kept lies in the module's arena. */
#ifndef GEN_READER_H
#define GEN_READER_H

#include <setjmp.h>

#include "inside.h"
#include "offline/frame/word.h"

#if defined(__GNUC__)
#define GEN_NORETURN __attribute__((noreturn))
#else
#define GEN_NORETURN
#endif

enum { MAX_OPS = 1 << 20, MAX_KERNELS = 1 << 10, MAX_PARAMS = 1 << 10, MAX_WORDS = 12, OP_NAME = 128 };

struct label {
    struct word name;
    uint32_t op;
};
struct branch {
    struct word jip, uip;
    uint32_t op, line;
};

struct reader {
    struct gen_module *module;
    struct gen_kernel *kernel; /* that is being read; NULL: none */
    char *why;
    size_t why_size;
    jmp_buf bail;

    const unsigned char *object; /* NULL: text alone */
    size_t object_size;

    const struct form **forms; /* sorted by name */
    size_t n_forms;
    size_t n_ops;
    struct label *labels;
    size_t n_labels;
    struct branch *branches;
    size_t n_branches;
    int has_platform; /* named by the listing */
    uint32_t line; /* of the listing; 0: none is to blame */
};

/* An instruction's text: `(predicate) name (width|Mfirst) words {notes} // comment`. */
struct statement {
    char name[OP_NAME];
    struct word predicate, notes, comment;
    struct word words[MAX_WORDS];
    size_t n_words;
};

/* text.c */
void fail(struct reader *r, const char *format, ...) FRAME_PRINTF(2, 3) GEN_NORETURN;
void *reader_alloc(struct reader *r, size_t n, size_t size);
/* An array with room for one more: it grows when n is a power of two. */
void *reader_grow(struct reader *r, void *array, size_t n, size_t size, size_t most, const char *what);
char *word_copy(struct reader *r, struct word w);
struct word word_line(struct word *rest);               /* the next line, without its end */
struct word word_next(struct word *rest);               /* the next word between blanks; empty: none */
struct word word_until(struct word *rest, char end);    /* what stands before `end`, which is dropped, or all */
int word_find(struct word w, const char *text, struct word *behind); /* what follows it; false: it is not there */
int word_digits(struct word *rest, uint32_t *value);    /* decimal digits at the beginning, dropped */

/* object.c */
struct word object_section(struct reader *r, const char *name); /* empty: there is none */
/* metadata.c: the kernels that .ze_info tells of, into the module */
void metadata_read(struct reader *r);
/* read.c */
void read_tables(struct reader *r);
void read_listing(struct reader *r, struct gen_kernel *k, const char *text, size_t length);
struct word read_kernel_name(const char *text, size_t length); /* of a listing; empty: it has none */
/* statement.c */
void read_statement(struct reader *r, struct statement *s, struct op *o);
void read_by_operands(struct reader *r, const struct form *f, struct statement *s, struct op *o);
void add_branch(struct reader *r, const struct op *o, struct word jip, struct word uip);
/* message.c: by a descriptor of the load and store unit; then registers have to be there */
void message_decode(struct reader *r, uint32_t desc, struct message *m);
void message_check_room(struct reader *r, const struct op *o, const struct message *m);
/* operand.c */
void read_source(struct reader *r, struct word text, const struct op *o, struct operand *to);
void read_destination(struct reader *r, struct word text, const struct op *o, struct operand *to);
uint16_t read_register(struct reader *r, struct word text, uint32_t *count); /* r12 or r12:4; NO_REGISTER: null */
uint8_t type_named(struct word w); /* N_TYPES: none */
uint8_t type_size(uint8_t type);

#endif
