/* binary_cache.c - binaries kept: what is damaged, foreign, hostile or known to crash is never handed out
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/cache/binary_cache.h"
#include "src/base/digest.h"
#include "tests/lib/scratch.h"
#include "tests/lib/forget_crashes.h"

static const char key[] = "clattn test key\nof two lines", other_key[] = "clattn test key\nof two LINES";
static const char binary[] = "a binary, as far as anyone knows: \x7f" "ELF\0\1\2\3";
enum { KEY_LEN = sizeof key - 1, BINARY_LEN = sizeof binary, HEADER = 72, SUM = 32, ROOM = 4096,
       ENTRY_LEN = HEADER + KEY_LEN + BINARY_LEN + SUM, HEAD = 4096, LONG_KEY = 3 << 20 };

static struct store store;
static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* ---- SHA-256: FIPS 180-2, appendix B, and the empty message ---- */

static void check_digest(void)
{
    static char million[1000000];
    unsigned char digest[DIGEST_BYTES];
    char hex[DIGEST_HEX];
    memset(million, 'a', sizeof million);
    const struct {
        const char *bytes;
        size_t n;
        const char *hex;
    } vectors[] = {
        { "", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { million, sizeof million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        digest_of(digest, vectors[i].bytes, vectors[i].n);
        digest_hex(hex, digest);
        is_str(hex, vectors[i].hex, "SHA-256 of %zu bytes", vectors[i].n);
    }
}

/* ---- Entries, written by the format and not by the library ---- */

struct made {
    unsigned char bytes[ROOM];
    size_t n;
};

static void number(unsigned char *to, int bytes, uint64_t x)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(x >> 8 * i);
}

static void seal(struct made *e)
{
    digest_of(e->bytes + e->n - SUM, e->bytes, e->n - SUM);
}

static void make_entry(struct made *e, const char *text)
{
    const size_t n = strlen(text);
    memset(e, 0, sizeof *e);
    e->n = HEADER + n + BINARY_LEN + SUM;
    memcpy(e->bytes, "CLATBIN\2", 8);
    number(e->bytes + 8, 4, 2);
    number(e->bytes + 12, 4, HEADER);
    digest_of(e->bytes + 16, text, n);
    number(e->bytes + 48, 8, n);
    number(e->bytes + 56, 8, BINARY_LEN);
    number(e->bytes + 64, 8, e->n);
    memcpy(e->bytes + HEADER, text, n);
    memcpy(e->bytes + HEADER + n, binary, BINARY_LEN);
    seal(e);
}

static const char *key_hex(const char *text)
{
    static char hex[DIGEST_HEX];
    unsigned char digest[DIGEST_BYTES];
    digest_of(digest, text, strlen(text));
    digest_hex(hex, digest);
    return hex;
}

static const char *path_of(const char *text)
{
    const char *const hex = key_hex(text);
    return in_scratch("root/bin/%.2s/%s", hex, hex + 2);
}

enum { MISS, HIT, REJECT, WRONG };

/* What a load comes to; a rejected entry must be gone unless the store is read-only. */
static int load(const char *text)
{
    unsigned char *got = NULL;
    size_t n = 0;
    bool rejected = true;
    if (!binary_cache_load(&store, text, &got, &n, &rejected))
        return !rejected ? MISS : store.read_only || !exists(path_of(text)) ? REJECT : WRONG;
    const int right = !rejected && n == BINARY_LEN && !memcmp(got, binary, n);
    free(got);
    return right ? HIT : WRONG;
}

static long long file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) ? -1 : (long long)st.st_size;
}

static int load_made(const struct made *e)
{
    write_file(path_of(key), e->bytes, e->n);
    return load(key);
}

/* Counted, since there are thousands of them: the first failure is told. */
struct tally {
    long bad, all;
    char first[160];
};

TAP_PRINTF(3, 4) static void expect(struct tally *t, int good, const char *format, ...)
{
    va_list ap;
    t->all++;
    if (good || t->bad++)
        return;
    va_start(ap, format);
    vsnprintf(t->first, sizeof t->first, format, ap);
    va_end(ap);
}

static void report(const struct tally *t, const char *what)
{
    ok(!t->bad && t->all, "%s (%ld tries)", what, t->all);
    if (t->bad)
        diag("%ld bad, first: %s", t->bad, t->first);
}

/* ---- Good ones ---- */

static void check_round_trip(void)
{
    struct made e;
    unsigned char *got = NULL, *large = malloc(3 << 20);
    char *const long_key = malloc(LONG_KEY + 1);
    size_t n;
    bool rejected;
    is_int(load(key), MISS, "an empty cache has nothing");
    ok(binary_cache_save(&store, key, binary, BINARY_LEN), "a binary is kept");
    is_int(load(key), HIT, "and found again");
    is_int(load(other_key), MISS, "another key finds nothing");
    make_entry(&e, key);
    got = malloc(ROOM);
    const int fd = open(path_of(key), O_RDONLY);
    n = fd < 0 ? 0 : (size_t)read(fd, got, ROOM);
    close(fd);
    ok(n == e.n && n == ENTRY_LEN && !memcmp(got, e.bytes, n), "the file is what the format says, byte by byte");
    free(got);
    is_int(load_made(&e), HIT, "an entry written by the format is taken");
    binary_cache_remove(&store, key);
    ok(load(key) == MISS && !exists(path_of(key)), "what is removed is gone");
    if (!large || !long_key)
        bail("no memory");
    for (size_t i = 0; i < 3 << 20; i++)
        large[i] = (unsigned char)next();
    ok(binary_cache_save(&store, key, large, 3 << 20) && binary_cache_load(&store, key, &got, &n, &rejected) &&
           n == 3 << 20 && !memcmp(got, large, n),
       "3 MiB come back");
    free(got);
    ok(binary_cache_save(&store, key, binary, BINARY_LEN) && load(key) == HIT, "a later binary takes its place");
    static const size_t lengths[] = { HEAD - 1, HEAD, HEAD + 1, 65535, 65536, 65537, LONG_KEY };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(long_key, 'k', lengths[i]);
        long_key[lengths[i]] = '\0';
        ok(binary_cache_save(&store, long_key, binary, BINARY_LEN) && load(long_key) == HIT &&
               file_size(path_of(long_key)) ==
                   (long long)(HEADER + (lengths[i] < HEAD ? lengths[i] : HEAD) + BINARY_LEN + SUM),
           "a key of %zu bytes is one, and its beginning kept", lengths[i]);
        long_key[lengths[i] - 1] = 'K';
        ok(load(long_key) == MISS, "another last byte finds nothing");
        long_key[lengths[i] - 1] = 'k';
    }
    ok(!binary_cache_save(&store, "", binary, BINARY_LEN) && load("") == MISS, "nor is none a key");
    ok(!binary_cache_save(&store, other_key, binary, 0) &&
           !binary_cache_save(&store, other_key, binary, BINARY_CACHE_MAX + 1u) && load(other_key) == MISS,
       "a binary of no bytes or too many is not kept");
    ok(!store.given_up && !store.faults && !told.lines, "and none of it is a fault");
    binary_cache_remove(&store, long_key);
    free(long_key);
    free(large);
}

/* Bytes that Python's hashlib and struct made: the format is no matter of what this library thinks of itself. */
static void check_golden(void)
{
    static const char hex[] =
        "434c415442494e0202000000480000008254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d"
        "7a010000000000000002000000000000006b000000000000006b00625f1a04d21284bc70c09e6f354a8e5ea8f3a6f3"
        "09210d1dbe378d2213791ce8d9";
    unsigned char bytes[sizeof hex / 2], *got = NULL;
    bool rejected = false;
    size_t n = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
    write_file(path_of("k"), bytes, sizeof bytes);
    ok(binary_cache_load(&store, "k", &got, &n, &rejected) && n == 2 && !memcmp(got, "\0b", 2) && !rejected,
       "an entry made by another program is taken");
    free(got);
    binary_cache_remove(&store, "k");
}

/* ---- Bad ones ---- */

static void check_truncated(void)
{
    struct tally t = { 0 };
    struct made e;
    make_entry(&e, key);
    const size_t whole = e.n;
    for (e.n = 0; e.n <= whole; e.n++) {
        const int got = load_made(&e);
        expect(&t, got == (e.n == whole ? HIT : e.n ? REJECT : MISS), "%zu of %zu bytes", e.n, whole);
    }
    report(&t, "cut off anywhere");
    memset(&t, 0, sizeof t);
    for (size_t n = SUM; n < whole; n++) {
        make_entry(&e, key);
        e.n = n;
        seal(&e);
        expect(&t, load_made(&e) == REJECT, "%zu of %zu bytes", n, whole);
    }
    report(&t, "cut off anywhere, with a hash that is right");
}

static void check_flips(void)
{
    struct tally t = { 0 };
    struct made good, e;
    make_entry(&good, key);
    for (size_t at = 0; at < good.n; at++)
        for (int bit = 0; bit < 9; bit++) {
            e = good;
            e.bytes[at] ^= (unsigned char)(bit < 8 ? 1 << bit : 0xff);
            expect(&t, load_made(&e) == REJECT, "byte %zu ^ %d", at, bit < 8 ? 1 << bit : 0xff);
        }
    report(&t, "one byte changed");
    memset(&t, 0, sizeof t);
    while (t.all < 10000) {
        e = good;
        for (uint64_t i = 0, n = 1 + next() % 16; i < n; i++)
            e.bytes[next() % e.n] = (unsigned char)next();
        if (memcmp(e.bytes, good.bytes, good.n))
            expect(&t, load_made(&e) == REJECT, "random change %ld", t.all);
    }
    report(&t, "some bytes changed at random");
}

/* Header numbers that lie, under a hash that is right. */
static void check_lengths(void)
{
    static const uint64_t values[] = { 0,
                                       1,
                                       31,
                                       32,
                                       72,
                                       104,
                                       ENTRY_LEN - 1,
                                       ENTRY_LEN + 1,
                                       UINT64_C(1) << 31,
                                       UINT32_MAX,
                                       UINT64_C(1) << 32,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX - ENTRY_LEN,
                                       UINT64_MAX - 103,
                                       UINT64_MAX - 1,
                                       UINT64_MAX };
    enum { N = sizeof values / sizeof *values };
    struct tally t = { 0 };
    struct made e;
    for (int at = 48; at <= 64; at += 8)
        for (int i = 0; i < N; i++) {
            make_entry(&e, key);
            number(e.bytes + at, 8, values[i]);
            seal(&e);
            expect(&t, load_made(&e) == REJECT, "%ju at %d", (uintmax_t)values[i], at);
        }
    report(&t, "a length that is wrong");
    make_entry(&e, key);
    e.n -= BINARY_LEN;
    number(e.bytes + 56, 8, 0);
    number(e.bytes + 64, 8, e.n);
    seal(&e);
    is_int(load_made(&e), REJECT, "an entry without a binary is rejected");
    memset(&t, 0, sizeof t);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 2; j++) { /* the sum comes out right, modulo 2^64 */
            make_entry(&e, key);
            number(e.bytes + (j ? 56 : 48), 8, values[i]);
            number(e.bytes + (j ? 48 : 56), 8, KEY_LEN + BINARY_LEN - values[i]);
            seal(&e);
            expect(&t, load_made(&e) == REJECT, "%ju and what is left", (uintmax_t)values[i]);
        }
    report(&t, "lengths that agree, modulo 2^64");
}

static void check_foreign(void)
{
    struct made e;
    make_entry(&e, other_key);
    is_int(load_made(&e), REJECT, "an entry of another key, moved here, is rejected");
    is_int(load(key), MISS, "and gone then");
    digest_of(e.bytes + 16, key, KEY_LEN);
    seal(&e);
    is_int(load_made(&e), REJECT, "another key text under the same digest is rejected");
    make_entry(&e, key);
    digest_of(e.bytes + 16, other_key, KEY_LEN);
    seal(&e);
    is_int(load_made(&e), REJECT, "as is the right text under another digest");
    make_entry(&e, key);
    number(e.bytes + 48, 8, KEY_LEN - 1);
    number(e.bytes + 56, 8, BINARY_LEN + 1);
    seal(&e);
    is_int(load_made(&e), REJECT, "and a key text that is the beginning of the right one");
}

/* A key is more than what a file has of it. */
static void check_long_foreign(void)
{
    static char mine[HEAD + 100], others[HEAD + 100];
    static unsigned char bytes[HEADER + HEAD + BINARY_LEN + SUM];
    char path[512];
    memset(mine, 'k', sizeof mine - 1);
    memset(others, 'k', sizeof others - 1);
    others[sizeof others - 2] = 'o';
    for (int i = 0; i < 3; i++) {
        ok(binary_cache_save(&store, others, binary, BINARY_LEN), "an entry of a long key");
        snprintf(path, sizeof path, "%s", path_of(others));
        const int fd = open(path, O_RDONLY);
        const ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
        close(fd);
        is_int(n, (long long)sizeof bytes, "is as long as it should be");
        if (i == 1) { /* the right length and beginning, and another digest */
            number(bytes + 48, 8, sizeof mine - 1);
        } else if (i == 2) { /* the right digest and beginning, and another length */
            digest_of(bytes + 16, mine, sizeof mine - 1);
            number(bytes + 48, 8, sizeof mine);
        }
        digest_of(bytes + sizeof bytes - SUM, bytes, sizeof bytes - SUM);
        write_file(path_of(mine), bytes, sizeof bytes);
        is_int(load(mine), REJECT, "of another with the same beginning, moved here, it is rejected: %d", i);
    }
    ok(binary_cache_save(&store, mine, binary, BINARY_LEN) && load(mine) == HIT, "its own is not");
    bytes[HEADER + 7] ^= 1;
    digest_of(bytes + 16, mine, sizeof mine - 1);
    number(bytes + 48, 8, sizeof mine - 1);
    digest_of(bytes + sizeof bytes - SUM, bytes, sizeof bytes - SUM);
    write_file(path_of(mine), bytes, sizeof bytes);
    is_int(load(mine), REJECT, "nor is one of another beginning taken");
    binary_cache_remove(&store, mine);
    binary_cache_remove(&store, others);
}

static void check_versions(void)
{
    static const struct {
        int at, bytes;
        uint64_t value;
        const char *what;
    } cases[] = { { 8, 4, 1, "version 1" },           { 8, 4, 3, "version 3" },
                  { 8, 4, 0, "version 0" },           { 8, 4, UINT32_MAX, "version -1" },
                  { 8, 4, 2u << 24, "version 2, the other way round" },
                  { 12, 4, 80, "a longer header" },   { 12, 4, 0, "no header" },
                  { 7, 1, 1, "magic 1" },             { 7, 1, 3, "magic 3" },
                  { 0, 1, 'X', "other magic" } };
    struct made e;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_entry(&e, key);
        number(e.bytes + cases[i].at, cases[i].bytes, cases[i].value);
        seal(&e);
        is_int(load_made(&e), REJECT, "%s is rejected", cases[i].what);
    }
}

static void check_garbage(void)
{
    static const size_t sizes[] = { 1, 7, 32, 104, 2000 };
    struct made good, e;
    struct tally t = { 0 };
    make_entry(&good, key);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int how = 0; how < 4; how++) {
            e = good;
            memset(e.bytes + e.n, 'g', sizes[i]);
            e.n += sizes[i];
            if (how & 1)
                number(e.bytes + 64, 8, e.n);
            if (how & 2)
                seal(&e);
            expect(&t, load_made(&e) == REJECT, "%zu bytes behind, %d", sizes[i], how);
        }
    report(&t, "garbage behind an entry");
    for (size_t i = 0; i < sizeof e.bytes; i++)
        e.bytes[i] = (unsigned char)next();
    e.n = sizeof e.bytes;
    is_int(load_made(&e), REJECT, "a file of noise is rejected");
    ok(told.lines <= 3, "the log has a few lines of all that (%d)", told.lines);
}

static void check_read_only(void)
{
    struct made e;
    make_entry(&e, key);
    store.read_only = true;
    is_int(load_made(&e), HIT, "a read-only store reads");
    e.bytes[100] ^= 1;
    is_int(load_made(&e), REJECT, "and rejects");
    ok(exists(path_of(key)), "but takes nothing away");
    ok(!binary_cache_save(&store, key, binary, BINARY_LEN), "nor puts anything there");
    store.read_only = false;
    is_int(load(key), REJECT, "as another does");
}

/* ---- What crashed ---- */

static int enter_and_die(void *user)
{
    binary_cache_enter(user, key);
    kill(getpid(), SIGKILL);
    return 1;
}

static void check_crash(void)
{
    ok(binary_cache_save(&store, key, binary, BINARY_LEN), "an entry");
    binary_cache_enter(&store, key);
    is_int(load(key), HIT, "is found while it is being tried");
    binary_cache_leave(&store, key);
    is_int(load(key), HIT, "and after");
    count_below(root, 0);
    is_int(below.marks, 0, "when nothing is left of the trial");
    is_int(in_child(enter_and_die, &store), -SIGKILL, "a process dies, of whatever");
    is_int(load(key), HIT, "it is still found");
    binary_cache_enter(&store, key);
    binary_cache_leave(&store, key);
    make_suspect(key_hex(key));
    is_int(in_child(enter_and_die, &store), -SIGKILL, "a second one");
    is_int(load(key), MISS, "then it is not found, without being rejected");
    ok(exists(path_of(key)), "nor taken away");
    ok(!binary_cache_save(&store, key, binary, BINARY_LEN), "nor made again");
    ok(binary_cache_save(&store, other_key, binary, BINARY_LEN) && load(other_key) == HIT, "another is as before");
    forget_crashes(&store);
    is_int(load(key), HIT, "once that is forgotten it is found again");
}

/* ---- Where the application keeps them ---- */

enum { HONEST, ABSENT, NOTHING, LARGER, ENDLESS, HUGE_SIZE, TOO_LARGE, FICKLE, FAILS_AFTER, SHRINKS, BEHAVIOURS };
static struct {
    int behaviour, puts, gets, removes, fail_puts;
    bool bad_name;
    unsigned char bytes[ROOM];
    size_t n;
} app;

static void check_name(const char *name)
{
    app.bad_name |= strlen(name) != 69 || strncmp(name, "bin/", 4) ||
                    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789/-.") != strlen(name);
}

static int app_get(void *user, const char *name, void *bytes, size_t room, size_t *size)
{
    (void)user;
    check_name(name);
    const size_t n = app.n < room ? app.n : room;
    app.gets++;
    memcpy(bytes, app.bytes, n);
    *size = app.n;
    switch (app.behaviour) {
    case HONEST: return !app.n;
    case ABSENT: return 1;
    case NOTHING: *size = 0; return 0;
    case LARGER: *size = app.n + 1000; return 0;
    case ENDLESS: *size = room + 1; return 0;
    case HUGE_SIZE: *size = SIZE_MAX; return 0;
    case TOO_LARGE: *size = (size_t)BINARY_CACHE_MAX * 2; return 0;
    case FICKLE: memset(bytes, app.gets, n); return 0;
    case FAILS_AFTER: return -5;
    case SHRINKS: *size = app.gets == 1 ? 1 << 20 : app.n - 3; return 0;
    }
    return 1;
}

static int app_put(void *user, const char *name, const void *bytes, size_t size)
{
    (void)user;
    check_name(name);
    app.puts++;
    app.removes += !size;
    if (app.fail_puts || size > ROOM)
        return 1;
    memcpy(app.bytes, bytes, size);
    app.n = size;
    return 0;
}

static void check_application(void)
{
    static const int want[BEHAVIOURS] = { HIT, MISS, MISS, REJECT, MISS, MISS, MISS, REJECT, MISS, REJECT };
    static struct why why;
    clattn_store calls = { sizeof calls, app_get, app_put, NULL };
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.store = &calls;
    o.cache_dir = in_scratch("unused");
    remove_tree(root);
    memset(&store, 0, sizeof store);
    memset(&told, 0, sizeof told);
    store.log = tell;
    store_init(&store, &o, &why);
    ok(!store_is_none(&store) && !*why.text && !store.root, "the application's calls are a store, without a directory");
    is_int(load(key), MISS, "nothing in it");
    ok(binary_cache_save(&store, key, binary, BINARY_LEN) && app.puts == 1 && app.n == ENTRY_LEN,
       "a binary is handed over");
    is_int(load(key), HIT, "and comes back");
    binary_cache_enter(&store, key);
    ok(in_child(enter_and_die, &store) == -SIGKILL && load(key) == HIT, "nothing is ever known to crash there");
    binary_cache_leave(&store, key);
    is_int(app.puts, 1, "since nothing but blobs is handed over");
    for (int b = 0; b < BEHAVIOURS; b++) {
        struct made e;
        make_entry(&e, key);
        memcpy(app.bytes, e.bytes, app.n = e.n);
        app.behaviour = b;
        app.gets = app.removes = 0;
        const int got = load(key);
        ok(got == want[b] && app.gets <= 4 && app.removes == (want[b] == REJECT), "get of kind %d: %s", b,
           want[b] == HIT ? "taken" : want[b] == MISS ? "a miss" : "rejected and removed");
    }
    app.fail_puts = 1;
    app.puts = 0;
    ok(!binary_cache_save(&store, key, binary, BINARY_LEN) && store.given_up && app.puts == 1, "a put fails");
    ok(!binary_cache_save(&store, key, binary, BINARY_LEN) && app.puts == 1, "and is not asked again");
    ok(!app.bad_name, "names are short and plain");
    ok(told.lines <= 3, "the log has a few lines of all that (%d)", told.lines);
    ok(!exists(in_scratch("unused")), "no directory was made");
    store_trim(&store, true);
    store_clear(&store);
}

static void check_lame_application(void)
{
    clattn_store calls = { sizeof calls, NULL, NULL, NULL };
    clattn_options o = CLATTN_OPTIONS_INIT;
    static struct why why;
    o.store = &calls;
    o.cache_dir = "";
    memset(&store, 0, sizeof store);
    store_init(&store, &o, &why);
    ok(store_is_none(&store), "calls that are not there are no store");
    o.cache_dir = in_scratch("unused");
    calls.put = app_put;
    store_init(&store, &o, &why);
    app.fail_puts = 0;
    ok(!store_is_none(&store) && load(key) == MISS && binary_cache_save(&store, key, binary, BINARY_LEN) && !store.root,
       "put alone is one");
    store_clear(&store);
    memset(&store, 0, sizeof store);
    calls = (clattn_store){ sizeof calls, app_get, NULL, NULL };
    app.behaviour = HONEST;
    store_init(&store, &o, &why);
    ok(load(key) == HIT && !binary_cache_save(&store, key, binary, BINARY_LEN) && !store.given_up && !store.root,
       "get alone is one to read");
    store_clear(&store);
    memset(&store, 0, sizeof store);
    calls.struct_size = 3;
    store_init(&store, &o, &why);
    ok(store_is_none(&store) && strstr(why.text, "struct_size"), "a struct of the wrong size is none, in words");
    store_clear(&store);
}

int main(void)
{
    scratch_begin("cache");
    check_digest();
    open_store(&store, root);
    check_round_trip();
    check_golden();
    check_truncated();
    check_flips();
    check_lengths();
    check_foreign();
    check_long_foreign();
    check_versions();
    check_garbage();
    check_read_only();
    check_crash();
    store_clear(&store);
    check_application();
    check_lame_application();
    return scratch_end();
}
