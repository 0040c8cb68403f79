/* tune_report.h - what clattn-tune tells while it tunes, and of each class afterwards
 * SPDX-License-Identifier: Apache-2.0
 *
 * Progress goes to standard error: two lines when a class begins, one for each configuration that is refused or proven
 * to be the fastest so far, and the state, on a terminal in a line that is written over and over, else once a minute.
 * Results go to standard output, a line or a JSON object for each class. */
#ifndef TUNE_REPORT_H
#define TUNE_REPORT_H

#include "tools/tune/records.h"
#include "tools/tune/tune_options.h"

#include <clattn_tune.h>

/* How a class ended. */
enum ending {
    ENDING_TUNED,   /* there is a record of it now */
    ENDING_LEFT,    /* there was one */
    ENDING_FAILED,  /* no configuration could be measured */
    ENDING_CUT,     /* there is no record: time ended, a signal came, or there was nothing to compare */
    ENDING_UNKEPT,  /* measured, and the record could not be written */
    ENDING_KEPT,    /* a signal came, and there is a record of the best that was proven until then */
    ENDINGS
};

struct outcome {
    const char *class_text;
    enum ending ending;
    const struct record *record; /* where there is one */
    int opened, refused;         /* configurations tried, and put out */
    double seconds;
    const char *words;           /* why not, or "" */
};

struct tune_report {
    int json, quiet, terminal;
    int n, i;                 /* classes to tune, and which one it is */
    int count[ENDINGS];
    double begun, class_begun; /* ms, clock_ms() */
    double limit, total;      /* seconds, for a class and for all; 0: none */
    double spent;             /* seconds, by classes that are done */
    int done;
    const char *class_text;
    int opened;
    char best[256];           /* the configuration that is proven to be the fastest; "": the default */
    double ratio;             /* its time divided by the default's; 0: there is none */
    int drawn;                /* a line is on the terminal */
    double drawn_at;          /* ms; 0: at another time. Without a terminal: of the last line */
};

void tell_begin(struct tune_report *r, const struct tune_options *o, int n, double limit);

/* A class begins; it has `limit` seconds, 0 for no limit. why: who asked for it. */
void tell_class(struct tune_report *r, const char *class_text, const char *why, double limit);

/* Something has happened to a configuration. words: why it was refused. */
void tell_step(struct tune_report *r, const clattn_progress *p, const char *words);

/* Time has passed. */
void tell_draw(struct tune_report *r);

/* A class has ended. */
void tell_outcome(struct tune_report *r, const struct outcome *o);

/* All have. path: where the records are. */
void tell_end(struct tune_report *r, const char *path);

#endif
