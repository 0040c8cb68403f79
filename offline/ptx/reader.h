/* reader.h - text to kernels: the state that its files share
 * SPDX-License-Identifier: Apache-2.0
 *
 * text.c takes the text apart, read.c reads modules, kernels, functions and declarations, statement.c instructions.
 * A failure anywhere is fail(), which does not return: everything lies in the module's arena. */
#ifndef PTX_READER_H
#define PTX_READER_H

#include <setjmp.h>

#include "inside.h"
#include "offline/frame/word.h"

#if defined(__GNUC__)
#define PTX_NORETURN __attribute__((noreturn))
#else
#define PTX_NORETURN
#endif

enum {
    MAX_OPS = 1 << 20,
    MAX_SLOTS = 1 << 17,
    MAX_SYMBOLS = 1 << 16,
    MAX_CALLS = 32,
    MAX_ALL_CALLS = 4096,
    NAME = 128,
    MAX_PARTS = 16
};

enum symbol_kind { SYMBOL_REGISTER, SYMBOL_RANGE, SYMBOL_VARIABLE };
struct symbol {
    struct word name;
    enum symbol_kind kind;
    enum ptx_type type;
    uint32_t slot;            /* of a register */
    uint32_t count, *slots;   /* of a range %r<count>: slot + 1 of each, 0: not used so far */
    enum space space;         /* of a variable */
    uint64_t address;
    size_t size;
};

struct label {
    struct word name;
    uint32_t op;
};
struct fixup {
    struct word name; /* NULL: the end of the body */
    uint32_t op, line;
};
/* One body that is being read: of a kernel, or of a function at a call of it. */
struct body {
    struct label *labels;
    struct fixup *fixups;
    size_t n_labels, n_fixups, first_symbol;
};

/* Where reading goes on. */
struct place {
    const char *p;
    uint32_t line;
};
struct function {
    struct word name;
    struct place results, params, body; /* p NULL: there is none */
};

struct reader {
    struct place at;
    const char *end;
    struct ptx_module *module;
    const struct lane_code *code;
    const struct form **forms; /* sorted by name */
    char *why;
    size_t why_size;
    jmp_buf bail;

    struct symbol *symbols;
    size_t n_symbols, n_module_symbols; /* those of the module come first */
    struct function *functions;
    size_t n_functions;
    struct variable *module_shared;
    size_t n_module_shared;

    /* the kernel that is being read */
    struct ptx_kernel *kernel;
    struct body *body;
    uint32_t *constant_hash; /* index + 1 */
    size_t hash_size;
    uint32_t carry; /* slot + 1 of the condition code */
    uint32_t sink;  /* slot + 1 of what `_` takes */
    uint32_t file, file_line;
    int calls, n_calls; /* how deep, how many of the whole module */

    /* the statement */
    uint32_t line;
    const char *statement;
    int guarded, guard_not;
    uint32_t guard;
};

/* text.c */
void fail(struct reader *r, const char *format, ...) FRAME_PRINTF(2, 3) PTX_NORETURN;
void *reader_alloc(struct reader *r, size_t n, size_t size);
/* An array with room for one more: it grows when n is a power of two. */
void *reader_grow(struct reader *r, void *array, size_t n, size_t size, size_t most, const char *what);
void skip_space(struct reader *r);
int next_is(struct reader *r, char c);      /* looks */
int take(struct reader *r, char c);         /* takes it if it is next */
void expect(struct reader *r, char c);
void skip_line(struct reader *r);
void skip_braces(struct reader *r);         /* from { to its } */
struct word take_word(struct reader *r);    /* length 0: there is none */
struct word take_string(struct reader *r);
char *word_copy(struct reader *r, struct word w);
int at_number(struct reader *r);
uint64_t take_count(struct reader *r, uint64_t most); /* a whole number from 0 to most */
/* A literal as bits of `type`: hexadecimal reals are converted to it if it is real, taken as bits if it is not. */
uint64_t take_literal(struct reader *r, enum ptx_type type);
enum ptx_type type_named(struct word w); /* without the dot; T_NONE: no type */
char type_class(enum ptx_type type);     /* p, h, w or l; 0: none */

/* read.c */
struct declaration {
    struct word name;
    enum ptx_type type;
    size_t size, align, points_at;
    enum param_kind kind;
    int is_const, is_array;
};
void read_declaration(struct reader *r, struct declaration *d);
void add_variable(struct reader *r, enum space space, const struct declaration *d);
struct symbol *add_symbol(struct reader *r, struct word name, enum symbol_kind kind);
const struct symbol *find_symbol(struct reader *r, struct word name);
uint32_t add_slots(struct reader *r, int n);
void read_body(struct reader *r, struct body *body);

/* statement.c */
void read_instruction(struct reader *r, struct word name);
int is_register(struct reader *r, struct word name, uint32_t *slot, enum ptx_type *type);
uint32_t constant_slot(struct reader *r, uint64_t value, int width);
struct op *emit(struct reader *r, const struct op *o);

/* call.c: the function's body in place of the call */
void read_call(struct reader *r);

#endif
