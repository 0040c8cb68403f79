/* fact.h - what a report says, one fact at a time; needs no device
 * SPDX-License-Identifier: Apache-2.0
 *
 * A child finds facts and sends each as one line, the parent prints it as text at once, and keeps it for the JSON part.
 * The table of kinds in fact.c is all that the three have to agree on; reports/schema.json describes the last. */
#ifndef FACT_H
#define FACT_H

#include "tools/report/scrub.h"

#include <stddef.h>
#include <stdio.h>

/* A line goes into the words of an answer of child.h. */
enum { FACT_LINE = 512, FACT_FIELDS = 16, FACT_WORDS = 400 };

enum fact_form {
    FACT_OURS,  /* text that only this program writes: problems, configurations, words of a list */
    FACT_FREE,  /* text of others, which is scrubbed */
    FACT_NUMBER /* as JSON has it, or null */
};
struct fact_field {
    const char *name;
    enum fact_form form;
    int width; /* of its column in the text; 0: as long as it is */
};
struct fact_kind {
    const char *name;  /* in lines */
    const char *json;  /* the member of a device's object; NULL: not told there */
    int once;          /* an object, else an array of objects, or of texts where there is one field */
    struct fact_field fields[FACT_FIELDS];
};

struct fact {
    const struct fact_kind *kind;
    int device;                 /* its number in the report, or -1 for what is about none */
    char *value[FACT_FIELDS]; /* texts, in the order of the kind's fields */
};

extern const struct fact_kind fact_kinds[]; /* ends with a row without a name */
const struct fact_kind *fact_kind(const char *name); /* NULL: there is none */

/* ---- Lines ---- */

struct fact_line {
    char text[FACT_LINE];
    size_t n;
};
void fact_begin(struct fact_line *l, const char *kind);
void fact_add(struct fact_line *l, const char *text);            /* cut off where there is no room */
void fact_add_number(struct fact_line *l, double x, int digits); /* NaN: not known */

/* Reads a line. Returns 0, or -1 where it is none or there is no memory; fact_free() is due in both cases. */
int fact_read(struct fact *f, const char *line, const struct scrub *scrub);
void fact_free(struct fact *f);

/* A field's value: "" where the kind has none of that name. Of a number: NaN. */
const char *fact_value(const struct fact *f, const char *field);
double fact_number(const struct fact *f, const char *field);
int fact_is(const struct fact *f, const char *kind);

/* ---- What a reader sees ---- */

/* A line for a row of a table; lines "name  value" for what is said once. */
void fact_print_head(FILE *to, const struct fact_kind *kind);
void fact_print(FILE *to, const struct fact *f, const char *label); /* label: in front of a row */

/* Its value in JSON. */
void fact_print_json(FILE *to, const struct fact *f);

#endif
