/* wrap_io.h - the library's calls of the system for files, counted and made to fail
 * SPDX-License-Identifier: Apache-2.0
 *
 * Works as wrap.h does, by ld --wrap (WRAPPED_IO in Makefile.am names every symbol). One thread only. */
#ifndef WRAP_IO_H
#define WRAP_IO_H

#include <stdint.h>

struct iowrap {
    int armed;         /* counts and fails only while set: around calls of the library */
    long calls;        /* that could fail, since iowrap_arm() */
    long fail_at;      /* the call that fails, from 1; 0: none */
    int sticky;        /* every later one fails too */
    int error;         /* its errno */
    const char *only;  /* only calls of this name count and fail; NULL: all */
    long failed;       /* how many did */
    int failed_unlink; /* so that something may be left behind */
    long memory;       /* blocks allocated and not freed */
    int piecemeal;     /* reading and writing in small pieces, interrupted every now and then */
    int predictable;   /* random bytes are 0 */
    const char *self;  /* opened in place of /proc/self/stat, unless NULL */
    int64_t shift;     /* seconds by which the clock is wrong */
    void (*hook)(const char *name); /* before each call, not armed meanwhile */
    char last[32];     /* name of the call that failed last */
};
extern struct iowrap iowrap;

void iowrap_arm(long fail_at, int sticky, int error);
void iowrap_disarm(void);

#endif
