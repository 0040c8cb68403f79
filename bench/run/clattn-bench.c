/* clattn-bench.c - time and throughput of problems, beside peers in the same run
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every round runs the plan, each peer and a probe of the device once, forwards and backwards in turn, so that a
 * machine whose speed drifts slows all of them alike (rounds.c). Times are medians over the rounds, and ratios are
 * those of the times that are shown (figures.c). Before the first round the O of each peer is compared with clattn's; a
 * difference is an error (comparison.c). */
#include "config.h"

#include "bench/plots/plot.h"
#include "bench/run/bench.h"
#include "bench/run/results.h"
#include "bench/run/rounds.h"
#include "tools/system/devices.h"
#include "tools/system/files.h"
#include "tools/system/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Prints what went wrong and returns the worse of two exit statuses. */
static int worse(int status, const struct fault *f)
{
    if (f->status)
        fault_print(f, "clattn-bench");
    return f->status > status ? f->status : status;
}

static int bench_problem(struct bench *b, const char *problem, struct fault *f)
{
    struct comparison r;
    int result = comparison_open(b, &r, problem, f);
    if (!result && b->o.on_stdin)
        result = rounds_on_stdin(b, &r, f);
    else if (!result && !(result = rounds_run(b, &r, f)))
        result = results_tell(b, &r, f);
    comparison_close(b, &r);
    return result;
}

/* A bad problem does not stop the next, and a signal does. */
static int bench_next(struct bench *b, const char *problem, int result)
{
    struct fault one = { 0, "" };
    if (system_interrupted())
        return result;
    b->progress.i++;
    (void)bench_problem(b, problem, &one);
    progress_clear(&b->progress);
    return worse(result, &one);
}

static int bench_open(struct bench *b, struct fault *f)
{
    cl_int status = opencl_open(b->o.device, &b->where);
    if (status == CL_DEVICE_NOT_FOUND)
        return opencl_missing(b->o.device, f);
    if (status)
        return fault_set(f, EXIT_NO_DEVICE, "the device cannot be used: %s", clattn_status_string(status));
    (void)clGetDeviceInfo(b->where.device, CL_DRIVER_VERSION, sizeof b->driver, b->driver, NULL);
    b->driver[sizeof b->driver - 1] = '\0';
    status = bench_limits(b);
    if (!status)
        status = clattn_create(&b->handle, b->where.context, b->where.device, NULL);
    if (status)
        return fault_set(f, EXIT_UNSUPPORTED, "%s: %s", b->where.device_name, clattn_status_string(status));
    if (b->o.json_file && files_is_stdout(b->o.json_file))
        return fault_set(f, EXIT_USAGE, "--json-file %s: it is standard output, where --json prints", b->o.json_file);
    if (b->o.json_file && !(b->json = fopen(b->o.json_file, "w")))
        return fault_set(f, EXIT_USAGE, "--json-file %s: %s", b->o.json_file, strerror(errno));
    return b->o.plot ? plot_check(b->o.plot, f) : 0;
}

static int bench_close(struct bench *b, int result)
{
    struct fault f = { 0, "" };
    if (b->json && fclose(b->json) != 0)
        fault_set(&f, EXIT_USAGE, "--json-file %s: it cannot be written", b->o.json_file);
    free(b->all);
    for (int i = 0; i < 2; i++)
        probe_close(&b->probes[i]);
    (void)clattn_release(b->handle);
    opencl_close(&b->where);
    return worse(result, &f);
}

/* Runs every problem, also after failures. Returns an exit status. */
static int bench_all(struct bench *b, int n, char **problems)
{
    struct fault f = { 0, "" }, cut = { 0, "" };
    int result = EXIT_OK, all = n;
    while (b->o.suite && b->o.suite->problems[all - n])
        all++;
    if (!b->o.on_stdin)
        system_catch_interrupts();
    if (bench_open(b, &f))
        return bench_close(b, worse(result, &f));
    progress_begin(&b->progress, all, b->o.quiet || b->o.on_stdin);
    for (int i = 0; i < all - n; i++)
        result = bench_next(b, b->o.suite->problems[i], result);
    for (int i = 0; i < n; i++)
        result = bench_next(b, problems[i], result);
    if (system_interrupted())
        fault_set(&cut, EXIT_PARTIAL, "interrupted: %d of %d problems were measured, the last one maybe in part",
                  b->measured, all);
    result = worse(result, &cut);
    if (b->o.plot && plot_write(b->o.plot, b->all, b->n_all, cut.status != 0, &f))
        result = worse(result, &f);
    return bench_close(b, result);
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct fault f = { 0, "" }, unwritten = { 0, "" };
    int result = EXIT_OK;
    const int n = bench_options_read(&b.o, argc, argv, &f);
    if (n < 0)
        result = worse(result, &f);
    else if (b.o.help)
        bench_options_help();
    else if (b.o.version)
        printf("clattn-bench %s\n", clattn_version());
    else if (b.o.list_devices)
        result = devices_list(stdout, &f) == 0 ? EXIT_OK : worse(result, &f);
    else
        result = bench_all(&b, n, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout))
        fault_set(&unwritten, EXIT_USAGE, "standard output cannot be written");
    return worse(result, &unwritten);
}
