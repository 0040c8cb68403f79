/* nv-units.c - what an NVIDIA device computes, and how fast: products by matrix units, peaks, clocks
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/nvidia/nv-units.h"

#include "bench/nvidia/nv-kernels.h"
#include "bench/probes/probe.h"
#include "tools/oracle/convert.h"
#include "tools/system/clock.h"

#include <clattn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- b: products by matrix units ---- */

enum { AT_C = 192, AT_D = 320, D_SIZE = 128 };

static const struct {
    const char *name, *options;
    int k, type;
} mma_types[MMA_TYPES] = { { "mma.sync m16n8k16 f16", "-cl-std=CL1.2 -DT=f16", 16, CLATTN_F16 },
                           { "mma.sync m16n8k16 bf16", "-cl-std=CL1.2 -DT=bf16", 16, CLATTN_BF16 },
                           { "mma.sync m16n8k8 tf32", "-cl-std=CL1.2", 8, CLATTN_F32 } };

struct product {
    double a[256], b[128], c[D_SIZE];
};

/* Exact: every sum is a multiple of 1/64 below 2^10, so that whatever the order the result is exact. Else: any numbers
 * that the type has; those of tf32 have 9 bits. */
static void fill_product(struct product *p, int exact)
{
    uint32_t seed = 1;
    double *const to[] = { p->a, p->b, p->c };
    const int n[] = { 256, 128, D_SIZE };
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < n[m]; i++) {
            seed = seed * 1664525 + 1013904223;
            const int x = (int)(seed >> 16) % (exact ? 32 : 256);
            to[m][i] = exact ? (x - 15) / 8.0 : (x - 127.5) / 128 * (1 + 63 * (x % 5 == 0));
        }
}

/* Rounds a, b and c to what the device gets. */
static void store_product(struct at *a, struct product *p, int type)
{
    const int t = mma_types[type].type, k = mma_types[type].k;
    const size_t n_a = 16 * (size_t)k, n_b = 8 * (size_t)k;
    unsigned char *const to = (unsigned char *)a->words;
    convert_store(t, p->a, to, n_a);
    convert_store(t, p->b, to + n_a * convert_size(t), n_b);
    convert_store(CLATTN_F32, p->c, to + AT_C * 4, D_SIZE);
    convert_load(t, to, p->a, n_a);
    convert_load(t, to + n_a * convert_size(t), p->b, n_b);
    convert_load(CLATTN_F32, to + AT_C * 4, p->c, D_SIZE);
}

/* How many elements of D are not what they should be, and the largest error against the sum of |a b|. */
static int judge_product(const struct at *a, const struct product *p, int k, double *most)
{
    double got[D_SIZE];
    int wrong = 0;
    *most = 0;
    convert_load(CLATTN_F32, a->words + AT_D, got, D_SIZE);
    for (int i = 0; i < D_SIZE; i++) {
        double sum = p->c[i], size = fabs(sum);
        for (int n = 0; n < k; n++) {
            const double x = p->a[i / 8 * k + n] * p->b[n * 8 + i % 8];
            sum += x;
            size += fabs(x);
        }
        const double error = fabs(got[i] - sum) / size;
        wrong += error != 0;
        *most = isnan(error) ? INFINITY : fmax(*most, error);
    }
    return wrong;
}

void ask_mma(struct at *a, int type)
{
    const char *const name = mma_types[type].name;
    struct product p;
    double most;
    if (at_build(a, name, type == TF32 ? text_mma_tf32 : text_mma16, mma_types[type].options) ||
        at_set_words(a, name, AT_D + D_SIZE))
        return;
    for (int exact = 1; exact >= 0; exact--) {
        fill_product(&p, exact);
        store_product(a, &p, type);
        if (at_run(a, name, 32, 32))
            return;
        const int wrong = judge_product(a, &p, mma_types[type].k, &most);
        if (exact)
            at_say(a, "%s: %s, %d of %d elements wrong where the sum is exact", name, wrong ? "WRONG" : "right", wrong,
                   D_SIZE);
        else
            at_say(a, "%s: largest error %.2f x 2^-24 of the sum of |a b|", name, ldexp(most, 24));
    }
}

/* ---- g: peaks ---- */

static const struct {
    int warps, chains;
} peak_forms[] = { { 4, 4 }, { 4, 8 }, { 4, 16 }, { 8, 8 }, { 8, 16 }, { 16, 4 } };

/* 4 groups for each unit: all of them fit. 4 products a chain and step, 16 x 8 x 16 multiply-adds in a product. */
static double peak_of(struct at *a, const char *what, const char *bits, size_t form, struct times *t)
{
    char options[160];
    cl_uint units = 1, times;
    const size_t local = 32 * (size_t)peak_forms[form].warps;
    (void)clGetDeviceInfo(a->where.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    const size_t items = local * 4 * units;
    snprintf(options, sizeof options, "-cl-std=CL1.2 %s -DLOCAL=%zu -DCHAINS=%d", bits, local, peak_forms[form].chains);
    if (at_build(a, what, text_peak, options) || at_set_words(a, what, items + 1))
        return 0;
    const cl_int status = at_time_loop(a, items, local, &times, t);
    if (status) {
        at_say(a, "%s: fails (%d)", what, status);
        return 0;
    }
    return 4 * 4096.0 * times * peak_forms[form].chains * (double)items / 32 / t->event * 1e-9;
}

void ask_mma_peak(struct at *a, int type)
{
    static const char *const bits[] = { "-DT=f16 -DMASK=0x83ff83ffu -DONES=0x38003800u",
                                        "-DT=bf16 -DMASK=0x807f807fu -DONES=0x3f003f00u" };
    double most = 0;
    char what[128];
    struct times t;
    for (size_t i = 0; i < sizeof peak_forms / sizeof *peak_forms; i++) {
        snprintf(what, sizeof what, "%s to f32, %d warps a group, %d chains", mma_types[type].name, peak_forms[i].warps,
                 peak_forms[i].chains);
        const double rate = peak_of(a, what, bits[type], i, &t);
        if (rate > 0)
            at_say(a, "%s: %.1f TF/s (event %.3f ms, host %.3f ms)", what, rate, t.event, t.host);
        most = fmax(most, rate);
    }
    at_say(a, "peak of %s to f32: %.1f TF/s", mma_types[type].name, most);
}

void ask_f32_peak(struct at *a, int unused)
{
    struct probe p = { 0 };
    struct moves moves;
    double rate, most = 0;
    (void)unused;
    if (probe_moves(&a->where, UINT64_MAX, &moves) || probe_open(&p, &a->where, 0)) {
        at_say(a, "f32 multiply-adds: cannot be timed");
        probe_close(&p);
        return;
    }
    for (int i = 0; i < ROUNDS && !probe_run(&p, &rate); i++)
        most = fmax(most, rate);
    at_say(a, "peak of f32 multiply-adds: %.2f TF/s; copies %.0f GB/s", most * 1e-3, moves.copied);
    probe_close(&p);
}

/* ---- k: clocks ---- */

void ask_clocks(struct at *a, int unused)
{
    static const char what[] = "clocks";
    cl_uint times, none = 0;
    struct times t;
    (void)unused;
    if (at_build(a, what, text_spin, "-cl-std=CL1.2") || at_set_words(a, what, 8192 + 2))
        return;
    cl_int status = at_time_loop(a, 8192, 64, &times, &t);
    if (!status) {
        at_say(a, "a kernel of %u steps: event %.4f ms, host %.4f ms, from enqueue to start %.4f ms", times, t.event,
               t.host, t.waited);
        status = clEnqueueWriteBuffer(a->queue, a->io, CL_TRUE, 0, sizeof none, &none, 0, NULL, NULL);
    }
    double host[ROUNDS], event[ROUNDS];
    for (int i = 0; i < ROUNDS && !status; i++) {
        status = at_time_once(a, 64, 64, &t);
        host[i] = t.host;
        event[i] = t.event;
    }
    if (status)
        at_say(a, "%s: fails (%d)", what, status);
    else
        at_say(a, "a kernel that does nothing: event %.4f ms, host %.4f ms", clock_median(event, ROUNDS),
               clock_median(host, ROUNDS));
}
