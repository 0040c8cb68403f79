/* parts.h - what a child finds out about its device, in parts that are made of steps
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PARTS_H
#define PARTS_H

#include "bench/run/bench.h"
#include "tools/report/fact.h"
#include "tools/report/report_options.h"
#include "tools/system/opencl.h"

#include <clattn.h>

/* What a child has open. */
struct visit {
    const struct report_options *o;
    int fd;                 /* to the parent */
    int gone;               /* the parent is */
    long next;              /* number of the next step */
    double all, end;        /* clock_ms() when time is up; and for the part under way */
    const char *part;       /* that is under way */
    int told;               /* that it was left out, for want of time */
    int settled;            /* it is known which engines passed their self-tests */
    struct opencl where;
    cl_device_type type;
    clattn_handle handle;
    struct bench bench;     /* part_bench.c opens it; handle and device are these */
};

struct part {
    const char *name, *what;
    double share;           /* of the time that is left when it begins: the rest is for those behind it */
    int is_long;            /* not with --quick */
    void (*run)(struct visit *v);
};
extern const struct part parts_table[]; /* in order of how much they tell; ends with a row without a name */

/* Whether a part, by its place in the table, is to run. */
int parts_asked(const struct report_options *o, int i);

/* A child's main function. Returns an exit status. */
int parts_main(const struct report_options *o);

/* Whether to do the next step. It is not the turn of those that a child before this one did, or that crashed it, and of
 * none when time is up. Every child asks for the same steps in the same order. */
int parts_step(struct visit *v, const char *doing);

/* What the step under way does next, in case it is the last that is heard of it. */
void parts_doing(struct visit *v, const char *doing);

/* Has the library find out which engines are offered, before it is asked for a standard configuration. */
void parts_settle(struct visit *v);

void parts_send(struct visit *v, const struct fact_line *l);

/* The status and the words of the library's last failure. */
void parts_failure(const struct visit *v, cl_int status, char *text, size_t len);

void part_device(struct visit *v);
void part_engines(struct visit *v);
void part_checks(struct visit *v);
void part_kernels(struct visit *v);
void part_bench(struct visit *v);
void part_more_checks(struct visit *v);
void part_tuning(struct visit *v);

#endif
