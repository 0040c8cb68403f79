/* options.h - the command line of clattn-run
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <clattn.h>

#include "tools/system/args.h"

enum { ROUNDS_MAX = 1000000 };

struct options {
    /* As given; NULL when not. */
    const char *out, *lse, *type_text, *o_type_text, *layout_text, *align_text, *q_len, *kv_len, *kv_start, *device;
    const char *engine, *tile, *tune_text, *emit_source, *kernel, *time_text;
    const char *bias, *mask, *block_map, *alibi, *bias_slopes, *sinks, *cu_q, *cu_k;
    const char *dout, *dlse, *dq, *dk, *dv, *dbias, *dslopes, *dsinks;
    const char *block_table, *k_scale, *k_zero, *v_scale, *v_zero, *k_type_text, *v_type_text;
    struct list mods, aux, mod_grads, daux; /* FILE.cl and NAME=A.npy, of gradients too */
    struct list scores;                     /* STAGE=S.npy */
    const char *q, *k, *v;
    int merge;                  /* files are O_PARTS and LSE_PARTS instead */
    const char *o_parts, *lse_parts;
    int repeat;                 /* entries and heads of bias and mask may be fewer */
    int verify, json, help, version, list_devices;
    /* What some of it means. */
    int type;                   /* CLATTN_F32..; 0: the input's */
    int o_type;                 /* likewise; 0: not given */
    int k_type, v_type;         /* CLATTN_INT8..; 0: not quantised, or of a file that is */
    int bthd;
    int32_t block_q, block_k;   /* of --block-size; 0: not given */
    clattn_problem problem;     /* what needs no file: scale, softcap, masks, splits, and the flags of these */
    uint64_t dropout_seed;
    long long dropout_offset;
    const char *dropout_text;   /* which of the two is given; NULL: neither */
    int has_diagonal;           /* something in it asks where the diagonal lies */
    int align;                  /* CLATTN_ALIGN_* */
    long long offset;           /* for CLATTN_ALIGN_OFFSET */
    const char *offsets;        /* file, for CLATTN_ALIGN_OFFSETS */
    int tune;                   /* CLATTN_TUNE_*; 0: not given */
    int rounds;                 /* of --time; 0: none */
    char config[512];           /* "ENGINE TILE", "ENGINE" or "" */
};

/* Reads the arguments behind argv[0]. Returns 0, or -1 with `f` set. */
int options_parse(int argc, char **argv, struct options *o, struct fault *f);

/* Whether options go together: part of options_parse(). */
int options_check(const struct options *o, struct fault *f);

/* Whether its outputs can be written, as files of their own: neither inputs nor one another, by whatever name. Returns
 * 0, or -1 with `f` set. */
int options_files(const struct options *o, struct fault *f);

/* The text of --help. */
void options_help(FILE *to);

#endif
