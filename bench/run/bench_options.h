/* bench_options.h - the command line of clattn-bench
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench/figures/figures.h"
#include "bench/peers/peer.h"
#include "bench/run/suites.h"
#include "tools/system/fault.h"

/* Beside those of fault.h. */
enum { EXIT_PARTIAL = 5 };

struct bench_options {
    const char *device, *config, *against, *suite_name, *plot, *rounds_text, *memory_text, *json_file;
    int json, on_stdin, quiet, help, version, list_devices;
    /* What these say: */
    const struct peer_kind *peers[PEERS_MAX];
    int n_peers, rounds;
    uint64_t memory; /* 0: what is there */
    const struct suite *suite;
};

/* Reads the options; problems are moved behind argv[0]. Returns their number, or -1 with `f` set. */
int bench_options_read(struct bench_options *o, int argc, char **argv, struct fault *f);
void bench_options_help(void);

#endif
