/* bench_options.c - the command line of clattn-bench
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/run/bench_options.h"

#include "bench/figures/memory.h"
#include "tools/system/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_DEFAULT = 11, ROUNDS_MOST = 100000 };

void bench_options_help(void)
{
    puts("Usage: clattn-bench [options] 'PROBLEM' ...\n"
         "Times fused attention; a problem is e.g. 'f32 b1 h8 q2048 k2048 d64 causal'.\n"
         "  --device TEXT      part of \"platform / device\", or P:D (default: first GPU, accelerator, CPU)\n"
         "  --config TEXT      \"ENGINE\" or \"ENGINE TILE\" instead of the default\n"
         "  --against LIST     peers to compare with, separated by commas:");
    for (int i = 0; peer_kinds[i]; i++)
        printf("      %-12s %s\n", peer_kinds[i]->name, peer_kinds[i]->what);
    puts("  --suite NAME       a set of problems, measured before those that are given:");
    for (const struct suite *s = suites; s->name; s++)
        printf("      %-12s %s\n", s->name, s->what);
    puts("  --plot DIR         write throughput.svg and roofline.svg into DIR, by gnuplot (default suite: prefill)\n"
         "  --rounds N         rounds after a warm-up (default 11)\n"
         "  --rounds-on-stdin  one round for each line of standard input; prints its ms on a line\n"
         "  --memory SIZE      skip what needs more, e.g. 8G (default: what is free, and what the device has)\n"
         "  --json             print JSON, one object on a line for each problem\n"
         "  --json-file FILE   write the same to FILE, beside what is printed\n"
         "  --quiet            do not tell on standard error how far it is\n"
         "  --list-devices     list the devices, and the engine that each has by default\n"
         "  --help             print this (-h)\n"
         "  --version          print the version (-V)");
}

static int find_peers(struct bench_options *o, struct fault *f)
{
    const char *at = o->against ? o->against : "";
    while (*at) {
        const size_t n = strcspn(at, ",");
        int i = 0;
        while (peer_kinds[i] && (strlen(peer_kinds[i]->name) != n || strncmp(peer_kinds[i]->name, at, n)))
            i++;
        if (!peer_kinds[i])
            return fault_set(f, EXIT_USAGE, "--against: \"%.*s\" is no peer; see --help", (int)n, at);
        if (o->n_peers == PEERS_MAX)
            return fault_set(f, EXIT_USAGE, "--against: too many peers");
        for (int n_before = 0; n_before < o->n_peers; n_before++)
            if (o->peers[n_before] == peer_kinds[i])
                return fault_set(f, EXIT_USAGE, "--against: %s is named twice", peer_kinds[i]->name);
        o->peers[o->n_peers++] = peer_kinds[i];
        at += n + (at[n] == ',');
    }
    return 0;
}

static int read_rounds(int *rounds, const char *text, struct fault *f)
{
    char *end;
    const long n = strtol(text, &end, 10);
    if (*end || n < 1 || n > ROUNDS_MOST)
        return fault_set(f, EXIT_USAGE, "--rounds %s: expected 1 to %d", text, ROUNDS_MOST);
    *rounds = (int)n;
    return 0;
}

/* With --rounds-on-stdin nothing is computed of the rounds, which run without peers. */
static int check_on_stdin(const struct bench_options *o, struct fault *f)
{
    const struct { const char *name; int given; } rows[] = {
        { "--against", o->against != NULL },     { "--plot", o->plot != NULL },
        { "--rounds", o->rounds_text != NULL },  { "--json", o->json },
        { "--json-file", o->json_file != NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && o->on_stdin; i++)
        if (rows[i].given)
            return fault_set(f, EXIT_USAGE, "%s: --rounds-on-stdin prints the time of each round and nothing else",
                             rows[i].name);
    return 0;
}

/* given: problems were given. */
static int find_suite(struct bench_options *o, int given, struct fault *f)
{
    const char *name = !o->suite_name && o->plot && !given ? "prefill" : o->suite_name;
    if (!name)
        return given ? 0 : fault_set(f, EXIT_USAGE, "no problem given; see --help");
    o->suite = suite_find(name);
    return o->suite ? 0 : fault_set(f, EXIT_USAGE, "--suite: there is no \"%s\"; see --help", name);
}

#define INTO struct bench_options
static const struct args_row table[] = {
    ROW_TEXT("--device", device, "TEXT", NULL),
    ROW_TEXT("--config", config, "TEXT", NULL),
    ROW_TEXT("--against", against, "LIST", NULL),
    ROW_TEXT("--suite", suite_name, "NAME", NULL),
    ROW_TEXT("--plot", plot, "DIR", NULL),
    ROW_TEXT("--rounds", rounds_text, "N", NULL),
    ROW_FLAG("--rounds-on-stdin", on_stdin, NULL),
    ROW_TEXT("--memory", memory_text, "SIZE", NULL),
    ROW_FLAG("--json", json, NULL),
    ROW_TEXT("--json-file", json_file, "FILE", NULL),
    ROW_FLAG("--quiet", quiet, NULL),
    ROW_LAST("--list-devices", list_devices, NULL),
    ROW_LAST("--help", help, NULL),
    ROW_LAST("--version", version, NULL),
    { .name = NULL },
};

int bench_options_read(struct bench_options *o, int argc, char **argv, struct fault *f)
{
    const int n = args_read(argc, argv, table, o, f);
    o->rounds = ROUNDS_DEFAULT;
    if (n < 0 || o->help || o->version || o->list_devices)
        return n;
    if (check_on_stdin(o, f))
        return -1;
    if (o->rounds_text && read_rounds(&o->rounds, o->rounds_text, f))
        return -1;
    if (o->plot && !*o->plot)
        return fault_set(f, EXIT_USAGE, "--plot: the name of the folder is empty");
    if (o->memory_text && memory_read(o->memory_text, &o->memory))
        return fault_set(f, EXIT_USAGE, "--memory %s: expected bytes, e.g. 8G, 1.5GiB or 512M", o->memory_text);
    return find_suite(o, n, f) || find_peers(o, f) ? -1 : n;
}
