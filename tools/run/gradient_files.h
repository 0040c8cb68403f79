/* gradient_files.h - what clattn-run reads for gradients, and room for them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADIENT_FILES_H
#define GRADIENT_FILES_H

#include "tools/run/arrays.h"
#include "tools/run/gradients.h"

struct gradient_files {
    struct gradient_arrays at;
    const char *daux_path[CLATTN_AUX_MAX];
};

/* Reads --dout and --dlse of `o`, which must fit the case of `a`, and makes room for what is to be written. Returns 0,
 * or -1 with `f` set; gradient_files_free() is due in both cases. */
int gradient_files_read(const struct options *o, const struct arrays *a, struct gradient_files *g, struct fault *f);
void gradient_files_free(struct gradient_files *g);

#endif
