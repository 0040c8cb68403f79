/* classes.h - the classes that clattn-tune is to go through
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLASSES_H
#define CLASSES_H

#include "tools/tune/tune_options.h"

#include <clattn.h>

enum { CLASS_TEXT = 512 };

/* One of them. */
struct tuned {
    char *problem;             /* a string of that class: as given, or the class itself */
    char class_text[CLASS_TEXT];
    char *why;                 /* who asked for it, or what it stands for */
    char *words;               /* why it cannot be tuned on this device, else NULL */
};

struct classes {
    struct tuned *list;
    size_t n;
};

/* Collects the classes of the problems in `o`, of --file and of --recorded; without any of these, all usual ones. Each
 * class comes once, in the order given. Returns 0, or -1 with `f` set; classes_free() must be called in both cases. */
int classes_gather(struct classes *all, clattn_handle handle, const struct tune_options *o, struct fault *f);
void classes_free(struct classes *all);

#endif
