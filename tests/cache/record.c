/* record.c - the text of a record, good and hostile
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/base/date.h"
#include "src/cache/record.h"
#include "tests/lib/records.h"
#include "tests/lib/scratch.h"
#include "tests/lib/tap.h"
#include "tests/lib/wrap.h"
#include "src/base/text.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <sys/mman.h>

enum { ROOM = 1 << 14 };

static struct why why;
static size_t used;

/* Whether a text is refused, with words and without a trace. */
static int refuses(const char *text, size_t n)
{
    static struct record r, before;
    memset(&r, 0xa5, sizeof r);
    before = r;
    used = 77;
    return record_read(&r, text, n, &used, &why) && !used && !strncmp(why.text, "line ", 5) &&
           !memcmp(&r, &before, sizeof r);
}

static int prints_as(const struct record *r, const char *text, size_t n)
{
    char printed[RECORD_TEXT_MAX];
    struct text t = { printed, sizeof printed, 0 };
    record_print(r, &t);
    return t.length == n && !memcmp(printed, text, n);
}

static int takes(const char *text, size_t n)
{
    struct record r;
    return !record_read(&r, text, n, &used, &why) && used == n && prints_as(&r, text, n);
}

/* xorshift64* */
static uint64_t state = 88172645463325252u;
static uint32_t dice(uint32_t n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 2685821657736338717u) >> 33) % n;
}

static void test_golden(void)
{
    struct record r;
    if (!ok(!record_read(&r, golden, sizeof golden - 1, &used, &why) && used == sizeof golden - 1,
            "a record is read"))
        diag("%s", why.text);
    ok(!strcmp(r.by.device, DEVICE) && !strcmp(r.by.name, NAME) && !strcmp(r.by.driver, "3.1+debian") &&
           r.by.family == 7,
       "who measured");
    ok(!strcmp(r.class_text, CLASS) && !strcmp(r.config, "simt bq64,bk32,r4"), "what");
    ok(r.time_ns == 1234567 && r.mad_ns == 8910 && r.control_ns == 2345678 && r.rounds == 11 && r.trials == 8,
       "what came out");
    ok(r.effort == CLATTN_TUNE_FULL && !r.tries && r.date == 1763756142 && !strcmp(r.lib, "0.1.0"), "how and when");
    ok(prints_as(&r, golden, sizeof golden - 1), "and it is printed as it was");
}

/* ---- One line is another, and the sum is right ---- */

static const struct {
    int line;
    const char *text; /* without the newline */
    const char *words; /* of the refusal; NULL: taken */
} lines[] = {
    { 0, "clattn-tune 0", "line 1: clattn-tune 0: only" },
    { 0, "clattn-tune 2", "line 1: clattn-tune 2: only" },
    { 0, "clattn-tune 01", "line 1: " },
    { 0, "clattn-tune  1", "line 1: " },
    { 0, "clattn-tune 1 ", "line 1: " },
    { 0, "clattn-tune", "line 1: clattn-tune is missing" },
    { 0, "clattn-tuned 1", "line 1: clattn-tune is missing" },
    { 0, "Clattn-tune 1", "line 1: clattn-tune is missing" },
    { 0, " clattn-tune 1", "line 1: clattn-tune is missing" },
    { 1, "device ../../../../etc/passwd", "line 2: device " },
    { 1, "device ", "line 2: device " },
    { 1, "device " DEVICE_HALF, "line 2: device is too short" },
    { 1, "device " DEVICE "0", "line 2: device is too long" },
    { 1, "device B9AE17b7543ad24385cca73117ca954ebb4648de8fd93bc79d947b8314a36166", "line 2: device " },
    { 1, "device b9ae17b7543ad24385cca73117ca954ebb4648de8fd93bc79d947b8314a3616/", "line 2: device " },
    { 1, "device MWG=1\" -I/etc", "line 2: device " },
    { 1, "name " NAME, "line 2: device is missing" },
    { 2, "name ", NULL },
    { 2, "name  ~ !\"$%&'()*+,-./:;<=>?@[]^_`{|}", NULL },
    { 2, "name MWG=1\" -I/etc", NULL }, /* only words */
    { 2, "name clattn-tune 1", NULL },
    { 2, "name", "line 3: name is missing" },
    { 2, "nama x", "line 3: name is missing" },
    { 2, "device " DEVICE, "line 3: name is missing" },
    { 3, "driver MWG=1\" -I/etc", NULL },
    { 3, "name x", "line 4: driver is missing" },
    { 4, "family 0", NULL },
    { 4, "family 1000000", NULL },
    { 4, "family 1000001", "line 5: family " },
    { 4, "family 2147483648", "line 5: family " },
    { 4, "family 4294967303", "line 5: family " },
    { 4, "family 99999999999999999999999999", "line 5: family " },
    { 4, "family -7", "line 5: family " },
    { 4, "family -0", "line 5: not as" },
    { 4, "family +7", "line 5: family " },
    { 4, "family 07", "line 5: not as" },
    { 4, "family 7.0", "line 5: not as" },
    { 4, "family 7 ", "line 5: not as" },
    { 4, "family  7", "line 5: family " },
    { 4, "family 0x7", "line 5: not as" },
    { 4, "family ", "line 5: family " },
    { 4, "family", "line 5: family " },
    { 4, "family MWG=1\" -I/etc", "line 5: family " },
    { 5, "class a", NULL },
    { 5, "class ", "line 6: class " },
    { 5, "class f16 ../../x:y,#-", NULL }, /* goes into no name */
    { 5, "class F16", "line 6: class " },
    { 5, "class f16 k:q8_0", NULL },
    { 5, "class f16 mod:a+b", "line 6: class " },
    { 5, "class f16 \"x\"", "line 6: class " },
    { 5, "class f16;x", "line 6: class " },
    { 5, "class $(x)", "line 6: class " },
    { 5, "class MWG=1\" -I/etc", "line 6: class " },
    { 6, "config a", NULL },
    { 6, "config simt bq0,bk0,r0", NULL }, /* whether there is such a tile is not known here */
    { 6, "config simt bq2147483648,bk18446744073709551616", NULL },
    { 6, "config simt bq-1", "line 7: config " },
    { 6, "config simt bq=1", "line 7: config " },
    { 6, "config simt/bq1", "line 7: config " },
    { 6, "config Simt", "line 7: config " },
    { 6, "config ", "line 7: config " },
    { 6, "config MWG=1\" -I/etc", "line 7: config " },
    { 7, "time_ns 0 mad 0 control 0 rounds 0 trials 0", NULL },
    { 7, "time_ns 1000000000000000 mad 1000000000000000 control 1000000000000000 rounds 1000000 trials 1000000", NULL },
    { 7, "time_ns 1000000000000001 mad 0 control 0 rounds 0 trials 0", "line 8: time_ns " },
    { 7, "time_ns 0 mad 1000000000000001 control 0 rounds 0 trials 0", "line 8:  mad " },
    { 7, "time_ns 0 mad 0 control 1000000000000001 rounds 0 trials 0", "line 8:  control " },
    { 7, "time_ns 0 mad 0 control 0 rounds 1000001 trials 0", "line 8:  rounds " },
    { 7, "time_ns 0 mad 0 control 0 rounds 0 trials 1000001", "line 8:  trials " },
    { 7, "time_ns -1 mad 0 control 0 rounds 0 trials 0", "line 8: time_ns " },
    { 7, "time_ns 0 mad -1 control 0 rounds 0 trials 0", "line 8:  mad " },
    { 7, "time_ns 0 mad 0 control 0 rounds 4294967296 trials 0", "line 8:  rounds " },
    { 7, "time_ns 1.5 mad 0 control 0 rounds 0 trials 0", "line 8:  mad is missing" },
    { 7, "time_ns 1,5 mad 0 control 0 rounds 0 trials 0", "line 8:  mad is missing" },
    { 7, "time_ns 1e3 mad 0 control 0 rounds 0 trials 0", "line 8:  mad is missing" },
    { 7, "time_ns nan mad 0 control 0 rounds 0 trials 0", "line 8: time_ns " },
    { 7, "time_ns inf mad 0 control 0 rounds 0 trials 0", "line 8: time_ns " },
    { 7, "time_ns 00 mad 0 control 0 rounds 0 trials 0", "line 8: not as" },
    { 7, "time_ns 0 mad 0 control 0 rounds 0 trials 0 mad 0", "line 8: not as" },
    { 7, "time_ns 0 mad 0 mad 0 control 0 rounds 0 trials 0", "line 8:  control is missing" },
    { 7, "mad 0 time_ns 0 control 0 rounds 0 trials 0", "line 8: time_ns is missing" },
    { 7, "time_ns 0  mad 0 control 0 rounds 0 trials 0", "line 8:  mad is missing" },
    { 7, "time_ns 0 mad 0 control 0 rounds 0", "line 8:  trials is missing" },
    { 7, "time_ns 0 mad 0 control 0 rounds 0 trials ", "line 8:  trials " },
    { 7, "time_ns MWG=1\" -I/etc", "line 8: time_ns " },
    { 8, "effort quick", NULL },
    { 8, "effort exhaustive", NULL },
    { 8, "effort off", "line 9: effort " },
    { 8, "effort ", "line 9: effort " },
    { 8, "effort Quick", "line 9: effort " },
    { 8, "effort quick ", "line 9: effort " },
    { 8, "effort quicker", "line 9: effort " },
    { 8, "effort 4", "line 9: effort " },
    { 8, "effort MWG=1\" -I/etc", "line 9: effort " },
    { 9, "tries 3", NULL },
    { 9, "tries 1000000", NULL },
    { 9, "tries 1000001", "line 10: tries " },
    { 9, "tries -1", "line 10: tries " },
    { 9, "tries MWG=1\" -I/etc", "line 10: tries " },
    { 10, "date 1970-01-01T00:00:00Z", NULL },
    { 10, "date 2000-02-29T23:59:59Z", NULL },
    { 10, "date 9999-12-31T23:59:59Z", NULL },
    { 10, "date 2100-02-29T00:00:00Z", "line 11: not as" },
    { 10, "date 2001-02-29T00:00:00Z", "line 11: not as" },
    { 10, "date 2001-04-31T00:00:00Z", "line 11: not as" },
    { 10, "date 2001-13-01T00:00:00Z", "line 11: not as" },
    { 10, "date 2001-00-01T00:00:00Z", "line 11: not as" },
    { 10, "date 2001-01-00T00:00:00Z", "line 11: not as" },
    { 10, "date 2001-01-01T24:00:00Z", "line 11: not as" },
    { 10, "date 2001-01-01T00:60:00Z", "line 11: not as" },
    { 10, "date 2001-01-01T00:00:60Z", "line 11: not as" },
    { 10, "date 1969-12-31T23:59:59Z", "line 11: not as" },
    { 10, "date 0000-00-00T00:00:00Z", "line 11: not as" },
    { 10, "date 2001-01-01t00:00:00Z", "line 11: not as" },
    { 10, "date 2001-01-01 00:00:00Z", "line 11: not as" },
    { 10, "date 2001/01/01T00:00:00Z", "line 11: not as" },
    { 10, "date 2001-01-01T00:00:00z", "line 11: not as" },
    { 10, "date 2001-01-01T00:00:0/Z", "line 11: not as" },
    { 10, "date ~~~~~~~~~~~~~~~~~~~~", "line 11: not as" },
    { 10, "date                     ", "line 11: not as" },
    { 10, "date 2001-01-01T00:00:00", "line 11: date " },
    { 10, "date 10000-01-01T00:00:00Z", "line 11: date " },
    { 10, "date 2001-01-01T00:00:00+00:00", "line 11: date " },
    { 10, "date MWG=1\" -I/etc", "line 11: date " },
    { 11, "lib ", NULL },
    { 11, "lib MWG=1\" -I/etc", NULL },
    { 11, "lib 1234567890123456", "line 12: lib is too long" },
    { 11, "lib", "line 12: lib is missing" },
    { 11, "sum", "line 12: lib is missing" },
    { 11, "lib 0.1.0\nlib 0.1.0", "line 13: sum is missing" },
    { 9, "tries 0\ntries 0", "line 11: date is missing" },
    { 9, "", "line 10: tries " },
    { 9, "# tries", "line 10: tries " },
    { 5, "config a\nclass a", "line 6: class is missing" },
};

static void show(char *to, size_t room, const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < room; text++)
        to[n++] = *text == '\n' ? '~' : *text == '#' ? '+' : *text;
    to[n] = '\0';
}

static void test_lines(void)
{
    char text[ROOM], line[512], what[200];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const int n = snprintf(line, sizeof line, "%s\n", lines[i].text);
        const size_t length = compose(text, lines[i].line, line, (size_t)n);
        show(what, sizeof what, lines[i].text);
        if (!lines[i].words) {
            if (!ok(takes(text, length), "taken: '%s'", what))
                diag("%s", why.text);
        } else if (!ok(refuses(text, length) && !strncmp(why.text, lines[i].words, strlen(lines[i].words)),
                       "refused: '%s'", what))
            diag("%s", why.text);
    }
}

/* The longest text of each field, and one byte more. */
static void test_lengths(void)
{
    static const struct {
        int line;
        const char *key;
        int most;
    } fields[] = {
        { 2, "name", 255 }, { 3, "driver", 255 }, { 5, "class", 191 }, { 6, "config", 95 }, { 11, "lib", 15 },
    };
    char text[ROOM], line[512];
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (int more = 0; more < 2; more++) {
            const int n = snprintf(line, sizeof line, "%s %0*d\n", fields[i].key, fields[i].most + more, 0);
            const size_t length = compose(text, fields[i].line, line, (size_t)n);
            ok(more ? refuses(text, length) && strstr(why.text, " is too long") != NULL : takes(text, length),
               "%s of %d bytes is %s", fields[i].key, fields[i].most + more, more ? "refused" : "taken");
        }
}

/* Each byte that a line may not have, in front of, inside and behind each line, whatever the sum. */
static void test_bytes(void)
{
    char text[ROOM], line[256];
    int taken = 0, tried = 0;
    for (int byte = 0; byte < 256; byte++) {
        if (byte == '\n' || (byte >= ' ' && byte <= '~'))
            continue;
        for (int n = 0; n < LINES; n++)
            for (int place = 0; place < 3; place++) {
                const size_t whole = (size_t)(golden_line(n + 1) - golden_line(n)),
                             at = place == 0 ? 0 : place == 1 ? 8 : whole - 1;
                memcpy(line, golden_line(n), at);
                line[at] = (char)byte;
                memcpy(line + at + 1, golden_line(n) + at, whole - at);
                taken += !refuses(text, compose(text, n, line, whole + 1));
                tried++;
            }
    }
    is_int(taken, 0, "NUL, CR, tabs, other control bytes and bytes from 127 on are refused, %d of them", tried);
}

static void test_crlf(void)
{
    char text[ROOM];
    size_t n = 0;
    for (const char *c = golden; c < golden_line(LINES); c++) {
        if (*c == '\n')
            text[n++] = '\r';
        text[n++] = *c;
    }
    n = sign(text, n);
    ok(refuses(text, n), "a text with CR LF is refused: %s", why.text);
    n = compose(text, 0, "clattn-tune 1\n", 14);
    text[n - 1] = '\r';
    text[n] = '\n';
    ok(refuses(text, n + 1), "and a CR behind the sum: %s", why.text);
}

/* ---- Damage ---- */

static void test_cut(void)
{
    const size_t n = sizeof golden - 1;
    int taken = 0;
    for (size_t i = 0; i < n; i++) {
        char *const copy = malloc(i ? i : 1); /* of that size, so that reading past its end is seen */
        if (!copy)
            bail("no memory");
        memcpy(copy, golden, i);
        taken += !refuses(copy, i);
        free(copy);
    }
    is_int(taken, 0, "a record cut after each of its %zu bytes is refused", n);
    ok(refuses(NULL, 0), "and none at all: %s", why.text);
}

static void test_flipped(void)
{
    char text[sizeof golden];
    const int all = full();
    int taken = 0, tried = 0;
    for (size_t i = 0; i < sizeof golden - 1; i++)
        for (int x = 1; x < 256; x = all ? x + 1 : 2 * x) {
            memcpy(text, golden, sizeof golden);
            text[i] = (char)(text[i] ^ x);
            taken += !refuses(text, sizeof golden - 1);
            tried++;
        }
    is_int(taken, 0, "a record with one byte changed is refused, each of %d ways", tried);
}

static void test_sums(void)
{
    char text[ROOM];
    const size_t at = (size_t)(golden_line(LINES) - golden);
    size_t n;
    strcpy(text, golden);
    for (char *c = text + at + 4; *c; c++)
        *c = (char)(*c >= 'a' && *c <= 'f' ? *c - 32 : *c);
    ok(refuses(text, sizeof golden - 1) && strstr(why.text, "line 13: not the sum"), "a sum in capitals: %s", why.text);
    strcpy(text, golden);
    strcpy(text + at, "sum \n");
    ok(refuses(text, strlen(text)), "an empty sum: %s", why.text);
    strcpy(text, golden);
    strcpy(text + sizeof golden - 3, "\n");
    ok(refuses(text, strlen(text)), "a short one: %s", why.text);
    n = compose(text, 4, "family 8\n", 9);
    memcpy(text + at, golden + at, sizeof golden - at);
    ok(refuses(text, n) && strstr(why.text, "line 13: not the sum"), "the sum of another record: %s", why.text);
}

static void test_status(void)
{
    static const struct {
        const char *line;
        cl_int status;
    } versions[] = { { "clattn-tune 1\n", CL_SUCCESS },
                     { "clattn-tune 0\n", CLATTN_ERROR_NOT_SUPPORTED },
                     { "clattn-tune 2\n", CLATTN_ERROR_NOT_SUPPORTED },
                     { "clattn-tune 17\n", CLATTN_ERROR_NOT_SUPPORTED },
                     { "clattn-tune 2x\n", CLATTN_ERROR_SYNTAX },
                     { "clattn-tune x\n", CLATTN_ERROR_SYNTAX },
                     { "clattn-tune \n", CLATTN_ERROR_SYNTAX },
                     { "something else\n", CLATTN_ERROR_SYNTAX } };
    char text[ROOM];
    struct record r;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const size_t n = compose(text, 0, versions[i].line, strlen(versions[i].line));
        is_int(record_read(&r, text, n, &used, &why), versions[i].status, "'%.*s': %s",
               (int)strlen(versions[i].line) - 1, versions[i].line, clattn_status_string(versions[i].status));
    }
    text[0] = '\n';
    strcpy(text + 1, golden);
    is_int(record_read(&r, text, strlen(text), &used, &why), CLATTN_ERROR_SYNTAX, "nothing may stand before it");
}

/* ---- Print, read, print ---- */

static void fill(char *to, size_t room, const char *bytes, uint32_t least)
{
    const uint32_t kinds = (uint32_t)strlen(bytes), n = least + dice((uint32_t)room - least);
    memset(to, 0, room);
    for (uint32_t i = 0; i < n; i++)
        to[i] = bytes[dice(kinds)];
}

static double any_time(void)
{
    const double x = ldexp(1 + dice(1u << 30), (int)dice(20)) / (1 + dice(9));
    return dice(8) ? floor(fmin(x, 1e15)) : 0;
}

static void make_up(struct record *r, const char *printable)
{
    static const int efforts[] = { CLATTN_TUNE_QUICK, CLATTN_TUNE_FULL, CLATTN_TUNE_EXHAUSTIVE };
    memset(r, 0, sizeof *r);
    for (int i = 0; i < 64; i++)
        r->by.device[i] = "0123456789abcdef"[dice(16)];
    fill(r->by.name, sizeof r->by.name, printable, 0);
    fill(r->by.driver, sizeof r->by.driver, printable, 0);
    r->by.family = (int)dice(1000001);
    fill(r->class_text, sizeof r->class_text, "abcxyz019 ./:,#-", 1);
    fill(r->config, sizeof r->config, "abcxyz019 ,", 1);
    r->time_ns = any_time();
    r->mad_ns = any_time();
    r->control_ns = any_time();
    r->rounds = (int)dice(1000001);
    r->trials = (int)dice(1000001);
    r->effort = efforts[dice(3)];
    r->tries = (int)dice(4);
    r->date = (int64_t)(dice(2147483647) * 117.9);
    fill(r->lib, sizeof r->lib, printable, 0);
}

static int same(const struct record *a, const struct record *b)
{
    return !strcmp(a->by.device, b->by.device) && !strcmp(a->by.name, b->by.name) &&
           !strcmp(a->by.driver, b->by.driver) && a->by.family == b->by.family &&
           !strcmp(a->class_text, b->class_text) && !strcmp(a->config, b->config) && a->time_ns == b->time_ns &&
           a->mad_ns == b->mad_ns && a->control_ns == b->control_ns && a->rounds == b->rounds &&
           a->trials == b->trials && a->effort == b->effort && a->tries == b->tries && a->date == b->date &&
           !strcmp(a->lib, b->lib);
}

static void test_round_trip(void)
{
    char printable[96], text[RECORD_TEXT_MAX];
    const int n = full() ? 200000 : 5000;
    int bad = 0;
    for (int i = 0; i < 95; i++)
        printable[i] = (char)(' ' + i);
    printable[95] = '\0';
    for (int i = 0; i < n; i++) {
        struct record r, back;
        struct text t = { text, sizeof text, 0 };
        make_up(&r, printable);
        record_print(&r, &t);
        if (record_read(&back, text, t.length, &used, &why) || used != t.length || !same(&r, &back) ||
            !prints_as(&back, text, t.length)) {
            if (!bad++)
                diag("%s\n%s", why.text, text);
        }
    }
    is_int(bad, 0, "%d records of anything are printed, read as they were, and printed the same", n);
}

static int has_line(const struct record *r, const char *line)
{
    char printed[RECORD_TEXT_MAX], want[RECORD_TEXT_MAX];
    struct text t = { printed, sizeof printed, 0 };
    snprintf(want, sizeof want, "\n%s\n", line);
    record_print(r, &t);
    return t.length < sizeof printed && strstr(printed, want) != NULL;
}

/* What has no place in a record. */
static void test_print_bounds(void)
{
    struct record r;
    char small[32];
    struct text t = { small, sizeof small, 0 };
    record_read(&r, golden, sizeof golden - 1, &used, &why);
    record_print(&r, &t);
    ok(t.length == sizeof golden - 1 && !strncmp(small, golden, 31) && !small[31],
       "without room it is cut, and counted");
    r.time_ns = NAN, r.mad_ns = -5, r.control_ns = INFINITY;
    ok(has_line(&r, "time_ns 0 mad 0 control 1000000000000000 rounds 11 trials 8"), "NaN, less than nothing, infinity");
    r.time_ns = 1, r.mad_ns = 0.6, r.control_ns = 0.4;
    ok(has_line(&r, "time_ns 1 mad 1 control 0 rounds 11 trials 8"), "next to nothing");
    r.time_ns = 2.5, r.mad_ns = 2.4999, r.control_ns = 1e300;
    ok(has_line(&r, "time_ns 3 mad 2 control 1000000000000000 rounds 11 trials 8"), "parts of nanoseconds, ages");
    r.date = -1;
    ok(has_line(&r, "date 1970-01-01T00:00:00Z"), "a clock before 1970");
    r.date = INT64_C(253402300800);
    ok(has_line(&r, "date 9999-12-31T23:59:59Z"), "one after 9999");
    r.date = INT64_MAX;
    ok(has_line(&r, "date 9999-12-31T23:59:59Z"), "and one at the end of time");
    strcpy(r.by.name, "a\nb\tc\x7f\xc3\xa4\r");
    ok(has_line(&r, "name a?b?c????"), "bytes that are not printable");
    memset(r.by.name, 'x', sizeof r.by.name);
    memset(r.class_text, 'x', sizeof r.class_text);
    memset(r.lib, 'x', sizeof r.lib);
    ok(has_line(&r, "lib xxxxxxxxxxxxxxxx"), "texts without an end");
    r.effort = CLATTN_TUNE_RECORD;
    ok(has_line(&r, "effort ?"), "an effort that is none");
}

/* ---- Dates ---- */

static void test_dates(void)
{
    char ours[32], theirs[32];
    int64_t back;
    int bad = 0;
    for (int i = 0; i < 20000; i++) {
        const time_t at = i < 1000 ? (time_t)i * 43201 * 199 : (time_t)(dice(2147483647) * 117.98);
        struct text t = { ours, sizeof ours, 0 };
        struct tm tm;
        gmtime_r(&at, &tm);
        strftime(theirs, sizeof theirs, "%Y-%m-%dT%H:%M:%SZ", &tm);
        date_print(&t, at);
        if ((strcmp(ours, theirs) || !date_read(theirs, &back) || back != at) && !bad++)
            diag("%lld: %s, %s", (long long)at, ours, theirs);
    }
    is_int(bad, 0, "dates are those of the C library");
}

/* ---- Several ---- */

static void test_remarks(void)
{
    char text[ROOM];
    struct record *list = NULL;
    size_t count = 0;
    const int n = snprintf(text, sizeof text, "\n# one\n#\n\n%s\n%s# two\n%s# end\n", golden, golden, golden);
    ok(record_parse_all(text, (size_t)n, &list, &count, &why) && count == 3,
       "three records among blank lines and remarks are read: %zu %s", count, why.text);
    free(list);
}

static void test_long_lines(void)
{
    enum { LONG = 1 << 20 };
    char *const text = malloc(LONG + ROOM);
    struct record *list;
    size_t count;
    if (!text)
        bail("no memory");
    for (int n = 1022; n <= 1024; n++) {
        memset(text, '#', (size_t)n);
        text[n] = '\n';
        strcpy(text + n + 1, golden);
        const bool taken = record_parse_all(text, strlen(text), &list, &count, &why);
        if (taken)
            free(list);
        ok(taken == (n <= 1023), "a remark of %d bytes and its newline is %s", n, taken ? "taken" : "refused");
    }
    memset(text, 'x', LONG);
    memcpy(text, golden, (size_t)(golden_line(2) - golden) + 5);
    text[LONG - 1] = '\n';
    ok(refuses(text, LONG) && strstr(why.text, "line 3: longer"), "a name of a megabyte is refused: %s", why.text);
    memset(text, 'x', LONG);
    ok(refuses(text, 1023) && strstr(why.text, "line 1: the text ends"), "1023 bytes may be the beginning of a line");
    ok(refuses(text, 1024) && strstr(why.text, "line 1: longer"), "1024 are none");
    ok(refuses(text, LONG) && strstr(why.text, "line 1: longer"), "a megabyte without a newline too: %s", why.text);
    free(text);
}

static bool parses(const char *text, size_t n, struct record **list, size_t *count)
{
    *list = (struct record *)(uintptr_t)golden; /* junk */
    *count = 99;
    return record_parse_all(text, n, list, count, &why);
}

/* All or nothing: the words are those of the first fault. */
static void all_refused(const char *text, size_t n, const char *words, const char *what)
{
    struct record *list;
    size_t count;
    const bool taken = parses(text, n, &list, &count);
    if (!ok(!taken && !list && !count && !strncmp(why.text, words, strlen(words)), "%s: nothing of it", what))
        diag("%s, want %s", why.text, words);
    free(taken ? list : NULL);
}

static void test_all(void)
{
    static char text[4 * ROOM];
    char other[ROOM];
    struct record *list;
    size_t count, n;
    compose(other, 8, "effort quick\n", 13);
    n = (size_t)sprintf(text, "# a\n%s\n\n%s# b\n", golden, other);
    ok(parses(text, n, &list, &count) && count == 2 && list[0].effort == CLATTN_TUNE_FULL &&
           list[1].effort == CLATTN_TUNE_QUICK && prints_as(&list[0], golden, sizeof golden - 1),
       "all records of a text");
    free(list);
    ok(parses("", 0, &list, &count) && !list && !count, "a text of nothing has none");
    ok(parses(NULL, 0, &list, &count) && !list && !count, "and so has no text");
    ok(parses("# a\n\n", 5, &list, &count) && !list && !count, "or one of remarks");
    n = (size_t)sprintf(text, "# a\n%s%s%s", golden, other, golden);
    text[n - 2] ^= 1;
    all_refused(text, n, "line 40: not the sum", "a bad sum in the last record");
    text[n - 2] ^= 1;
    all_refused(text, n - 1, "line 40: the text ends", "a last line without its newline");
    strcpy(text + n, "x\n");
    all_refused(text, n + 2, "line 41: clattn-tune is missing", "a line of anything behind");
    strcpy(text + n, "# \xc3\xa4\n");
    all_refused(text, n + 5, "line 41: a byte", "a remark that is not ASCII");
    strcpy(text + n, "#");
    all_refused(text, n + 1, "line 41: the text ends", "a remark without a newline");
    all_refused(text, n + 2, "line 41: a byte", "a NUL behind");
    text[4 + strlen(golden) + 3] = 'T';
    all_refused(text, n, "line 15: clattn-tune is missing", "a second record of something else");
    compose(other, 0, "clattn-tune 2\n", 14);
    n = (size_t)sprintf(text, "%s%s", golden, other);
    all_refused(text, n, "line 14: clattn-tune 2: only", "one of another version behind a good one");
    n = (size_t)sprintf(text, "%s%.*s%s", golden, 100, golden, golden);
    all_refused(text, n, "line 17: driver is missing", "half a record between whole ones");
}

static bool count_record(void *user, const struct record *r)
{
    (void)r;
    return ++*(int *)user < 100;
}

static int scanned(const char *text, size_t n)
{
    int count = 0;
    record_scan(text, n, count_record, &count);
    return count;
}

static void test_scan(void)
{
    static char text[1 << 20];
    char bad[ROOM];
    size_t n;
    strcpy(bad, golden);
    bad[200] ^= 1;
    n = (size_t)sprintf(text, "junk\r\n\xff\n%s%.*s%s%s%s# x\n%s%.*s", golden, 86, golden, golden, bad, golden,
                        golden, 300, golden);
    text[2] = '\0';
    is_int(scanned(text, n), 4, "the sound records between damage, halves and junk are found");
    is_int(scanned(NULL, 0), 0, "none in nothing");
    is_int(scanned("\n", 1) + scanned("clattn-tune 1", 13) + scanned("clattn-tune 1\n", 14), 0, "or next to nothing");
    for (n = 0; n < 200 * (sizeof golden - 1); n += sizeof golden - 1)
        memcpy(text + n, golden, sizeof golden - 1);
    is_int(scanned(text, n), 100, "and it ends when asked to");
}

/* What can be a class, in as much memory as it needs: where there is no end, none is looked for. */
static void test_classes(void)
{
    for (size_t n = CLASS_MAX - 2; n <= CLASS_MAX + 1; n++)
        for (int ended = 0; ended < 2; ended++) {
            char *const text = malloc(n + (size_t)ended);
            if (!text)
                bail("no memory");
            memset(text, 'a', n);
            if (ended)
                text[n] = '\0';
            if (ended || n >= CLASS_MAX)
                is_int(record_is_class(text), n < CLASS_MAX, "a class of %zu bytes%s", n, ended ? "" : ", not ended");
            free(text);
        }
}

/* ---- Very many ---- */

/* A record of 512 bytes, so that pages full of them can be mapped again and again. */
static void compose_512(char *to)
{
    char line[512];
    size_t n = compose(to, 2, "name \n", 6);
    const int pad = 512 - (int)n;
    n = compose(to, 2, line, (size_t)snprintf(line, sizeof line, "name %0*d\n", pad, 0));
    if (n != 512 && pad > 0)
        bail("a record of %zu bytes", n);
}

static void test_limit(void)
{
    char one[ROOM];
    char *const text = malloc((RECORDS_MAX + 1) * 512);
    struct record *list;
    size_t count;
    if (!text)
        bail("no memory");
    compose_512(one);
    for (int i = 0; i <= RECORDS_MAX; i++)
        memcpy(text + 512 * i, one, 512);
    ok(parses(text, RECORDS_MAX * 512, &list, &count) && count == RECORDS_MAX && !strcmp(list[4095].by.device, DEVICE),
       "%d records are as many as there may be", (int)RECORDS_MAX);
    free(list);
    all_refused(text, (RECORDS_MAX + 1) * 512, "line 53261: too many", "one more");
    free(text);
}

static void test_million(void)
{
    enum { BLOCK = 1 << 20, TIMES = 489 }; /* 1001472 records */
    char one[ROOM], *text;
    const char *const name = in_scratch("block");
    const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int mapped = 0;
    compose_512(one);
    for (int i = 0; i < BLOCK / 512; i++)
        if (write(fd, one, 512) != 512)
            bail("cannot write %s", name);
    text = mmap(NULL, (size_t)BLOCK * TIMES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t i = 0; text != MAP_FAILED && i < TIMES; i++)
        mapped += mmap(text + i * BLOCK, BLOCK, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
    if (mapped == TIMES)
        all_refused(text, (size_t)BLOCK * TIMES, "line 53261: too many", "a million records");
    else
        skip("half a gigabyte of addresses cannot be had here");
    if (text != MAP_FAILED)
        munmap(text, (size_t)BLOCK * TIMES);
    close(fd);
}

/* ---- Anything ---- */

/* Whatever is done to a text: what is taken is what would be printed. */
static void test_storm(void)
{
    static const char bits[] = "0189azAZ -+.:,#/=\"\n\r\t\0\x7f\xc3";
    const int rounds = full() ? 2000000 : 60000;
    char text[ROOM];
    int taken = 0, bad = 0;
    for (int i = 0; i < rounds; i++) {
        size_t n = (size_t)(golden_line(LINES) - golden);
        memcpy(text, golden, n);
        for (uint32_t edits = 1 + dice(3); edits; edits--) {
            const size_t at = dice((uint32_t)n), length = dice(12) % (n - at + 1);
            if (dice(3)) {
                text[at] = bits[dice(sizeof bits - 1)];
            } else if (dice(2)) {
                memmove(text + at, text + at + length, n - at - length);
                n -= length;
            } else {
                memmove(text + at + length, text + at, n - at);
                n += length;
            }
        }
        n = sign(text, n);
        struct record r;
        if (record_read(&r, text, n, &used, &why))
            continue;
        taken++;
        bad += !prints_as(&r, text, used);
    }
    ok(!bad && taken, "of %d texts changed at random, %d are taken, and those are what would be printed", rounds,
       taken);
}

static void test_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8", "fr_FR",
                                         "nl_NL.UTF-8", "ru_RU.UTF-8", "cs_CZ.UTF-8", "pl_PL.UTF-8", "it_IT.UTF-8" };
    struct record r;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) && !strcmp(localeconv()->decimal_point, ",")) {
            ok(takes(golden, sizeof golden - 1), "records are the same in %s", names[i]);
            record_read(&r, golden, sizeof golden - 1, &used, &why);
            r.time_ns = 1e15;
            ok(has_line(&r, "time_ns 1000000000000000 mad 8910 control 2345678 rounds 11 trials 8"),
               "large numbers too");
            setlocale(LC_ALL, "C");
            return;
        }
    setlocale(LC_ALL, "C");
    skip("no locale with decimal commas is installed");
}

/* ---- Without memory ---- */

static void test_memory(void)
{
    static char text[40 * sizeof golden];
    struct record *list;
    size_t count, n = 0;
    int bad = 0;
    long at, failed = 1;
    for (int i = 0; i < 40; i++)
        n += (size_t)sprintf(text + n, "%s", golden);
    for (at = 1; failed; at++) {
        wrap.memory = 0;
        wrap_arm(at, 0);
        const bool taken = parses(text, n, &list, &count);
        failed = wrap.failed;
        wrap.fail_at = 0;
        free(taken ? list : NULL);
        wrap_disarm();
        bad += taken == (failed != 0) || wrap.memory || (!taken && (list || count));
    }
    ok(at > 3 && !bad, "each of %ld allocations fails: nothing is taken, nothing leaks", at - 2);
}

int main(void)
{
    scratch_begin("record");
    test_golden();
    test_lines();
    test_lengths();
    test_bytes();
    test_crlf();
    test_cut();
    test_flipped();
    test_sums();
    test_status();
    test_round_trip();
    test_print_bounds();
    test_dates();
    test_remarks();
    test_long_lines();
    test_all();
    test_scan();
    test_classes();
    test_limit();
    test_million();
    test_storm();
    test_locale();
    test_memory();
    return scratch_end();
}
