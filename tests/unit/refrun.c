/* refrun.c - the float64 reference on .npy files, for refpeer.py to hold against a reference of other hands
 * SPDX-License-Identifier: Apache-2.0
 *
 * refrun DIR: reads q, k, v (<f8) and numbers.npy (<f8: scale, causal, align, offset, softcap, window, left, right,
 * dropout's p, seed and offset) there, and what there is of bias, slopes [b,h], sinks (<f8), mask (|u1), q_len, kv_len,
 * kv_start and offsets (<i4); bias and mask with 4 axes. Arguments behind DIR name score_mods without buffers. Writes
 * o.npy and lse.npy. */
#include "config.h"

#include "tests/lib/mods.h"

#include "tools/npy/npy.h"
#include "tools/npy/output.h"
#include "tools/oracle/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum file { Q, K, V, NUMBERS, REQUIRED, BIAS = REQUIRED, SLOPES, SINKS, MASK, Q_LEN, KV_LEN, KV_START, OFFSETS, FILES };
static const char *const names[FILES] = {
    "q.npy",     "k.npy",    "v.npy",     "numbers.npy", "bias.npy",     "slopes.npy",
    "sinks.npy", "mask.npy", "q_len.npy", "kv_len.npy",  "kv_start.npy", "offsets.npy",
};

static int read_all(struct npy *a, struct fault *f)
{
    for (int i = 0; i < FILES; i++) {
        const int type = i < MASK ? NPY_F8 : i == MASK ? NPY_U1 : NPY_I4, four = i < NUMBERS || i == BIAS || i == MASK;
        if (i >= REQUIRED && access(names[i], F_OK) != 0)
            continue;
        if (npy_read("DIR", names[i], &a[i], f) != 0)
            return -1;
        if (a[i].type != type || (four && a[i].ndim != 4) || (i == NUMBERS && a[i].count != 11))
            return fault_set(f, EXIT_USAGE, "%s: another type or number of axes than expected", names[i]);
    }
    return 0;
}

static struct reference problem(const struct npy *a, struct extras *x)
{
    const double *n = a[NUMBERS].data;
    struct reference r;
    memset(&r, 0, sizeof r);
    r.b = a[Q].shape[0];
    r.h = a[Q].shape[1];
    r.nq = a[Q].shape[2];
    r.d = a[Q].shape[3];
    r.hk = a[K].shape[1];
    r.nk = a[K].shape[2];
    r.dv = a[V].shape[3];
    r.scale = n[0];
    r.p.causal = (int)n[1];
    r.p.align = (int)n[2];
    r.p.sizes.offset = (int64_t)n[3];
    r.p.softcap = n[4];
    r.p.flags = n[5] != 0 ? CLATTN_WINDOW : 0;
    r.p.window_left = (int32_t)n[6];
    r.p.window_right = (int32_t)n[7];
    r.p.dropout_p = n[8];
    r.dropout_seed = (uint64_t)n[9];
    r.dropout_offset = (uint64_t)n[10];
    r.bias = a[BIAS].data;
    r.mask = a[MASK].data;
    memcpy(r.bias_shape, a[BIAS].shape, sizeof r.bias_shape);
    memcpy(r.mask_shape, a[MASK].shape, sizeof r.mask_shape);
    r.slopes = a[SLOPES].data;
    r.slopes_b = a[SLOPES].shape[0];
    r.sinks = a[SINKS].data;
    r.q_len = a[Q_LEN].data;
    r.kv_len = a[KV_LEN].data;
    r.kv_start = a[KV_START].data;
    r.offsets = a[OFFSETS].data;
    r.mod = x->n_mods ? mods_reference : NULL;
    r.user = x;
    return r;
}

static int compute(struct npy *a, struct extras *x, struct fault *f)
{
    const struct reference r = problem(a, x);
    const int64_t shape[4] = { r.b, r.h, r.nq, r.dv };
    const size_t rows = (size_t)(r.b * r.h * r.nq);
    double *o = calloc(rows * (size_t)r.dv + 1, sizeof *o), *lse = calloc(rows + 1, sizeof *lse);
    struct outputs outputs;
    memset(&outputs, 0, sizeof outputs);
    if (!o || !lse || reference_forward(&r, a[Q].data, a[K].data, a[V].data, o, lse, NULL, NULL, NULL) != 0)
        fault_set(f, EXIT_USAGE, "the reference failed");
    else if (outputs_add(&outputs, "O", "o.npy", NPY_F8, 4, shape, o, f) == 0 &&
             outputs_add(&outputs, "LSE", "lse.npy", NPY_F8, 3, shape, lse, f) == 0)
        (void)outputs_commit(&outputs, f);
    outputs_discard(&outputs);
    free(o);
    free(lse);
    return f->status ? -1 : 0;
}

int main(int argc, char **argv)
{
    static struct npy a[FILES];
    static struct extras x;
    static struct fault f;
    if (argc < 2 || argc - 2 > CLATTN_MODS_MAX || chdir(argv[1]) != 0)
        fault_set(&f, EXIT_USAGE, "usage: refrun DIR [NAME.cl...]");
    for (int i = 2; i < argc && !f.status; i++)
        x.mods[x.n_mods++].name = argv[i];
    if (!f.status && read_all(a, &f) == 0)
        (void)compute(a, &x, &f);
    for (int i = 0; i < FILES; i++)
        npy_free(&a[i]);
    if (f.status)
        fault_print(&f, "refrun");
    return f.status;
}
