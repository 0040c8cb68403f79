/* tune_report.h - what clattn-tune tells while it tunes, and of each class afterwards
 * SPDX-License-Identifier: Apache-2.0
 *
 * Progress goes to standard error: one line that is written over and over on a terminal, else one when a class begins.
 * Results go to standard output, a line or a JSON object for each class. */
#ifndef TUNE_REPORT_H
#define TUNE_REPORT_H

#include "records.h"
#include "tune_options.h"

/* How a class ended. */
enum ending {
    ENDING_TUNED,   /* there is a record of it now */
    ENDING_LEFT,    /* there was one */
    ENDING_FAILED,  /* no configuration could be measured */
    ENDING_CUT,     /* there is no record: time ended, a signal came, or there was nothing to compare */
    ENDING_UNKEPT,  /* measured, and the record could not be written */
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
    double ratio;             /* 0: not known */
    int drawn;                /* a line is on the terminal */
    double drawn_at;          /* ms; 0: at another time */
};

void tell_begin(struct tune_report *r, const struct tune_options *o, int n, double limit);

/* A class begins; it has `limit` seconds, 0 for no limit. */
void tell_class(struct tune_report *r, const char *class_text, double limit);

/* Something has happened to a configuration. words: why it was refused. */
void tell_step(struct tune_report *r, const clattn_progress *p, const char *words);

/* Time has passed. */
void tell_draw(struct tune_report *r);

/* A class has ended. */
void tell_outcome(struct tune_report *r, const struct outcome *o);

/* All have. path: where the records are. */
void tell_end(struct tune_report *r, const char *path);

/* Writes seconds in readable form: "12 s", "5 min", "1.5 h". */
const char *tell_duration(char text[32], double seconds);

#endif
