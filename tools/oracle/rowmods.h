/* rowmods.h - score_mods on the device, a row of scores at a time: for a reference that cannot know what a text does
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program of its own, with nothing of the library in it: every text runs on scalars, one after the other. */
#ifndef ROWMODS_H
#define ROWMODS_H

#include "tools/oracle/extras.h"
#include "tools/system/opencl.h"
#include "tools/oracle/reference.h"

struct rowmods {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    int wide;                        /* scores are double */
    size_t room;                     /* scores that fit into what follows */
    cl_mem s, keep;
    void *scores;
    cl_mem aux[CLATTN_AUX_MAX];
};

/* Builds the score_mods of `x`. Returns CL_SUCCESS, or what failed with words in `why`; rowmods_close() is due in both
 * cases. */
cl_int rowmods_open(struct rowmods *m, const struct opencl *where, const struct extras *x, int wide, char *why,
                    size_t len);

/* A reference_mod; user: a struct rowmods. */
int rowmods_change(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q, int64_t nk);

void rowmods_close(struct rowmods *m);

#endif
