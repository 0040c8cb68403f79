/* record.c - one record of what was measured: a text that says what it is and adds up. Knows no files.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reading takes the values out of a text, prints them, and compares: what is not exactly as it would be printed, sum
 * included, is refused. So there is one text for each record, and no value that looks like another. */
#include "config.h"

#include "base/date.h"
#include "base/number.h"
#include "cache/record.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024, COUNT_MAX = 1000000 };

static const int64_t ns_max = INT64_C(1000000000000000); /* eleven days; doubles are exact up to here */

static const char version_key[] = "clattn-tune", version[] = "1";
static const char hex[] = "0123456789abcdef";
static const char class_bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789 ./:,#-_";
static const char config_bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789 ,_";

static const struct {
    int effort;
    const char *name;
} efforts[] = { { CLATTN_TUNE_QUICK, "quick" },
                { CLATTN_TUNE_FULL, "full" },
                { CLATTN_TUNE_EXHAUSTIVE, "exhaustive" } };
enum { EFFORTS = sizeof efforts / sizeof *efforts };

static bool is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

/* ---- Printing ---- */

static void add_line(struct text *to, const char *key, const char *value, size_t room)
{
    const size_t n = strnlen(value, room);
    text_add(to, "%s ", key);
    for (size_t i = 0; i < n; i++)
        text_add_n(to, is_printable(value[i]) ? value + i : "?", 1);
    text_add_n(to, "\n", 1);
}

static long long whole(double x)
{
    return !(x > 0) ? 0 : x >= (double)ns_max ? ns_max : (int64_t)(x + 0.5);
}

static const char *effort_name(int effort)
{
    for (int i = 0; i < EFFORTS; i++)
        if (efforts[i].effort == effort)
            return efforts[i].name;
    return "?";
}

static void add_sum(struct text *to, const struct text *of)
{
    unsigned char digest[DIGEST_BYTES];
    char sum[DIGEST_HEX];
    digest_of(digest, of->to, of->length);
    digest_hex(sum, digest);
    add_line(to, "sum", sum, sizeof sum);
}

void record_print(const struct record *r, struct text *to)
{
    char text[RECORD_TEXT_MAX];
    struct text t = { text, sizeof text, 0 };
    text_add(&t, "%s %s\n", version_key, version);
    add_line(&t, "device", r->by.device, sizeof r->by.device);
    add_line(&t, "name", r->by.name, sizeof r->by.name);
    add_line(&t, "driver", r->by.driver, sizeof r->by.driver);
    text_add(&t, "family %d\n", r->by.family);
    add_line(&t, "class", r->class_text, sizeof r->class_text);
    add_line(&t, "config", r->config, sizeof r->config);
    text_add(&t, "time_ns %lld mad %lld control %lld rounds %d trials %d\n", whole(r->time_ns), whole(r->mad_ns),
             whole(r->control_ns), r->rounds, r->trials);
    text_add(&t, "effort %s\ntries %d\ndate ", effort_name(r->effort), r->tries);
    date_print(&t, r->date);
    text_add(&t, "\n");
    add_line(&t, "lib", r->lib, sizeof r->lib);
    add_sum(&t, &t);
    text_add_n(to, text, t.length);
}

/* ---- Reading ---- */

struct reader {
    const char *at, *end;
    int64_t line;              /* the number of the line in `text` */
    char text[LINE_BYTES + 1]; /* without its newline */
    cl_int status;
    struct why *why;
};

static bool refuse(struct reader *in, cl_int status, const char *what, const char *how)
{
    in->status = why_set(in->why, status, "line %lld: %s%s", (long long)in->line, what, how);
    return false;
}

static bool bad(struct reader *in, const char *what, const char *how)
{
    return refuse(in, CLATTN_ERROR_SYNTAX, what, how);
}

static bool next_line(struct reader *in)
{
    const size_t left = (size_t)(in->end - in->at), most = left < LINE_BYTES ? left : LINE_BYTES;
    const char *const end = most ? memchr(in->at, '\n', most) : NULL;
    const size_t n = (size_t)((end ? end : in->at + most) - in->at);
    in->line++;
    for (size_t i = 0; i < n; i++)
        if (!is_printable(in->at[i]))
            return bad(in, "a byte that is not printable ASCII", "");
    if (!end)
        return bad(in, left < LINE_BYTES ? "the text ends here" : "longer than 1023 bytes", "");
    memcpy(in->text, in->at, n);
    in->text[n] = '\0';
    in->at = end + 1;
    return true;
}

/* Returns the value on the next line, which must have this key, else NULL. */
static const char *next_value(struct reader *in, const char *key)
{
    const size_t n = strlen(key);
    if (!next_line(in))
        return NULL;
    if (!strncmp(in->text, key, n) && in->text[n] == ' ')
        return in->text + n + 1;
    bad(in, key, " is missing");
    return NULL;
}

/* `bytes`: the characters it may consist of, at least one; NULL: anything printable. */
static bool read_text(struct reader *in, const char *key, const char *bytes, char *to, size_t room)
{
    const char *const value = next_value(in, key);
    if (!value)
        return false;
    const size_t n = strlen(value);
    if (n >= room)
        return bad(in, key, " is too long");
    if (bytes && (!n || value[strspn(value, bytes)]))
        return bad(in, key, " is empty or has bytes that it cannot have");
    memcpy(to, value, n + 1);
    return true;
}

struct number {
    const char *key; /* the text before it */
    int64_t most, value;
};

static bool read_numbers(struct reader *in, struct number *numbers, size_t count)
{
    if (!next_line(in))
        return false;
    const char *at = in->text;
    for (size_t i = 0; i < count; i++) {
        struct number *const x = &numbers[i];
        const size_t n = strlen(x->key);
        if (strncmp(at, x->key, n))
            return bad(in, x->key, "is missing");
        if (!(at = number_read_integer(at + n, &x->value)) || x->value < 0 || x->value > x->most)
            return bad(in, x->key, "is not a whole number, or out of range");
    }
    return true;
}

static bool read_int(struct reader *in, const char *key, int64_t most, int *to)
{
    struct number x = { key, most, 0 };
    const bool good = read_numbers(in, &x, 1);
    *to = (int)x.value;
    return good;
}

static bool read_version(struct reader *in)
{
    int64_t x;
    const char *const value = next_value(in, version_key), *rest;
    if (!value)
        return false;
    if (!strcmp(value, version))
        return true;
    rest = number_read_integer(value, &x);
    return refuse(in, rest && !*rest ? CLATTN_ERROR_NOT_SUPPORTED : CLATTN_ERROR_SYNTAX, in->text,
                  ": only version 1 is known");
}

static bool read_device(struct reader *in, char to[DIGEST_HEX])
{
    if (!read_text(in, "device", hex, to, DIGEST_HEX))
        return false;
    return strlen(to) == DIGEST_HEX - 1 || bad(in, "device", " is too short");
}

static bool read_times(struct reader *in, struct record *r)
{
    struct number x[] = { { "time_ns ", ns_max, 0 },
                          { " mad ", ns_max, 0 },
                          { " control ", ns_max, 0 },
                          { " rounds ", COUNT_MAX, 0 },
                          { " trials ", COUNT_MAX, 0 } };
    const bool good = read_numbers(in, x, sizeof x / sizeof *x);
    r->time_ns = (double)x[0].value;
    r->mad_ns = (double)x[1].value;
    r->control_ns = (double)x[2].value;
    r->rounds = (int)x[3].value;
    r->trials = (int)x[4].value;
    return good;
}

static bool read_effort(struct reader *in, int *effort)
{
    const char *const value = next_value(in, "effort");
    for (int i = 0; value && i < EFFORTS; i++)
        if (!strcmp(value, efforts[i].name)) {
            *effort = efforts[i].effort;
            return true;
        }
    return value && bad(in, "effort", " is none of quick, full, exhaustive");
}

static bool read_date(struct reader *in, int64_t *date)
{
    const char *const value = next_value(in, "date");
    return value && (date_read(value, date) || bad(in, "date", " is not like 2025-01-31T23:59:59Z"));
}

static bool read_fields(struct reader *in, struct record *r)
{
    return read_version(in) && read_device(in, r->by.device) &&
           read_text(in, "name", NULL, r->by.name, sizeof r->by.name) &&
           read_text(in, "driver", NULL, r->by.driver, sizeof r->by.driver) &&
           read_int(in, "family ", COUNT_MAX, &r->by.family) &&
           read_text(in, "class", class_bytes, r->class_text, sizeof r->class_text) &&
           read_text(in, "config", config_bytes, r->config, sizeof r->config) && read_times(in, r) &&
           read_effort(in, &r->effort) && read_int(in, "tries ", COUNT_MAX, &r->tries) && read_date(in, &r->date) &&
           read_text(in, "lib", NULL, r->lib, sizeof r->lib) && next_value(in, "sum");
}

/* Whether the text from `from` on is exactly what record_print() would write. */
static bool is_as_printed(struct reader *in, const char *from, int64_t first_line, const struct record *r)
{
    char text[RECORD_TEXT_MAX];
    struct text t = { text, sizeof text, 0 };
    const size_t n = (size_t)(in->at - from);
    const int64_t last_line = in->line;
    size_t i = 0;
    record_print(r, &t);
    for (in->line = first_line; i < n && i < t.length && from[i] == text[i]; i++)
        in->line += from[i] == '\n';
    if (i == n && i == t.length) {
        in->line = last_line;
        return true;
    }
    return bad(in, in->line == last_line ? "not the sum of the lines before" : "not as it would be written", "");
}

static bool read_record(struct reader *in, struct record *r)
{
    const char *const from = in->at;
    const int64_t first_line = in->line + 1;
    memset(r, 0, sizeof *r);
    return read_fields(in, r) && is_as_printed(in, from, first_line, r);
}

static bool skip_remarks(struct reader *in)
{
    while (in->at < in->end && (*in->at == '\n' || *in->at == '#'))
        if (!next_line(in))
            return false;
    return true;
}

static void reader_init(struct reader *in, const char *text, size_t n, struct why *why)
{
    in->at = n ? text : "";
    in->end = in->at + n;
    in->line = 0;
    in->status = CL_SUCCESS;
    in->why = why;
    why->text[0] = '\0';
}

cl_int record_read(struct record *r, const char *text, size_t n, size_t *used, struct why *why)
{
    struct reader in;
    struct record x;
    reader_init(&in, text, n, why);
    *used = 0;
    if (!read_record(&in, &x))
        return in.status;
    *r = x;
    *used = (size_t)(in.at - text);
    return CL_SUCCESS;
}

bool record_parse_all(const char *text, size_t n, struct record **list, size_t *count, struct why *why)
{
    struct reader in;
    struct records all = { NULL, 0, 0 };
    struct record r;
    reader_init(&in, text, n, why);
    while (skip_remarks(&in) && in.at < in.end && read_record(&in, &r))
        if (!records_add(&all, &r)) {
            refuse(&in, CL_OUT_OF_HOST_MEMORY, all.count < RECORDS_MAX ? "no memory" : "too many records", "");
            break;
        }
    *list = in.status ? NULL : all.list;
    *count = in.status ? 0 : all.count;
    if (in.status)
        free(all.list);
    return !in.status;
}

static void skip_line(struct reader *in)
{
    const char *const end = memchr(in->at, '\n', (size_t)(in->end - in->at));
    in->at = end ? end + 1 : in->end;
}

static bool is_at_record(const struct reader *in)
{
    const size_t n = sizeof version_key - 1;
    return (size_t)(in->end - in->at) > n && !memcmp(in->at, version_key, n);
}

void record_scan(const char *text, size_t n, record_visit *visit, void *user)
{
    struct reader in;
    struct record r;
    struct why why;
    bool more = true;
    reader_init(&in, text, n, &why);
    while (more && in.at < in.end) {
        const char *const from = in.at;
        if (is_at_record(&in) && read_record(&in, &r)) {
            more = visit(user, &r);
        } else {
            in.at = from;
            skip_line(&in);
        }
    }
}

bool record_is_class(const char *text)
{
    const size_t n = strnlen(text, CLASS_MAX);
    return n && n < CLASS_MAX && strspn(text, class_bytes) == n;
}

bool records_add(struct records *to, const struct record *r)
{
    enum { FIRST_ROOM = 16 };
    if (to->count == RECORDS_MAX)
        return false;
    if (to->count == to->room) {
        const size_t room = to->room ? 2 * to->room : FIRST_ROOM;
        struct record *const list = realloc(to->list, room * sizeof *list);
        if (!list)
            return false;
        to->list = list;
        to->room = room;
    }
    to->list[to->count++] = *r;
    return true;
}
