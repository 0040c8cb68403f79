/* nv-probes.c - clattn-nv-probes: what an NVIDIA device and its OpenCL compiler can do, asked by running it
 * SPDX-License-Identifier: Apache-2.0
 *
 * One line for each finding, "LETTER: text". Whoever asks for what a driver may refuse may be killed for it, and an
 * illegal address takes the context along: every question is asked by a process of its own, forked off before OpenCL
 * is touched. */
#include "config.h"

#include "bench/nvidia/nv-questions.h"
#include "tools/system/args.h"
#include "tools/system/fault.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 40 };

static int is_nvidia(const struct at *a)
{
    char vendor[256];
    at_info(a, CL_DEVICE_VENDOR, vendor, sizeof vendor);
    return strstr(vendor, "NVIDIA") != NULL;
}

/* In a process of its own; returns its exit status. */
static int answer(const struct question *q, const char *device)
{
    static struct at a;
    cl_int status;
    a.letter = q->letter;
    alarm(SECONDS);
    if ((status = opencl_open(device, &a.where))) {
        struct fault f = { 0, "" };
        if (status == CL_DEVICE_NOT_FOUND)
            opencl_missing(device, &f);
        else
            fault_set(&f, EXIT_NO_DEVICE, "the device cannot be opened (%d)", status);
        fault_print(&f, "clattn-nv-probes");
        return EXIT_NO_DEVICE;
    }
    a.nvidia = is_nvidia(&a);
    a.queue = clCreateCommandQueue(a.where.context, a.where.device, CL_QUEUE_PROFILING_ENABLE, &status);
    if (status)
        at_say(&a, "there is no queue (%d)", status);
    else if (q->ptx && !a.nvidia)
        at_say(&a, "not an NVIDIA device: skipped");
    else
        q->ask(&a, q->which);
    return EXIT_OK;
}

/* Asks, and tells how a process ended that did not end by itself. Returns its exit status, 0 for
 * those; without an answer to the first, who the device is, there is none. */
static int ask(const struct question *q, const char *device)
{
    int status = 0;
    fflush(stdout);
    const pid_t pid = fork();
    if (!pid) {
        status = answer(q, device);
        fflush(stdout);
        _exit(status);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        printf("%c: cannot be asked\n", q->letter);
        return 0;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        printf("%c: did not end in %d s, and was stopped\n", q->letter, SECONDS);
    else if (WIFSIGNALED(status))
        printf("%c: died of signal %d\n", q->letter, WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : q->letter == 'a' ? EXIT_NO_DEVICE : 0;
}

/* Those of `only`'s letters; NULL: all. */
static int ask_all(const char *device, const char *only)
{
    for (const struct question *q = questions; q->ask; q++) {
        const int status = only && !strchr(only, q->letter) ? EXIT_OK : ask(q, device);
        if (status)
            return status;
    }
    return EXIT_OK;
}

struct options {
    const char *device, *only, *texts;
    int help;
};
#define INTO struct options
static const struct args_row table[] = {
    ROW_TEXT("--device", device, "TEXT", "part of \"platform / device\", or P:D (default: the first GPU, else CPU)"),
    ROW_TEXT("--only", only, "LETTERS", "ask these alone, of a to k: those that lines begin with"),
    ROW_TEXT("--texts", texts, "DIR", "write the kernels there, and ask nothing"),
    ROW_LAST("--help", help, "print this"),
    { .name = NULL },
};

int main(int argc, char **argv)
{
    struct options o = { NULL, NULL, NULL, 0 };
    struct fault f = { 0, "" };
    const int others = args_read(argc, argv, table, &o, &f);
    if (others > 0)
        fault_set(&f, EXIT_USAGE, "%s: there are only options", argv[1]);
    if (f.status) {
        fprintf(stderr, "clattn-nv-probes: %s\n", f.text);
        return f.status;
    }
    if (o.help) {
        puts("usage: clattn-nv-probes [options]");
        args_help(stdout, table);
        return EXIT_OK;
    }
    return o.texts ? texts_write(o.texts) : ask_all(o.device, o.only);
}
