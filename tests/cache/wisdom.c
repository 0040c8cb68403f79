/* wisdom.c - where records are kept, and notes of classes without one
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/cache/wisdom.h"
#include "tests/lib/records.h"
#include "tests/lib/scratch.h"
#include "tests/lib/tap.h"
#include "tests/lib/wrap.h"
#include "src/base/text.h"

enum { ROOM = 1 << 14 };

/* Of names the second halves are of digests, by sha256sum. */
#define FILE_OF "tune/" DEVICE_HALF "/" CLASS_HALF
#define OTHER_CLASS "f32 b1 h1 q1 k4096 d64"
#define OTHER_HALF "939b115d2f3a7e79f1bc4ba23897d347"
#define OTHER_DEVICE "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define NOTE_OF "note/" DEVICE_HALF "/" CLASS_HALF

static struct record_device by;
static struct record gold;

/* ---- Files ---- */

/* Begins anew. */
static void clean(void)
{
    remove_tree(in_root(""));
    make_folder(in_root(""));
}

static size_t read_text(const char *path, char *to)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, to, ROOM - 1);
    if (fd >= 0)
        close(fd);
    to[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

static bool is_there(const char *name)
{
    return exists(in_root(name));
}

static long files_below(const char *path)
{
    count_below(path, 0);
    return below.files + below.temps + below.others;
}

/* ---- Stores and records ---- */

static void open_root(struct store *s)
{
    open_store(s, in_root(""));
}

static bool get(struct store *s, const char *class_text, struct record *r, bool *rejected)
{
    memset(r, 0, sizeof *r);
    *rejected = true; /* to be set either way */
    return wisdom_get(s, &by, class_text, r, rejected);
}

static bool same(const struct record *a, const struct record *b)
{
    char x[RECORD_TEXT_MAX], y[RECORD_TEXT_MAX];
    struct text p = { x, sizeof x, 0 }, q = { y, sizeof y, 0 };
    record_print(a, &p);
    record_print(b, &q);
    return p.length == q.length && !memcmp(x, y, p.length);
}

static void test_better(void)
{
    static const struct {
        int a, b;
        int64_t a_date, b_date;
        bool better;
    } rows[] = { { CLATTN_TUNE_FULL, CLATTN_TUNE_QUICK, 1, 9, true },
                 { CLATTN_TUNE_QUICK, CLATTN_TUNE_FULL, 9, 1, false },
                 { CLATTN_TUNE_EXHAUSTIVE, CLATTN_TUNE_FULL, 1, 1, true },
                 { CLATTN_TUNE_FULL, CLATTN_TUNE_FULL, 2, 1, true },
                 { CLATTN_TUNE_FULL, CLATTN_TUNE_FULL, 1, 2, false },
                 { CLATTN_TUNE_FULL, CLATTN_TUNE_FULL, 1, 1, false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct record a = gold, b = gold;
        a.effort = rows[i].a, a.date = rows[i].a_date;
        b.effort = rows[i].b, b.date = rows[i].b_date;
        ok(wisdom_is_better(&a, &b) == rows[i].better, "effort %d of day %d is %sbetter than %d of day %d", rows[i].a,
           (int)rows[i].a_date, rows[i].better ? "" : "not ", rows[i].b, (int)rows[i].b_date);
    }
}

static void test_put_get(void)
{
    struct store s;
    struct record r;
    char text[ROOM];
    bool rejected;
    clean();
    open_root(&s);
    ok(!get(&s, CLASS, &r, &rejected) && !rejected, "an empty store has no record");
    ok(wisdom_put(&s, &gold), "a record is kept");
    ok(read_text(in_root(FILE_OF), text) == sizeof golden - 1 && !strcmp(text, golden), "as text, under its name");
    ok(get(&s, CLASS, &r, &rejected) && !rejected && same(&r, &gold), "and is found");
    ok(!get(&s, OTHER_CLASS, &r, &rejected) && !rejected, "not for another class");
    by.family++;
    ok(!get(&s, CLASS, &r, &rejected) && !rejected, "not for a newer family");
    by.family -= 2;
    ok(!get(&s, CLASS, &r, &rejected) && !rejected && is_there(FILE_OF), "not for an older one: it stays");
    by.family++;
    strcpy(by.driver, "another");
    ok(get(&s, CLASS, &r, &rejected) && !strcmp(r.by.driver, "3.1+debian"), "for another driver, whose record it is");
    strcpy(by.driver, gold.by.driver);
    strcpy(by.device, OTHER_DEVICE);
    ok(!get(&s, CLASS, &r, &rejected) && !rejected, "not for another device");
    strcpy(by.device, DEVICE);
    ok(!*told.last, "there was nothing to tell");
    store_clear(&s);
}

/* A sound record under a name that is not its own. */
static void test_moved(void)
{
    struct store s;
    struct record r;
    char text[ROOM];
    bool rejected;
    clean();
    open_root(&s);
    wisdom_put(&s, &gold);
    write_text(in_root("tune/" DEVICE_HALF "/" OTHER_HALF), golden);
    ok(!get(&s, OTHER_CLASS, &r, &rejected) && !rejected, "a record of another class under this one's name is none");
    compose(text, 1, "device " DEVICE_HALF "00000000000000000000000000000000\n", 72);
    write_text(in_root(FILE_OF), text);
    ok(!get(&s, CLASS, &r, &rejected) && !rejected, "nor is one of a device whose digest begins alike");
    ok(wisdom_put(&s, &gold) && get(&s, CLASS, &r, &rejected), "a new one takes its place");
    compose(text, 0, "clattn-tune 2\n", 14);
    write_text(in_root(FILE_OF), text);
    ok(!get(&s, CLASS, &r, &rejected) && !rejected && is_there(FILE_OF), "a later version's record is none, and stays");
    compose(text, 0, "clattn-tune 0\n", 14);
    write_text(in_root(FILE_OF), text);
    ok(!get(&s, CLASS, &r, &rejected) && !rejected && is_there(FILE_OF), "and so does an older version's");
    ok(wisdom_put(&s, &gold) && get(&s, CLASS, &r, &rejected), "a new one takes its place, too");
    struct record next = gold;
    next.by.family++;
    next.effort = CLATTN_TUNE_QUICK;
    next.date--;
    ok(wisdom_put(&s, &next) && !get(&s, CLASS, &r, &rejected) && !rejected, "and so does the next family's");
    store_clear(&s);
}

/* What is wrong with a blob: it is none, it is told, it is gone. */
static void unsound(struct store *s, const char *text, size_t n, const char *what)
{
    struct record r;
    bool rejected;
    write_file(in_root(FILE_OF), text, n);
    s->logged = 0;
    *told.last = '\0';
    ok(!get(s, CLASS, &r, &rejected) && rejected && !is_there(FILE_OF) && strstr(told.last, FILE_OF), "%s: %s", what,
       told.last);
}

static void test_unsound(void)
{
    struct store s;
    struct record r;
    char text[ROOM];
    const size_t n = sizeof golden - 1;
    int bad = 0;
    bool rejected;
    clean();
    open_root(&s);
    wisdom_put(&s, &gold);
    for (size_t i = 1; i < n; i++) {
        write_file(in_root(FILE_OF), golden, i);
        bad += get(&s, CLASS, &r, &rejected) || !rejected || is_there(FILE_OF);
    }
    is_int(bad, 0, "a record cut after each of its bytes is rejected and taken away");
    for (size_t i = 0; i < n; i++)
        for (int x = 1; x < 256; x *= 2) {
            strcpy(text, golden);
            text[i] = (char)(text[i] ^ x);
            write_file(in_root(FILE_OF), text, n);
            const bool version = i == 12 && text[i] >= '0' && text[i] <= '9'; /* as a later library writes it */
            bad += get(&s, CLASS, &r, &rejected) || rejected == version || is_there(FILE_OF) != version;
        }
    is_int(bad, 0, "and so is one with a bit turned");
    write_file(in_root(FILE_OF), "", 0);
    ok(!get(&s, CLASS, &r, &rejected), "an empty file is no record");
    snprintf(text, sizeof text, "%s%s", golden, golden);
    unsound(&s, text, 2 * n, "two records");
    snprintf(text, sizeof text, "%s\n", golden);
    unsound(&s, text, n + 1, "something behind it");
    snprintf(text, sizeof text, "# a\n%s", golden);
    unsound(&s, text, n + 4, "something before it");
    memset(text, 'x', sizeof text);
    write_file(in_root(FILE_OF), text, RECORD_TEXT_MAX + 1);
    ok(!get(&s, CLASS, &r, &rejected), "a large file is no record");
    compose(text, 6, "config MWG=1\" -I/etc\n", 21);
    unsound(&s, text, strlen(text), "a configuration of something else, with a good sum");
    write_text(in_root(FILE_OF), text);
    ok(wisdom_put(&s, &gold) && get(&s, CLASS, &r, &rejected), "a new one takes its place");
    s.log = NULL;
    write_text(in_root(FILE_OF), text);
    ok(!get(&s, CLASS, &r, &rejected) && rejected, "when nobody listens as well");
    s.read_only = true;
    write_text(in_root(FILE_OF), text);
    ok(!get(&s, CLASS, &r, &rejected) && rejected && is_there(FILE_OF), "where nothing may be written it stays");
    store_clear(&s);
}

/* Which of two records stays. */
static void test_worse(void)
{
    static const struct {
        const char *what;
        int old, new;
        int64_t old_date, new_date;
        const char *old_driver, *new_driver;
        int old_tries;
        bool kept;
    } rows[] = {
        { "more effort", CLATTN_TUNE_QUICK, CLATTN_TUNE_FULL, 5, 5, "1", "1", 0, true },
        { "more effort, before", CLATTN_TUNE_QUICK, CLATTN_TUNE_FULL, 5, 4, "1", "1", 0, true },
        { "less effort", CLATTN_TUNE_FULL, CLATTN_TUNE_QUICK, 5, 6, "1", "1", 0, false },
        { "as much, later", CLATTN_TUNE_FULL, CLATTN_TUNE_FULL, 5, 6, "1", "1", 0, true },
        { "as much, then", CLATTN_TUNE_FULL, CLATTN_TUNE_FULL, 5, 5, "1", "1", 0, true },
        { "as much, before", CLATTN_TUNE_FULL, CLATTN_TUNE_FULL, 5, 4, "1", "1", 0, false },
        { "less effort, in place of an unsettled one", CLATTN_TUNE_FULL, CLATTN_TUNE_QUICK, 5, 6, "1", "1", 1, true },
        { "less effort, in place of another driver's", CLATTN_TUNE_FULL, CLATTN_TUNE_QUICK, 5, 6, "2", "1", 0, true },
    };
    struct store s;
    struct record r;
    bool rejected;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct record old = gold, new = gold;
        old.effort = rows[i].old, old.date = rows[i].old_date, old.tries = rows[i].old_tries;
        new.effort = rows[i].new, new.date = rows[i].new_date;
        strcpy(old.by.driver, rows[i].old_driver);
        strcpy(new.by.driver, rows[i].new_driver);
        strcpy(new.config, "naive wg1");
        clean();
        open_root(&s);
        wisdom_put(&s, &old);
        const bool kept = wisdom_put(&s, &new);
        ok(kept == rows[i].kept && get(&s, CLASS, &r, &rejected) && same(&r, kept ? &new : &old),
           "%s %s", rows[i].what, rows[i].kept ? "takes the place" : "does not");
        store_clear(&s);
    }
}

/* A record that is not one: nothing is written. */
static void not_kept(struct store *s, const struct record *r, const char *what)
{
    ok(!wisdom_put(s, r) && !files_below(in_root("")), "%s is not kept", what);
}

/* `change` alters a copy of the golden record. */
#define NOT_KEPT(change)                                                                                               \
    do {                                                                                                               \
        struct record r = gold;                                                                                        \
        change;                                                                                                        \
        not_kept(&s, &r, #change);                                                                                     \
    } while (0)

static void test_hostile_put(void)
{
    struct store s;
    clean();
    open_root(&s);
    NOT_KEPT(r.by.family = -7);
    NOT_KEPT(strcpy(r.by.device, "../../../etc"));
    NOT_KEPT(r.by.device[0] = 'B');
    NOT_KEPT(r.by.device[64] = 'b');
    NOT_KEPT(memset(r.by.name, 'x', sizeof r.by.name));
    NOT_KEPT(memset(r.by.driver, 'x', sizeof r.by.driver));
    NOT_KEPT(strcpy(r.class_text, ""));
    NOT_KEPT(strcpy(r.class_text, "A"));
    NOT_KEPT(strcpy(r.class_text, "a\nconfig b"));
    NOT_KEPT(memset(r.class_text, 'x', sizeof r.class_text));
    NOT_KEPT(strcpy(r.config, ""));
    NOT_KEPT(strcpy(r.config, "MWG=1\" -I/etc"));
    NOT_KEPT(strcpy(r.config, "a\n"));
    NOT_KEPT(memset(r.config, 'x', sizeof r.config));
    NOT_KEPT(memset(r.lib, 'x', sizeof r.lib));
    NOT_KEPT(r.effort = CLATTN_TUNE_RECORD);
    NOT_KEPT(r.effort = 0);
    NOT_KEPT(r.tries = -1);
    NOT_KEPT(r.rounds = -1);
    NOT_KEPT(r.trials = INT32_MAX);
    store_clear(&s);
}

/* Of devices that are none nothing is kept, whatever is asked. */
static void test_hostile_devices(void)
{
    static const char *const devices[] = {
        "", "ab", "../../x", "B9AE17B7543AD24385CCA73117CA954EBB4648DE8FD93BC79D947B8314A36166",
        "b9ae17b7543ad24385cca73117ca954e/b4648de8fd93bc79d947b8314a36166", DEVICE "x" /* without an end */
    };
    struct store s;
    clean();
    open_root(&s);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct record_device who = by;
        struct record none;
        bool rejected = true;
        memset(who.device, 0, sizeof who.device);
        memcpy(who.device, devices[i], strlen(devices[i]));
        wisdom_drop(&s, &who, NULL);
        wisdom_drop(&s, &who, CLASS);
        wisdom_note(&s, &who, CLASS);
        wisdom_unnote(&s, &who, CLASS);
        wisdom_note(&s, &who, CLASS);
        wisdom_each(&s, &who, NULL, NULL);
        ok(!wisdom_get(&s, &who, CLASS, &none, &rejected) && !rejected &&
               !wisdom_noted(&s, &who, 0, none.class_text) && !files_below(in_root("")),
           "nothing is kept for a device '%s'", devices[i]);
    }
    store_clear(&s);
}

/* ---- Stores that keep nothing, or elsewhere ---- */

static void test_no_store(void)
{
    struct store s;
    struct record r;
    bool rejected;
    char class_text[CLASS_MAX];
    memset(&s, 0, sizeof s);
    ok(!wisdom_put(&s, &gold) && !get(&s, CLASS, &r, &rejected) && !rejected, "no store keeps no records");
    wisdom_note(&s, &by, CLASS);
    wisdom_drop(&s, &by, NULL);
    wisdom_drop(&s, &by, CLASS);
    wisdom_each(&s, &by, NULL, NULL);
    ok(!wisdom_noted(&s, &by, 0, class_text), "and no notes");
    clean();
    open_root(&s);
    s.read_only = true;
    wisdom_note(&s, &by, CLASS);
    ok(!wisdom_put(&s, &gold) && !files_below(in_root("")), "nor does one that only reads");
    s.read_only = false;
    wisdom_put(&s, &gold);
    s.read_only = true;
    wisdom_drop(&s, &by, NULL);
    wisdom_drop(&s, &by, CLASS);
    ok(get(&s, CLASS, &r, &rejected), "or forget");
    store_clear(&s);
}

static struct {
    char name[STORE_NAME_MAX], bytes[ROOM];
    size_t n;
} kept;

static int app_get(void *user, const char *name, void *bytes, size_t room, size_t *size)
{
    (void)user;
    if (strcmp(name, kept.name) || !kept.n)
        return 1;
    *size = kept.n;
    memcpy(bytes, kept.bytes, kept.n < room ? kept.n : room);
    return 0;
}

static int app_put(void *user, const char *name, const void *bytes, size_t size)
{
    (void)user;
    snprintf(kept.name, sizeof kept.name, "%s", name);
    if (size)
        memcpy(kept.bytes, bytes, size);
    kept.n = size;
    return 0;
}

static void test_application(void)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    const clattn_store calls = { sizeof calls, app_get, app_put, NULL };
    struct store s;
    struct record r;
    struct why why;
    bool rejected;
    memset(&s, 0, sizeof s);
    o.store = &calls;
    store_init(&s, &o, &why);
    ok(wisdom_put(&s, &gold) && !strcmp(kept.name, FILE_OF) && kept.n == sizeof golden - 1 &&
           !memcmp(kept.bytes, golden, kept.n),
       "an application keeps a record");
    ok(get(&s, CLASS, &r, &rejected) && same(&r, &gold), "and gives it back");
    kept.bytes[300] ^= 1;
    ok(!get(&s, CLASS, &r, &rejected) && rejected && !kept.n, "what it gives is checked, and taken away");
    wisdom_put(&s, &gold);
    wisdom_drop(&s, &by, CLASS);
    ok(!kept.n, "it forgets");
    store_clear(&s);
}

/* ---- All of a device ---- */

struct seen {
    struct store *s;
    int n, most;
    bool drops, wrong;
    char classes[8][CLASS_MAX];
};

static bool see(void *user, const struct record *r)
{
    struct seen *const seen = user;
    seen->wrong |= strcmp(r->by.device, by.device) || r->by.family != by.family;
    if (seen->n < 8)
        strcpy(seen->classes[seen->n], r->class_text);
    if (seen->drops)
        wisdom_drop(seen->s, &by, r->class_text);
    return ++seen->n < seen->most;
}

static void put_class(struct store *s, const char *class_text)
{
    struct record r = gold;
    snprintf(r.class_text, sizeof r.class_text, "%s", class_text);
    if (!wisdom_put(s, &r))
        bail("a record is not kept");
}

static void test_each(void)
{
    struct store s;
    struct seen seen = { &s, 0, 100, false, false, { "" } };
    struct record_device other = by;
    struct record r = gold;
    char text[ROOM];
    clean();
    open_root(&s);
    wisdom_each(&s, &by, see, &seen);
    is_int(seen.n, 0, "an empty store has none");
    put_class(&s, CLASS);
    put_class(&s, OTHER_CLASS);
    strcpy(other.device, OTHER_DEVICE);
    r.by = other;
    wisdom_put(&s, &r);
    write_text(in_root("tune/" DEVICE_HALF "/00000000000000000000000000000000"), golden); /* a copy */
    snprintf(text, sizeof text, "%s", golden);
    text[300] ^= 1;
    write_text(in_root("tune/" DEVICE_HALF "/00000000000000000000000000000001"), text);
    compose(text, 4, "family 8\n", 9);
    write_text(in_root("tune/" DEVICE_HALF "/00000000000000000000000000000002"), text);
    wisdom_each(&s, &by, see, &seen);
    ok(seen.n == 2 && !seen.wrong && strcmp(seen.classes[0], seen.classes[1]) &&
           (!strcmp(seen.classes[0], CLASS) || !strcmp(seen.classes[1], CLASS)),
       "all sound records of a device, each once");
    seen.n = 0, seen.most = 1;
    wisdom_each(&s, &by, see, &seen);
    is_int(seen.n, 1, "until it is enough");
    by.family++;
    seen.n = 0, seen.most = 100;
    wisdom_each(&s, &by, see, &seen);
    is_int(seen.n, 0, "none for another family");
    by.family--;
    seen.drops = true;
    wisdom_each(&s, &by, see, &seen);
    is_int(seen.n, 2, "they may be dropped on the way");
    seen.n = 0;
    wisdom_each(&s, &by, see, &seen);
    is_int(seen.n, 0, "then they are gone");
    store_clear(&s);
}

static void test_drop(void)
{
    struct store s;
    struct record_device other = by;
    struct record r = gold;
    bool rejected;
    clean();
    open_root(&s);
    put_class(&s, CLASS);
    put_class(&s, OTHER_CLASS);
    write_text(in_root("tune/" DEVICE_HALF "/00000000000000000000000000000001"), "damage");
    strcpy(other.device, OTHER_DEVICE);
    r.by = other;
    wisdom_put(&s, &r);
    wisdom_note(&s, &by, CLASS);
    wisdom_drop(&s, &by, CLASS);
    ok(!get(&s, CLASS, &r, &rejected) && get(&s, OTHER_CLASS, &r, &rejected), "one class is forgotten");
    wisdom_drop(&s, &by, CLASS);
    wisdom_drop(&s, &by, NULL);
    ok(!get(&s, OTHER_CLASS, &r, &rejected) && !files_below(in_root("tune/" DEVICE_HALF)), "all are");
    ok(wisdom_get(&s, &other, CLASS, &r, &rejected) && is_there(NOTE_OF), "not another device's, and no notes");
    store_clear(&s);
}

/* ---- As many as there may be ---- */

static void crowd(void)
{
    char text[ROOM], line[64];
    size_t n;
    for (int i = 0; i < RECORDS_MAX; i++) {
        n = (size_t)snprintf(line, sizeof line, "date 2024-%02d-%02dT00:00:%02dZ\n", i % 12 + 1, i / 12 % 28 + 1,
                             i / 336);
        if (i == 1234)
            n = (size_t)sprintf(line, "date 1999-01-01T00:00:00Z\n");
        n = compose(text, 10, line, n);
        write_file(in_scratch("root/tune/" DEVICE_HALF "/%032x", i), text, n);
    }
}

static void test_crowd(void)
{
    struct store s;
    struct record r;
    bool rejected;
    char text[ROOM];
    char many[SCRATCH_PATH];
    snprintf(many, sizeof many, "%.900s", in_root("tune/" DEVICE_HALF));
    clean();
    open_root(&s);
    crowd();
    memset(text, 'x', sizeof text);
    write_file(in_root("tune/" DEVICE_HALF "/00000000000000000000000000000300"), text, RECORD_TEXT_MAX + 1);
    is_int(files_below(many), RECORDS_MAX, "where there are %d records", (int)RECORDS_MAX);
    ok(wisdom_put(&s, &gold) && get(&s, CLASS, &r, &rejected) && files_below(many) == RECORDS_MAX,
       "a new one is kept, and there are no more than before");
    ok(!is_there("tune/" DEVICE_HALF "/000000000000000000000000000004d2") &&
           is_there("tune/" DEVICE_HALF "/00000000000000000000000000000300"),
       "the oldest one made room, not one that cannot be read now");
    ok(wisdom_put(&s, &gold) && files_below(many) == RECORDS_MAX, "in its own place it needs none");
    compose(text, 8, "effort quick\n", 13);
    write_text(in_root("tune/" DEVICE_HALF "/00000000000000000000000000000200"), text);
    put_class(&s, "a");
    ok(files_below(many) == RECORDS_MAX && !is_there("tune/" DEVICE_HALF "/00000000000000000000000000000200"),
       "one of less effort goes first");
    write_text(in_root("tune/" DEVICE_HALF "/00000000000000000000000000000100"), "damage");
    put_class(&s, OTHER_CLASS);
    ok(files_below(many) == RECORDS_MAX && !is_there("tune/" DEVICE_HALF "/00000000000000000000000000000100"),
       "and what cannot be read before all");
    if (rename(in_root("tune"), in_root("note")))
        bail("cannot rename %s", in_root("tune"));
    wisdom_note(&s, &by, "b");
    is_int(files_below(in_root("note")), RECORDS_MAX, "where there are as many notes there are no more");
    store_clear(&s);
}

/* ---- Notes ---- */

static int noted(struct store *s, char classes[8][CLASS_MAX])
{
    int n = 0;
    while (n < 8 && wisdom_noted(s, &by, (size_t)n, classes[n]))
        n++;
    return n;
}

static void test_notes(void)
{
    struct store s;
    char text[ROOM], classes[8][CLASS_MAX], again[8][CLASS_MAX];
    clean();
    open_root(&s);
    is_int(noted(&s, classes), 0, "nothing is noted at first");
    wisdom_note(&s, &by, CLASS);
    read_text(in_root(NOTE_OF), text);
    is_str(text, CLASS "\n", "a class is noted as a line of text");
    wisdom_note(&s, &by, OTHER_CLASS);
    wisdom_note(&s, &by, CLASS);
    ok(noted(&s, classes) == 2 && noted(&s, again) == 2 && !strcmp(classes[0], again[0]) &&
           !strcmp(classes[1], again[1]) && strcmp(classes[0], classes[1]) &&
           (!strcmp(classes[0], CLASS) || !strcmp(classes[1], CLASS)),
       "each once, in an order that stays");
    ok(!wisdom_noted(&s, &by, 2, text) && !wisdom_noted(&s, &by, SIZE_MAX, text), "there are no more");
    wisdom_unnote(&s, &by, CLASS);
    wisdom_unnote(&s, &by, CLASS);
    ok(noted(&s, classes) == 1 && !strcmp(classes[0], OTHER_CLASS), "one is forgotten");
    memset(text, 'a', sizeof text);
    text[CLASS_MAX - 1] = '\0';
    wisdom_note(&s, &by, text);
    is_int(noted(&s, classes), 2, "the longest class there can be");
    ok(!strcmp(classes[0], text) != !strcmp(classes[1], text), "is read whole");
    wisdom_note(&s, &by, "a");
    wisdom_note(&s, &by, "b");
    is_int(noted(&s, classes), 4, "and more");
    wisdom_unnote(&s, &by, "a");
    wisdom_unnote(&s, &by, "b");
    wisdom_unnote(&s, &by, text);
    text[CLASS_MAX - 1] = 'a';
    wisdom_note(&s, &by, text);
    wisdom_note(&s, &by, "");
    wisdom_note(&s, &by, "../../x\n");
    wisdom_note(&s, &by, "MWG=1\" -I/etc");
    is_int(files_below(in_root("note")), 1, "what is no class is not noted");
    store_clear(&s);
}

/* Notes that somebody damaged; the note of OTHER_CLASS is sound. */
static void test_hostile_notes(void)
{
    static const char *const texts[] = { "",          "\n",    CLASS,               CLASS "x", CLASS "\r\n",
                                         CLASS "\n\n", "F16\n", OTHER_CLASS "\n", "x" };
    struct store s;
    char text[ROOM], classes[8][CLASS_MAX];
    int bad = 0;
    clean();
    open_root(&s);
    wisdom_note(&s, &by, OTHER_CLASS);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(in_root(NOTE_OF), texts[i]);
        strcpy(classes[0], CLASS);
        strcpy(classes[1], CLASS);
        const int n = noted(&s, classes);
        if (n != 1 || strcmp(classes[0], OTHER_CLASS) || (*texts[i] && is_there(NOTE_OF)))
            diag("%d: '%s'", n, texts[i]), bad++;
    }
    write_file(in_root(NOTE_OF), CLASS "\0\n", sizeof CLASS + 1);
    bad += noted(&s, classes) != 1;
    memset(text, 'a', sizeof text);
    text[CLASS_MAX] = '\n';
    write_file(in_root(NOTE_OF), text, CLASS_MAX + 1);
    bad += noted(&s, classes) != 1;
    text[CLASS_MAX - 1] = '\n'; /* the longest that can be one, under another's name, and a byte more */
    for (size_t n = CLASS_MAX; n <= CLASS_MAX + 1; n++) {
        struct {
            char text[CLASS_MAX], guard[8];
        } room;
        size_t at = 0;
        memset(&room, 'g', sizeof room);
        write_file(in_root(NOTE_OF), text, n);
        while (at < 8 && wisdom_noted(&s, &by, at, room.text))
            at++;
        bad += at != 1 || memcmp(room.guard, "gggggggg", sizeof room.guard);
        text[CLASS_MAX - 1] = 'a';
        text[CLASS_MAX] = '\n';
    }
    is_int(bad, 0, "notes that are none are left out and taken away");
    write_text(in_root(NOTE_OF), "damage\n");
    wisdom_note(&s, &by, CLASS);
    read_text(in_root(NOTE_OF), text);
    is_str(text, CLASS "\n", "a new one takes their place");
    store_clear(&s);
}

/* ---- Without memory ---- */

static void test_memory(void)
{
    char class_text[CLASS_MAX];
    struct store s;
    long at, failed = 1;
    int bad = 0;
    clean();
    open_root(&s);
    wisdom_note(&s, &by, CLASS);
    for (at = 1; failed; at++) {
        wrap_arm(at, 0);
        const bool found = wisdom_noted(&s, &by, 0, class_text);
        failed = wrap.failed;
        wrap_disarm();
        bad += !found && !failed;
    }
    ok(at > 2 && !bad && is_there(NOTE_OF), "each of %ld allocations fails: no note is found, and none is lost",
       at - 2);
    wisdom_put(&s, &gold);
    for (at = 1, failed = 1; failed; at++) {
        struct record r;
        bool rejected;
        wrap_arm(at, 0);
        const bool found = get(&s, CLASS, &r, &rejected);
        failed = wrap.failed;
        wrap_disarm();
        bad += rejected || (!found && !failed);
    }
    ok(at > 2 && !bad && is_there(FILE_OF), "each of %ld allocations fails: no record is, and none is lost", at - 2);
    store_clear(&s);
}

int main(void)
{
    static struct why why;
    size_t used;
    scratch_begin("wisdom");
    if (record_read(&gold, golden, sizeof golden - 1, &used, &why))
        bail("%s", why.text);
    by = gold.by;
    test_better();
    test_put_get();
    test_moved();
    test_unsound();
    test_worse();
    test_hostile_put();
    test_hostile_devices();
    test_no_store();
    test_application();
    test_each();
    test_drop();
    test_crowd();
    test_notes();
    test_hostile_notes();
    test_memory();
    return scratch_end();
}
