/* fact.c - what a report says, one fact at a time
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/fact.h"

#include "bench/figures/memory.h"
#include "tools/system/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OURS(name, width) { name, FACT_OURS, width }
#define WORDS(name) { name, FACT_FREE, 0 }
#define NUMBER(name, width) { name, FACT_NUMBER, width }
#define PROBLEM OURS("problem", 64)
#define CONFIG OURS("config", 40)

const struct fact_kind fact_kinds[] = {
    { "system", "system", 1,
      { OURS("version", 0), OURS("date", 0), WORDS("os"), WORDS("cpu"), NUMBER("processors", 0),
        NUMBER("memory_bytes", 0), WORDS("loader"), OURS("settings", 0) } },
    { "device", "about", 1,
      { OURS("place", 0), OURS("kind", 0), WORDS("platform"), WORDS("platform_version"), WORDS("name"),
        WORDS("vendor"), WORDS("version"), WORDS("c_version"), WORDS("driver"), OURS("chip", 0) } },
    { "limits", "limits", 1,
      { NUMBER("compute_units", 0), NUMBER("clock_mhz", 0), NUMBER("memory_bytes", 0),
        NUMBER("largest_buffer_bytes", 0), NUMBER("cache_bytes", 0), NUMBER("local_bytes", 0),
        OURS("local_kind", 0), NUMBER("group_items", 0),
        NUMBER("address_bits", 0), NUMBER("unified", 0), NUMBER("vector_float", 0), NUMBER("vector_half", 0),
        NUMBER("single_fp", 0), NUMBER("half_fp", 0), NUMBER("timer_ns", 0), NUMBER("wave_items", 0) } },
    { "extension", "extensions", 0, { OURS("name", 0) } },
    { "engine", "engines", 0,
      { OURS("engine", 7), OURS("type", 5), OURS("verdict", 12), NUMBER("compile_s", 9), OURS("what", 5),
        NUMBER("bounds", 10), CONFIG, WORDS("words") } },
    { "check", "checks", 0,
      { PROBLEM, CONFIG, OURS("what", 7), NUMBER("bounds", 10), OURS("verdict", 12), WORDS("words") } },
    { "kernel", "kernels", 0,
      { PROBLEM, CONFIG, OURS("kernel", 20), NUMBER("compile_s", 9), NUMBER("binary_bytes", 12),
        NUMBER("registers", 9), NUMBER("spill_bytes", 11), NUMBER("private_bytes", 13), NUMBER("local_bytes", 11),
        NUMBER("group_items", 11), NUMBER("wave_items", 10), WORDS("words") } },
    { "probe", "probe", 1,
      { NUMBER("f32_gflops", 0), NUMBER("read_gbytes_s", 0), NUMBER("copy_gbytes_s", 0),
        NUMBER("read_256k_gbytes_s", 0) } },
    { "bench", "bench", 0,
      { OURS("what", 8), PROBLEM, CONFIG, NUMBER("ms", 9), NUMBER("best_ms", 9), NUMBER("rounds", 6),
        NUMBER("gflops", 9), NUMBER("gbytes_s", 9), NUMBER("of_roof", 7), OURS("roof", 12), OURS("roof_by", 7),
        WORDS("words") } },
    { "tuned", "tuned", 0,
      { PROBLEM, OURS("standard", 40), OURS("best", 40), NUMBER("of_time", 7), NUMBER("tried", 5),
        NUMBER("refused", 7), WORDS("words") } },
    { "refused", "refused", 0, { PROBLEM, CONFIG, WORDS("words") } },
    { "log", "log", 0, { WORDS("words") } },
    { "trouble", "trouble", 0, { OURS("part", 0), OURS("doing", 0), WORDS("words") } },
    { "left_out", "left_out", 0, { OURS("what", 0), OURS("why", 0) } },
    /* Of the child for its parent alone. */
    { "loader", NULL, 1, { WORDS("words") } },
    { "listed", NULL, 1, { OURS("place", 0), OURS("kind", 0), WORDS("name") } },
    { "step", NULL, 1, { NUMBER("number", 0), OURS("part", 0), OURS("doing", 0) } },
    { .name = NULL },
};

const struct fact_kind *fact_kind(const char *name)
{
    const struct fact_kind *k = fact_kinds;
    while (k->name && strcmp(k->name, name))
        k++;
    return k->name ? k : NULL;
}

static int fields_of(const struct fact_kind *k)
{
    int n = 0;
    while (n < FACT_FIELDS && k->fields[n].name)
        n++;
    return n;
}

/* ---- Lines ---- */

void fact_begin(struct fact_line *l, const char *kind)
{
    l->n = 0;
    l->text[0] = '\0';
    snprintf(l->text, sizeof l->text, "%s", kind);
    l->n = strlen(l->text);
}

void fact_add(struct fact_line *l, const char *text)
{
    if (l->n + 1 >= sizeof l->text)
        return;
    l->text[l->n++] = '\t';
    for (size_t taken = 0; *text && taken < FACT_WORDS && l->n + 1 < sizeof l->text; text++, taken++)
        l->text[l->n++] = (unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text;
    l->text[l->n] = '\0';
}

void fact_add_number(struct fact_line *l, double x, int digits)
{
    char text[JSON_NUMBER];
    fact_add(l, json_number(text, x, digits));
}

/* "null", or a number as JSON has it. */
static int is_number(const char *text)
{
    char again[JSON_NUMBER], *end;
    if (!strcmp(text, "null"))
        return 1;
    const double x = strtod(text, &end); /* with a point, as no locale was set before a driver may do so */
    return end != text && (!*end || *end == '.') && strspn(text, "0123456789+-.e") == strlen(text) &&
           strcmp(json_number(again, x, 17), "null") != 0;
}

static char *keep(const struct fact_field *f, const char *from, size_t n, const struct scrub *scrub)
{
    char text[FACT_LINE], clean[2 * FACT_LINE];
    snprintf(text, sizeof text, "%.*s", (int)n, from);
    if (f->form == FACT_NUMBER && !is_number(text))
        strcpy(text, "null");
    if (f->form != FACT_FREE)
        return strdup(text);
    scrub_text(scrub, text, clean, sizeof clean);
    return strdup(clean);
}

int fact_read(struct fact *f, const char *line, const struct scrub *scrub)
{
    char name[32];
    size_t n = strcspn(line, "\t");
    memset(f, 0, sizeof *f);
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), line);
    if (!(f->kind = fact_kind(name)))
        return -1;
    for (int i = 0, all = fields_of(f->kind); i < all; i++) {
        line += n + (line[n] == '\t');
        n = strcspn(line, "\t");
        if (!(f->value[i] = keep(&f->kind->fields[i], line, n, scrub)))
            return -1;
    }
    return 0;
}

void fact_free(struct fact *f)
{
    for (int i = 0; i < FACT_FIELDS; i++)
        free(f->value[i]);
    memset(f, 0, sizeof *f);
}

const char *fact_value(const struct fact *f, const char *field)
{
    for (int i = 0; i < fields_of(f->kind); i++)
        if (!strcmp(f->kind->fields[i].name, field))
            return f->value[i];
    return "";
}

double fact_number(const struct fact *f, const char *field)
{
    const char *const text = fact_value(f, field);
    return *text && strcmp(text, "null") ? strtod(text, NULL) : NAN;
}

int fact_is(const struct fact *f, const char *kind)
{
    return !strcmp(f->kind->name, kind);
}

/* ---- Text ---- */

static int is_known(const char *value)
{
    return *value && strcmp(value, "null") != 0;
}

enum { ROW = 2048 };

/* Appends a column, behind which are two blanks; what has no width is the last one. */
static void put(char row[ROW], const struct fact_field *f, const char *text)
{
    const size_t n = strlen(row);
    if (f->form == FACT_NUMBER)
        snprintf(row + n, ROW - n, "%*s  ", f->width, text);
    else
        snprintf(row + n, ROW - n, "%-*s  ", f->width, text);
}

static void put_row(FILE *to, const char *label, char row[ROW])
{
    size_t n = strlen(row);
    while (n && row[n - 1] == ' ')
        row[--n] = '\0';
    fprintf(to, "    %s%s\n", label, row);
}

void fact_print_head(FILE *to, const struct fact_kind *k)
{
    char row[ROW] = "";
    if (k->once || !k->fields[0].width)
        return;
    for (int i = 0; i < fields_of(k); i++)
        put(row, &k->fields[i], k->fields[i].width ? k->fields[i].name : "");
    put_row(to, "", row);
}

/* "name  value", with bytes in words as well. */
static void print_pairs(FILE *to, const struct fact *f)
{
    char words[MEMORY_TEXT];
    for (int i = 0; i < fields_of(f->kind); i++) {
        const char *const name = f->kind->fields[i].name, *const x = f->value[i];
        const size_t n = strlen(name);
        if (!is_known(x))
            continue;
        fprintf(to, "    %-22s %s", name, x);
        if (n > 6 && !strcmp(name + n - 6, "_bytes"))
            fprintf(to, "   %s", memory_words(words, (uint64_t)strtod(x, NULL)));
        putc('\n', to);
    }
}

void fact_print(FILE *to, const struct fact *f, const char *label)
{
    const struct fact_kind *const k = f->kind;
    char row[ROW] = "";
    if (k->once) {
        print_pairs(to, f);
        return;
    }
    for (int i = 0; i < fields_of(k); i++) {
        const char *const x = f->value[i];
        const size_t n = strlen(row);
        if (k->fields[0].width)
            put(row, &k->fields[i], k->fields[i].form != FACT_NUMBER || is_known(x) ? x : "-");
        else
            snprintf(row + n, ROW - n, "%s%s", i && is_known(x) ? ": " : "", x);
    }
    put_row(to, label, row);
}

/* ---- JSON ---- */

static void put_json(FILE *to, const struct fact_field *f, const char *value)
{
    if (f->form == FACT_NUMBER)
        fputs(value, to);
    else
        json_string(to, *value ? value : NULL);
}

void fact_print_json(FILE *to, const struct fact *f)
{
    const int n = fields_of(f->kind);
    if (n == 1 && !f->kind->once) {
        put_json(to, &f->kind->fields[0], f->value[0]);
        return;
    }
    for (int i = 0; i < n; i++) {
        fprintf(to, "%s\"%s\": ", i ? ", " : "{", f->kind->fields[i].name);
        put_json(to, &f->kind->fields[i], f->value[i]);
    }
    putc('}', to);
}
