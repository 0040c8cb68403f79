/* system.h - what programs ask of the operating system beside standard C; one file for each system has the answers
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stdint.h>

/* From this call on the first SIGINT, SIGTERM or SIGHUP only sets what system_interrupted() returns, and the second one
 * kills. A signal that is ignored, as by nohup, stays ignored. */
void system_catch_interrupts(void);

/* The number of the signal that came, or 0. */
int system_interrupted(void);

/* Whether both paths exist and lead to the same file, by whatever name. */
int system_is_same_file(const char *path, const char *other);

/* Whether standard output (1) or standard error (2) is a terminal that a line can be written over on. */
int system_is_terminal(int fd);

/* Whether system_run() would find a program of that name. */
int system_has(const char *name);

/* Runs a program found as a shell finds it, argv[0], and waits for it. Returns 0, or an errno where it cannot be
 * started; *status is 0 where it succeeded. */
int system_run(char *const argv[], int *status);

/* How many columns the terminal has that standard error goes to. */
int system_columns(void);

/* Bytes of memory that could be used now without swapping, and by this process's control group; 0 where that is not
 * known. */
uint64_t system_memory(void);

#endif
