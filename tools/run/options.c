/* options.c - the command line of clattn-run: one table for parsing, refusing and --help
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/options.h"

#include "tools/oracle/convert.h"

#include <clattn.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 1 << 30, SPLITS_MAX = 1024 }; /* of a mask; of clattn.h */

/* A finite number and nothing else. Returns 0, or -1 when it is none. */
static int read_real(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end == text || *end || isspace((unsigned char)*text) || isnan(*out) || isinf(*out) ? -1 : 0;
}

/* A whole number and nothing else. Returns 0, or -1 when it is none or too large. */
static int read_whole(const char *text, long long *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end == text || *end || isspace((unsigned char)*text) || errno ? -1 : 0;
}

/* Two of them with a comma between. */
static int read_two(const char *text, long long *a, long long *b)
{
    char first[16] = "";
    const char *comma = strchr(text, ',');
    if (!comma || (size_t)(comma - text) >= sizeof first)
        return -1;
    memcpy(first, text, (size_t)(comma - text));
    return read_whole(first, a) != 0 || read_whole(comma + 1, b) != 0 ? -1 : 0;
}

/* ---- What is asked for without a file: rows that fill in the problem ---- */

static int read_scale(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    if (read_real(text, &o->problem.scale) != 0)
        return fault_set(f, EXIT_USAGE, "--scale: %s is not a finite number", text);
    o->problem.flags |= CLATTN_SCALE;
    return 0;
}

static int read_softcap(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    if (read_real(text, &o->problem.softcap) != 0 || o->problem.softcap < 0)
        return fault_set(f, EXIT_USAGE, "--softcap: %s is not a positive number, or 0 for none", text);
    return 0;
}

static int read_dropout(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    if (read_real(text, &o->problem.dropout_p) != 0 || o->problem.dropout_p < 0 || o->problem.dropout_p >= 1)
        return fault_set(f, EXIT_USAGE, "--dropout: %s is not a number from 0 to less than 1", text);
    return 0;
}

static int read_dropout_seed(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    char *end;
    errno = 0;
    o->dropout_text = "--dropout-seed";
    o->dropout_seed = strtoull(text, &end, 10);
    if (end == text || *end || !isdigit((unsigned char)*text) || errno)
        return fault_set(f, EXIT_USAGE, "--dropout-seed: %s is not a whole number from 0 to 2^64 - 1", text);
    return 0;
}

static int read_dropout_offset(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    o->dropout_text = "--dropout-offset";
    if (read_whole(text, &o->dropout_offset) != 0 || o->dropout_offset < 0 || o->dropout_offset > UINT32_MAX)
        return fault_set(f, EXIT_USAGE, "--dropout-offset: %s is not a whole number from 0 to 2^32 - 1", text);
    return 0;
}

static int read_causal(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    (void)text, (void)f;
    o->problem.causal = o->has_diagonal = 1;
    return 0;
}

/* "L,R": whole numbers from -1 on. */
static int read_window(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    long long l, r;
    if (read_two(text, &l, &r) != 0 || l < -1 || r < -1 || l > NUMBER_MAX || r > NUMBER_MAX)
        return fault_set(f, EXIT_USAGE, "--window: %s is not L,R, two whole numbers from 0 to %d, or -1 for no bound",
                         text, NUMBER_MAX);
    o->problem.flags |= CLATTN_WINDOW;
    o->problem.window_left = (int32_t)l;
    o->problem.window_right = (int32_t)r;
    o->has_diagonal = 1;
    return 0;
}

/* "BQ,BK": whole numbers from 1 on. */
static int read_block_size(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    long long q, k;
    if (read_two(text, &q, &k) != 0 || q < 1 || k < 1 || q > NUMBER_MAX || k > NUMBER_MAX)
        return fault_set(f, EXIT_USAGE, "--block-size: %s is not BQ,BK, two whole numbers from 1 to %d", text,
                         NUMBER_MAX);
    o->block_q = (int32_t)q;
    o->block_k = (int32_t)k;
    return 0;
}

static int read_splits(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    long long n;
    if (read_whole(text, &n) != 0 || n < 1 || n > SPLITS_MAX)
        return fault_set(f, EXIT_USAGE, "--splits: %s is not a number of parts, 1 to %d", text, SPLITS_MAX);
    o->problem.splits = (int32_t)n;
    return 0;
}

static int read_batch_invariant(void *into, const char *text, struct fault *f)
{
    struct options *o = into;
    (void)text, (void)f;
    o->problem.flags |= CLATTN_BATCH_INVARIANT;
    return 0;
}

/* ---- All options ---- */

/* With the names of types, as options_help() prints them. */
static char help_of_type[2 * CONVERT_NAMES], help_of_k_type[2 * CONVERT_NAMES];

#define INTO struct options
static const struct args_row table[] = {
    ROW_TEXT("-o", out, "O.npy", "write O"),
    ROW_TEXT("--lse", lse, "LSE.npy", "write the log-sum-exp of every row"),
    ROW_LIST("--scores", scores, "STAGE=S.npy", "scores: products, changed, masked, or weights; may be repeated"),
    ROW_TEXT("--type", type_text, "TYPE", help_of_type),
    ROW_TEXT("--o-type", o_type_text, "TYPE", "storage of O (default: that of --type; with --dout f32 for 16 bits)"),
    ROW_TEXT("--layout", layout_text, "ORDER", "axes of Q, K, V and O: bhtd = [b,h,n,d] (default) or bthd = [b,n,h,d]"),
    ROW_READ("--scale", read_scale, "X", "factor of Q K^T (default 1/sqrt(d))"),
    ROW_READ("--softcap", read_softcap, "C", "scores become C tanh(s / C)"),
    ROW_READ("--dropout", read_dropout, "P", "leave out each weight with this probability"),
    ROW_READ("--dropout-seed", read_dropout_seed, "N", "which ones: up to 2^64 - 1 (default 0)"),
    ROW_READ("--dropout-offset", read_dropout_offset, "N", "and up to 2^32 - 1 (default 0), e.g. of a step"),
    ROW_READ("--causal", read_causal, NULL, "a query sees the keys up to its own position"),
    ROW_READ("--window", read_window, "L,R", "and those from L before it to R behind it only; -1: no bound"),
    ROW_TEXT("--align", align_text, "WHERE",
             "that position: bottom-right (default), top-left, N, or A.npy with [b] offsets"),
    ROW_TEXT("--bias", bias, "F.npy", "added to the scores, [b,h,nq,nk]; axes of 1, and missing ones, are broadcast"),
    ROW_TEXT("--mask", mask, "M.npy", "likewise, of bool or u1: what is not 0 is seen"),
    ROW_FLAG("--repeat", repeat, "axes b and h of bias and mask may be 2 to 9 that divide them, and repeat"),
    ROW_TEXT("--block-map", block_map, "M.npy", "a byte for each block: 0 drops it, 2: the mask keeps all of it"),
    ROW_READ("--block-size", read_block_size, "BQ,BK", "its queries and keys; without --block-map: made from the mask"),
    ROW_TEXT("--alibi", alibi, "S.npy", "slopes of ALiBi, [h] or [b,h]"),
    ROW_TEXT("--bias-slopes", bias_slopes, "S.npy", "slopes by which the bias is multiplied, [h] or [b,h]"),
    ROW_TEXT("--sinks", sinks, "S.npy", "a score per head without a value, [h]"),
    ROW_LIST("--score-mod", mods, "FILE.cl", "OpenCL C that changes the score s; may be repeated"),
    ROW_LIST("--aux", aux, "NAME=A.npy", "a buffer that it reads, f4 or whole numbers; may be repeated"),
    ROW_TEXT("--cu-q", cu_q, "A.npy", "varlen sequences: Q and O are [total,h,d], A where they begin, [b+1]"),
    ROW_TEXT("--cu-k", cu_k, "A.npy", "the same for K and V"),
    ROW_TEXT("--q-len", q_len, "A.npy", "valid rows of Q, [b]"),
    ROW_TEXT("--kv-len", kv_len, "A.npy", "valid rows of K and V, [b]"),
    ROW_TEXT("--kv-start", kv_start, "A.npy", "first valid row of K and V, [b]"),
    ROW_TEXT("--block-table", block_table, "T.npy", "K and V are [pages,page,hk,d]; T: the pages of each, [b,n]"),
    ROW_TEXT("--k-scale", k_scale, "F.npy", "scales of a K of type i1, with its axes; those of 1 are broadcast"),
    ROW_TEXT("--k-zero", k_zero, "F.npy", "and zero points: the value is (x - zero) scale"),
    ROW_TEXT("--v-scale", v_scale, "F.npy", "the same for V"),
    ROW_TEXT("--v-zero", v_zero, "F.npy", "and its zero points"),
    ROW_TEXT("--k-type", k_type_text, "TYPE", help_of_k_type),
    ROW_TEXT("--v-type", v_type_text, "TYPE", "the same for V"),
    ROW_READ("--splits", read_splits, "N", "compute the keys in N parts and merge these"),
    ROW_READ("--batch-invariant", read_batch_invariant, NULL, "split the keys of an entry by their own number alone"),
    ROW_TEXT("--dout", dout, "F.npy", "the gradient of O, of its shape: compute gradients, too"),
    ROW_TEXT("--dlse", dlse, "F.npy", "the gradient of the log-sum-exp"),
    ROW_TEXT("--dq", dq, "DQ.npy", "write the gradient of Q"),
    ROW_TEXT("--dk", dk, "DK.npy", "write the gradient of K"),
    ROW_TEXT("--dv", dv, "DV.npy", "write the gradient of V"),
    ROW_TEXT("--dbias", dbias, "DB.npy", "write the gradient of the bias, of its shape"),
    ROW_TEXT("--dslopes", dslopes, "DS.npy", "write that of the slopes"),
    ROW_TEXT("--dsinks", dsinks, "DS.npy", "write that of the sinks"),
    ROW_LIST("--score-mod-grad", mod_grads, "FILE.cl", "the derivative of a --score-mod, one for each, in their order"),
    ROW_LIST("--daux", daux, "NAME=D.npy", "write the gradient of a buffer of --aux, <f4, of its shape"),
    ROW_FLAG("--merge", merge, "only merge: the files are O_PARTS.npy [S,...,dv] and LSE_PARTS.npy [S,...]"),
    ROW_TEXT("--device", device, "TEXT", "part of \"platform / device\", or P:D (default: the first GPU, else CPU)"),
    ROW_TEXT("--engine", engine, "NAME", "use this engine"),
    ROW_TEXT("--tile", tile, "TILE", "and this tile of it"),
    ROW_TEXT("--tune", tune_text, "MODE", "auto, off, readonly, quick, full or record (see clattn-cache(5))"),
    ROW_TEXT("--emit-source", emit_source, "PROBLEM", "print the program for a problem string; needs no device"),
    ROW_TEXT("--kernel", kernel, "NAME", "that of another of its kernels, e.g. cla_backward_queries"),
    ROW_FLAG("--verify", verify, "compare with float64 on the host; exit 4 when over the bound"),
    ROW_TEXT("--time", time_text, "N", "run N times more and report the median"),
    ROW_FLAG("--json", json, "print one JSON object and nothing else"),
    ROW_LAST("--list-devices", list_devices, "list the devices, and the engine that each has by default"),
    ROW_LAST("--help", help, "print this (-h)"),
    ROW_LAST("--version", version, "print the version (-V)"),
    { .name = NULL },
};

void options_help(FILE *to)
{
    char names[CONVERT_NAMES];
    snprintf(help_of_type, sizeof help_of_type, "storage on the device: %s (default: that of Q; f32 for <f8)",
             convert_names(names, 0, " ", " "));
    snprintf(help_of_k_type, sizeof help_of_k_type, "quantise K: %s; of a K of type |i1 int8 or int4",
             convert_names(names, 1, " ", " "));
    fputs("usage: clattn-run [options] Q.npy K.npy V.npy\n"
          "       clattn-run [options] --merge O_PARTS.npy LSE_PARTS.npy\n"
          "Computes attention O = softmax(scale Q K^T) V on an OpenCL device.\n\n", to);
    args_help(to, table);
    fputs("\nExit status: 0 ok; 1 bad usage or input; 2 no device; 3 not supported; 4 verification failed.\n", to);
}

/* keys_only: of K or V; else of Q or O. */
static int read_type(const char *argument, const char *text, int keys_only, int *type, struct fault *f)
{
    char names[CONVERT_NAMES];
    if (!text || (*type = convert_find(text, keys_only)) != 0)
        return 0;
    return fault_set(f, EXIT_USAGE, "%s: %s is not %s", argument, text,
                     convert_names(names, keys_only, ", ", " or "));
}

static int read_layout(struct options *o, struct fault *f)
{
    if (!o->layout_text || strcmp(o->layout_text, "bhtd") == 0)
        return 0;
    o->bthd = 1;
    if (strcmp(o->layout_text, "bthd") == 0)
        return 0;
    return fault_set(f, EXIT_USAGE, "--layout: %s is not bhtd or bthd", o->layout_text);
}

static int read_align(struct options *o, struct fault *f)
{
    const char *text = o->align_text;
    const size_t n = text ? strlen(text) : 0;
    o->align = CLATTN_ALIGN_BOTTOM_RIGHT;
    if (!text || strcmp(text, "bottom-right") == 0)
        return 0;
    if (strcmp(text, "top-left") == 0) {
        o->align = CLATTN_ALIGN_TOP_LEFT;
        return 0;
    }
    if (n > 4 && strcmp(text + n - 4, ".npy") == 0) {
        o->align = CLATTN_ALIGN_OFFSETS;
        o->offsets = text;
        return 0;
    }
    o->align = CLATTN_ALIGN_OFFSET;
    if (read_whole(text, &o->offset) == 0)
        return 0;
    return fault_set(f, EXIT_USAGE, "--align: %s is not bottom-right, top-left, a whole number or a .npy file", text);
}

static int read_rounds(struct options *o, struct fault *f)
{
    long long n = 0;
    if (!o->time_text)
        return 0;
    if (read_whole(o->time_text, &n) != 0 || n < 1 || n > ROUNDS_MAX)
        return fault_set(f, EXIT_USAGE, "--time: %s is not a number of rounds, 1 to %d", o->time_text, ROUNDS_MAX);
    o->rounds = (int)n;
    return 0;
}

static int read_config(struct options *o, struct fault *f)
{
    if (o->tile && !o->engine)
        return fault_set(f, EXIT_USAGE, "--tile: %s needs --engine as well", o->tile);
    if (!o->engine)
        return 0;
    const int n =
        snprintf(o->config, sizeof o->config, "%s%s%s", o->engine, o->tile ? " " : "", o->tile ? o->tile : "");
    if (n < 0 || (size_t)n >= sizeof o->config)
        return fault_set(f, EXIT_USAGE, "--engine, --tile: longer than any there is");
    if (!*o->engine || strchr(o->engine, ' ') || (o->tile && !*o->tile))
        return fault_set(f, EXIT_USAGE, "--engine, --tile: '%s' names no configuration", o->config);
    return 0;
}

static int read_tune(struct options *o, struct fault *f)
{
    static const char *const modes[] = { "", "auto", "off", "readonly", "quick", "full", "record" }; /* CLATTN_TUNE_* */
    for (int i = 1; o->tune_text && i <= CLATTN_TUNE_RECORD; i++)
        if (strcmp(o->tune_text, modes[i]) == 0)
            o->tune = i;
    if (!o->tune_text || o->tune)
        return 0;
    return fault_set(f, EXIT_USAGE, "--tune: %s is not auto, off, readonly, quick, full or record", o->tune_text);
}

static int read_operands(struct options *o, int n, char **files, struct fault *f)
{
    if (o->kernel && !o->emit_source)
        return fault_set(f, EXIT_USAGE, "--kernel needs --emit-source");
    if (o->emit_source) {
        if (n != 0)
            return fault_set(f, EXIT_USAGE, "%s: --emit-source takes no files", files[0]);
        if (o->out || o->lse || o->verify || o->rounds || o->json || o->merge)
            return fault_set(f, EXIT_USAGE,
                             "--emit-source computes nothing: no -o, --lse, --verify, --time, --json or --merge");
        return 0;
    }
    if (o->merge) {
        if (n != 2)
            return fault_set(f, EXIT_USAGE, "--merge takes two files, O_PARTS.npy and LSE_PARTS.npy, not %d", n);
        o->o_parts = files[0];
        o->lse_parts = files[1];
        return 0;
    }
    if (n < 3)
        return fault_set(f, EXIT_USAGE, "%s is missing (usage: clattn-run [options] Q.npy K.npy V.npy)",
                         n == 0 ? "Q.npy" : n == 1 ? "K.npy" : "V.npy");
    if (n > 3)
        return fault_set(f, EXIT_USAGE, "%s: one file too many (usage: clattn-run [options] Q.npy K.npy V.npy)",
                         files[3]);
    o->q = files[0];
    o->k = files[1];
    o->v = files[2];
    return 0;
}

int options_parse(int argc, char **argv, struct options *o, struct fault *f)
{
    memset(o, 0, sizeof *o);
    const int files = args_read(argc, argv, table, o, f);
    if (files < 0)
        return -1;
    if (o->help || o->version || o->list_devices)
        return 0;
    if (o->alibi)
        o->has_diagonal = 1;
    if (read_type("--type", o->type_text, 0, &o->type, f) != 0 ||
        read_type("--o-type", o->o_type_text, 0, &o->o_type, f) != 0 || read_layout(o, f) != 0 ||
        read_align(o, f) != 0 || read_rounds(o, f) != 0 || read_config(o, f) != 0 || read_tune(o, f) != 0 ||
        read_type("--k-type", o->k_type_text, 1, &o->k_type, f) != 0 ||
        read_type("--v-type", o->v_type_text, 1, &o->v_type, f) != 0 || options_check(o, f) != 0)
        return -1;
    return read_operands(o, files, argv + 1, f) != 0 ? -1 : options_files(o, f);
}
