/* finding.h - what is wrong with a kernel that was executed
 * SPDX-License-Identifier: Apache-2.0
 *
 * The same for every machine whose code is executed here; "warp" is what executes lanes together, by whichever name. */
#ifndef FRAME_FINDING_H
#define FRAME_FINDING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum finding_kind {
    FOUND_OUTSIDE,        /* an access outside every buffer, shared array, local array or parameter */
    FOUND_MISALIGNED,     /* its address is not a multiple of its size */
    FOUND_READ_ONLY,      /* a write to a constant table of the module */
    FOUND_READ_REGISTER,  /* of a register that was never written */
    FOUND_READ_UNWRITTEN, /* of memory: shared, local, or global where the caller keeps what was written */
    FOUND_RACE_GROUP,     /* two warps of a group at the same shared bytes, no barrier between them, one writing */
    FOUND_RACE_WARP,      /* the same of two lanes of a warp, without a barrier of these */
    FOUND_RACE_GRID,      /* two groups at the same global bytes in one launch, one writing, not both atomically */
    FOUND_DIVERGED,       /* an instruction of several threads that part of them can never reach; the launch ends */
    FOUND_NO_PROGRESS,    /* the limit of instructions was reached; the launch ends */
    FOUND_NOT_WAITED,     /* a register whose load is still on its way; a barrier before the warp's stores are done */
    FOUND_LANES_OFF,      /* lanes that are switched off where all must take part */
    FOUND_HALVES_DIFFER,  /* an operand that has to lie in both halves of a warp's lanes alike */
    FOUND_SURFACE,        /* a surface, or a block of it, that the hardware does not take */
    FOUND_KINDS
};
const char *finding_kind_name(enum finding_kind kind); /* "access outside", .. */

enum space { SPACE_NONE, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM, SPACE_CONST };
const char *space_name(enum space space); /* "global", .. */

/* A line of a disassembly up to its comment, blanks made one. */
void finding_copy_line(const char *text, char *to, size_t size);

/* One finding. Its pointers are valid during the call of report() only. */
struct finding {
    enum finding_kind kind;
    const char *kernel;
    int line;           /* of the kernel's text */
    const char *text;   /* the instruction at that line */
    const char *file;   /* of its source, as far as the text says so; else NULL */
    int file_line;      /* the same; else 0 */
    uint32_t group[3];  /* OpenCL's get_group_id() */
    uint32_t thread[3]; /* in its group: the first lane concerned */
    uint64_t lanes;     /* of its warp: all that are concerned */
    enum space space;
    int is_write, is_atomic;
    uint64_t address;   /* as the kernel saw it */
    int buffer;         /* of SPACE_GLOBAL: the index of the buffer it lies in or, outside, the nearest; else -1 */
    const char *variable; /* of other spaces: the array's or parameter's name, NULL if the address belongs to none */
    int64_t offset;     /* from the beginning of the buffer or variable, negative before it */
    size_t size;        /* bytes accessed; of the buffer or variable: */
    size_t extent;
    int has_other;      /* of races: the other access, as far as it is known */
    uint32_t other;     /* of _RACE_GROUP and _RACE_WARP a thread, linear in its group; of _RACE_GRID a linear group */
};

/* Writes one line of text about the finding, without a newline; returns what snprintf() does. */
int finding_print(const struct finding *finding, char *to, size_t size);

#ifdef __cplusplus
}
#endif

#endif
