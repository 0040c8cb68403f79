/* killed.c - writers of a store are killed at any moment, and the store stays sound
 * SPDX-License-Identifier: Apache-2.0
 *
 * This program starts itself again as a writer, which writes, marks, reads and trims without end. */
#include "config.h"

#include "src/cache/file.h"
#include "src/cache/store.h"
#include "tests/lib/process.h"
#include "tests/lib/tap.h"

#include <sys/stat.h>
#include <unistd.h>

enum { WRITERS = 12, TOGETHER = 3, NAMES = 6, BLOB_MAX = 300000, PATIENCE_MS = 30000, ROOM = 1000 };

static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static char root[ROOM];

static void open_store(struct store *s)
{
    static struct why why;
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.cache_dir = root;
    memset(s, 0, sizeof *s);
    store_init(s, &o, &why);
    if (store_is_none(s))
        bail("no store in %s: %s", root, why.text);
}

/* ---- Blobs: a length that the first bytes tell, and one value throughout ---- */

static const char *name_of(int i)
{
    static char name[STORE_NAME_MAX];
    snprintf(name, sizeof name, "bin/%02x/%.62s", i & 1, key);
    name[sizeof "bin/ab/" - 1] = (char)('0' + i);
    return name;
}

static unsigned char bytes[BLOB_MAX];

static size_t fill(uint32_t x)
{
    const uint32_t n = 8 + x % (BLOB_MAX - 8);
    memset(bytes, (int)(x >> 24), n);
    memcpy(bytes, &n, sizeof n);
    return n;
}

static int is_whole(const unsigned char *blob, size_t size)
{
    uint32_t n;
    memcpy(&n, blob, sizeof n);
    for (size_t i = 5; i < size; i++)
        if (blob[i] != blob[4])
            return 0;
    return n == size;
}

/* How many blobs there are; -1: one is in pieces. */
static int count_blobs(struct store *s)
{
    int found = 0;
    for (int i = 0; i < NAMES; i++) {
        unsigned char *blob;
        size_t n;
        if (!store_read(s, name_of(i), BLOB_MAX, &blob, &n))
            continue;
        const int whole = n >= 8 && is_whole(blob, n);
        free(blob);
        if (!whole)
            return -1;
        found++;
    }
    return found;
}

static int write_for_ever(uint32_t x)
{
    struct store s;
    open_store(&s);
    for (;; x = x * 1664525u + 1013904223u) {
        crash_guard_mark(&s, key);
        if (!store_write(&s, name_of((int)(x >> 16) % NAMES), bytes, fill(x), x >> 30 == 0))
            return 3;
        crash_guard_unmark(&s, key);
        if (x >> 28 == 0)
            store_trim(&s, true);
        if (count_blobs(&s) < 0)
            return 4;
    }
}

/* ---- What is left behind ---- */

static long temps, others;

/* Counts, with remove also removes, and makes temporary files old, as if their writers had been gone for hours. */
static bool remove_all, age_all;
static void look_into(const char *path);

static bool look(void *user, const struct folder *f, const char *leaf, const struct folder_entry *e)
{
    const char *const path = user;
    char below[ROOM];
    snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", leaf);
    if (e->kind == FOLDER_FOLDER) {
        look_into(below);
        return true;
    }
    temps += file_is_temp(leaf);
    others += e->kind != FOLDER_FILE;
    if (remove_all)
        folder_remove(f, leaf);
    else if (age_all && file_is_temp(leaf))
        file_set_time(f, leaf, file_now() - 3 * 60 * 60);
    return true;
}

static void look_into(const char *path)
{
    char whole[2 * ROOM];
    struct folder f;
    if (folder_open(&f, root, path, false))
        return;
    folder_each(&f, look, (char *)(uintptr_t)path);
    folder_close(&f);
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    if (remove_all && *path)
        rmdir(whole);
}

static void count_all(void)
{
    temps = others = 0;
    look_into("");
}

/* ---- Killing ---- */

static intptr_t start(const char *self, int i)
{
    char number[16];
    char *argv[] = { (char *)(uintptr_t)self, (char *)"--write", root, number, NULL };
    snprintf(number, sizeof number, "%d", 12345 + 7919 * i);
    return process_start(argv);
}

/* Waits until there is a blob, and then a little more, each time longer. */
static void let_it_write(struct store *s, int i)
{
    for (int ms = 0; count_blobs(s) == 0 && ms < PATIENCE_MS; ms += 5)
        process_sleep(5);
    process_sleep(37 * i % 101);
}

static void check_killed(const char *self)
{
    intptr_t running[TOGETHER];
    struct store s;
    open_store(&s);
    for (int i = 0; i < TOGETHER; i++)
        running[i] = start(self, i);
    for (int i = 0; i < WRITERS; i++) {
        let_it_write(&s, i);
        const int killed = process_kill(running[i % TOGETHER]), blobs = count_blobs(&s);
        ok(killed && blobs > 0 && !s.faults, "writer %d is killed, and what there is is whole", i);
        if (!killed || blobs <= 0 || s.faults)
            diag("it was %s; %d blobs, %llu faults", killed ? "there" : "gone", blobs, (unsigned long long)s.faults);
        if (i + TOGETHER < WRITERS)
            running[i % TOGETHER] = start(self, i + TOGETHER);
    }
    store_clear(&s);
}

/* What twelve dead writers left goes away, and a new one works as if nothing had been. */
static void check_afterwards(void)
{
    struct store s;
    open_store(&s);
    age_all = true;
    count_all();
    age_all = false;
    diag("%ld temporary files", temps);
    (void)crash_guard_is_poisoned(&s, key);
    crash_guard_unmark(&s, key);
    store_trim(&s, true);
    count_all();
    ok(!temps && !others && store_write(&s, name_of(0), bytes, fill(77), true) && count_blobs(&s) > 0 && !s.faults,
       "temporary files of the dead are gone after some hours, and all goes on");
    store_clear(&s);
}

static void find_root(void)
{
    static const char *const variables[] = { "TMPDIR", "TEMP", "HOME" };
    char random[17] = "";
    const char *base = NULL;
    for (int i = 0; i < 3 && !(base && folder_is_absolute(base)); i++)
        base = getenv(variables[i]);
    if (!base || !folder_is_absolute(base))
        base = "/tmp";
    if (file_random(random, 16) ||
        (size_t)snprintf(root, sizeof root, "%s/clattn-killed.%s", base, random) >= sizeof root - 200)
        bail("no directory in %s", base);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "--write")) {
        snprintf(root, sizeof root, "%s", argv[2]);
        return write_for_ever((uint32_t)strtoul(argv[3], NULL, 10));
    }
    find_root();
    check_killed(argv[0]);
    check_afterwards();
    remove_all = true;
    count_all();
    rmdir(root);
    return done_testing();
}
