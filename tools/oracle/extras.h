/* extras.h - what scores of one call are changed with, besides Q and K
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values as stored, in contiguous arrays; NULL where the problem has no such thing. Made from files, or by seed; taken
 * by the reference, and by whoever fills device buffers. */
#ifndef EXTRAS_H
#define EXTRAS_H

#include <clattn.h>

/* A captured buffer, in its own type. */
struct aux {
    char name[64];
    int32_t type;   /* CLATTN_F32 .. CLATTN_U8 */
    size_t count;   /* elements */
    int ndim;       /* of its file, where it comes from one */
    int64_t shape[8];
    void *data;
};

struct extras {
    int64_t bias_shape[4], mask_shape[4], block_shape[4]; /* of b, h, q, k; the last counts blocks */
    int bias_axes, slopes_axes;   /* of their files, where they come from files */
    double *bias;                 /* [bias_shape], rounded to the problem's bias_type */
    unsigned char *mask;          /* [mask_shape] */
    unsigned char *block_map;     /* [block_shape]; NULL with a mask: then the device makes it from the mask */
    int32_t block_q, block_k;
    int64_t slopes_b;             /* 1 or b */
    double *slopes;               /* [slopes_b, h] */
    double *sinks;                /* [h] */
    uint64_t dropout_seed, dropout_offset;
    int32_t *cu_q, *cu_k;         /* [b + 1] */
    size_t n_mods, n_aux;
    const char *mod_grads[CLATTN_MODS_MAX]; /* their derivatives, or NULL */
    clattn_score_mod mods[CLATTN_MODS_MAX]; /* texts and names live as long as the program, or in `owned` */
    struct aux aux[CLATTN_AUX_MAX];
    clattn_aux aux_names[CLATTN_AUX_MAX];   /* of aux[], for clattn_problem.aux */
    void *owned[2 * CLATTN_MODS_MAX];       /* freed by extras_free() */
};

/* Seeded extras for everything that the problem of `c` asks for and its words describe; score_mods by their names. Sets
 * mods, n_mods, mod_grads, aux and n_aux of c->problem to point into `x`. The same numbers on every platform; every
 * value matters: bias has standard deviation 2 and a few cells of -inf; mask keeps 3 of 4 cells, and none in some rows;
 * with blocks, 7 of 8 blocks are empty, the rest whole or thinned like a mask (whole only where there is no mask).
 * Returns 0, or -1 with *why (static text) set; extras_free() is due in both cases. */
int extras_fill(clattn_workload *c, struct extras *x, const char **why);

/* Only the score_mods and their buffers, of `c` and into an `x` without any. */
int extras_mods(clattn_workload *c, struct extras *x, const char **why);

/* Has a problem point to them. */
void extras_set_mods(clattn_problem *p, const struct extras *x);

/* A captured buffer of n elements of `type`, not filled; one that `x` has under that name, and of that type, is made at
 * least as long. Returns it, or NULL with *why set. */
struct aux *extras_aux(struct extras *x, const char *name, int32_t type, size_t n, const char **why);

void extras_free(struct extras *x);

#endif
