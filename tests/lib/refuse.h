/* refuse.h - a forward call that must fail without a trace
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REFUSE_H
#define REFUSE_H

#include "tests/lib/harness.h"
#include "tests/lib/tap.h"

#include <stddef.h>
#include <stdint.h>

/* The call fails with `want` (0: with anything), in words, without an event, and O and LSE stay as they were. */
TAP_UNUSED static void refused(struct fixture *f, const clattn_forward_args *a, cl_int want, const char *what)
{
    cl_event event = NULL;
    char detail[512] = "", why[512] = "";
    size_t size = 77;
    cl_int e, w;
    if (trial_reset(&f->t, f->d->queue))
        bail("cannot write a buffer");
    w = clattn_workspace_size(f->plan, a, &size);
    e = clattn_enqueue_forward(f->plan, f->d->queue, a, 0, NULL, &event);
    clattn_error_detail(f->d->handle, detail, sizeof detail, NULL);
    clFinish(f->d->queue);
    if (!ok(e < 0 && (!want || e == want) && !event && *detail, "%s is refused (%s): %s", what, clattn_status_string(e),
            detail))
        diag("want %s, workspace_size says %s", clattn_status_string(want), clattn_status_string(w));
    if (!trial_fetch(&f->t, f->d->queue, why, sizeof why) || !trial_is_blank(&f->t))
        ok(0, "and nothing was written (%s)", why);
}

/* `change` alters a copy `a` of the arguments of fixture f, or of their sizes `s`; then `call` is made. */
#define WITH_CHANGED(change, call)                                                                                     \
    do {                                                                                                               \
        clattn_forward_args a = f->t.args;                                                                             \
        clattn_sizes s = f->t.sizes;                                                                                   \
        a.sizes = &s;                                                                                                  \
        change;                                                                                                        \
        call;                                                                                                          \
    } while (0)
#define REFUSED(want, change) WITH_CHANGED(change, refused(f, &a, want, #change))

enum { ANY = 0, BAD = CLATTN_ERROR_INVALID_ARGUMENT, SMALL = CLATTN_ERROR_BUFFER_TOO_SMALL };

#endif
