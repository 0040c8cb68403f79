/* damaged_binary.c - binaries that are not what was saved: found out, counted, and made again; whoever keeps them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/cache_fixture.h"

#include <limits.h>

static const char *const problems[] = { "f32 b1 h2/1 q17 k37 d16 causal lse",
                                        "f32 b1 h1 q33 k70 d8 mask:11qk blocks:16,16 lse" }; /* two programs */
enum { PROBLEMS = sizeof problems / sizeof *problems, FILES_MAX = 16 };

/* Runs all problems. Returns how many of their plans have this `binary`, or -1 and words when one is wrong. */
static int run_all(const struct device *n, int binary, char *why, size_t len)
{
    int count = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        struct cache_fixture_plan how;
        if (cache_fixture_run(n, problems[i], CACHE_FIXTURE_SOONEST, &how, why, len) != 1)
            return -1;
        count += how.binary == binary;
    }
    return count;
}

/* ---- Files ---- */

struct files {
    int n;
    char path[FILES_MAX][NEST_PATH];
    char *bytes[FILES_MAX];
    size_t size[FILES_MAX];
};

static void add_file(void *user, const char *file, size_t size)
{
    struct files *f = user;
    if (f->n == FILES_MAX || strlen(file) >= NEST_PATH)
        bail("more files than expected: %s", file);
    snprintf(f->path[f->n], NEST_PATH, "%s", file);
    f->bytes[f->n] = cache_fixture_read(file, &f->size[f->n]);
    if (!f->bytes[f->n] || f->size[f->n] != size)
        bail("cannot read %s", file);
    f->n++;
}

static void free_files(struct files *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->bytes[i]);
    f->n = 0;
}

/* How a file is damaged. */
struct damage {
    const char *what;
    double at;       /* the byte that is changed, as a part of all; below 0: none */
    double left;     /* the part that is left of the file */
    int least;       /* and bytes in any case */
    int foreign;     /* the bytes of the next file instead */
};
static const struct damage damages[] = {
    { "the first byte changed", 0, 1, 0, 0 },
    { "a byte near the beginning changed", 0.0005, 1, 0, 0 },
    { "a byte in the middle changed", 0.5, 1, 0, 0 },
    { "a byte near the end changed", 0.99, 1, 0, 0 },
    { "cut to one byte", -1, 0, 1, 0 },
    { "cut in half", -1, 0.5, 0, 0 },
    { "the last byte lost", -1, 1, -1, 0 },
    { "that of another problem under its name", -1, 1, 0, 1 },
};
enum { DAMAGES = sizeof damages / sizeof *damages };

static void damage(const struct files *f, int i, const struct damage *d)
{
    const int from = d->foreign ? (i + 1) % f->n : i;
    const size_t n = (size_t)((double)f->size[from] * d->left + d->least);
    char *bytes = malloc(f->size[from] + 1);
    if (!bytes)
        bail("no memory");
    memcpy(bytes, f->bytes[from], f->size[from]);
    if (d->at >= 0)
        bytes[(size_t)((double)n * d->at)] ^= 1;
    if (cache_fixture_write(f->path[i], bytes, n))
        bail("cannot write %s", f->path[i]);
    free(bytes);
}

static int differ(const struct files *a, const struct files *b)
{
    int count = a->n != b->n;
    for (int i = 0; i < a->n && i < b->n; i++)
        count += strcmp(a->path[i], b->path[i]) || a->size[i] != b->size[i];
    return count;
}

static void test_damage(const struct device *d, const char *dir, const struct damage *how)
{
    clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, dir);
    struct cache_fixture_log log = { 0, "" };
    struct files before = { .n = 0 }, after = { .n = 0 };
    char why[512] = "";
    cache_fixture_each(dir, "bin", add_file, &before);
    for (int i = 0; i < before.n; i++)
        damage(&before, i, how);
    o.log = cache_fixture_listen;
    o.log_user = &log;
    struct device n = cache_fixture_open(d, &o);
    is_int(run_all(&n, CLATTN_BINARY_MISS, why, sizeof why), PROBLEMS, "%s: all is right, and compiled (%s)", how->what,
           why);
    clattn_counters c = cache_fixture_counters(n.handle);
    is_int((long long)c.binary_rejects, before.n, "%s: each is counted", how->what);
    ok(!c.binary_hits && c.binary_saves >= (uint64_t)before.n && log.lines >= 1 && log.lines <= 2,
       "%s: and saved again, in %d lines: %s", how->what, log.lines, log.first);
    cache_fixture_close(&n);
    cache_fixture_each(dir, "bin", add_file, &after);
    is_int(differ(&before, &after), 0, "%s: the files are there again", how->what);
    n = cache_fixture_open(d, &o);
    is_int(run_all(&n, CLATTN_BINARY_HIT, why, sizeof why), PROBLEMS, "%s: and loaded (%s)", how->what, why);
    c = cache_fixture_counters(n.handle);
    ok(!c.compiles && !c.binary_rejects, "%s: nothing was compiled", how->what);
    cache_fixture_close(&n);
    free_files(&before);
    free_files(&after);
}

/* No bytes at all: not even damaged. */
static void test_empty(const struct device *d, const char *dir)
{
    const clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, dir);
    struct files f = { .n = 0 };
    char why[512] = "";
    cache_fixture_each(dir, "bin", add_file, &f);
    for (int i = 0; i < f.n; i++)
        if (cache_fixture_write(f.path[i], "", 0))
            bail("cannot write");
    free_files(&f);
    for (int i = 0; i < 2; i++) {
        struct device n = cache_fixture_open(d, &o);
        is_int(run_all(&n, i ? CLATTN_BINARY_HIT : CLATTN_BINARY_MISS, why, sizeof why), PROBLEMS,
               "empty files, %s (%s)", i ? "and after that" : "all is right", why);
        cache_fixture_close(&n);
    }
}

static void test_files(const struct device *d)
{
    char dir[NEST_PATH], why[512] = "";
    cache_fixture_make(dir);
    const clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, dir);
    struct device n = cache_fixture_open(d, &o);
    is_int(run_all(&n, CLATTN_BINARY_MISS, why, sizeof why), PROBLEMS, "some binaries (%s)", why);
    cache_fixture_close(&n);
    for (int i = 0; i < DAMAGES; i++)
        test_damage(d, dir, &damages[i]);
    test_empty(d, dir);
    cache_fixture_remove(dir);
}

/* ---- An application that keeps them ---- */

enum { BLOBS_MAX = 64 };
struct keeper {
    int n, gets, puts, bad_names, bad_puts;
    struct {
        char name[200];
        char *bytes;
        size_t size;
    } blob[BLOBS_MAX];
    enum { HONEST, ABSENT, GARBAGE, SHORT, LONG, GROWING, ENDLESS, NOTHING, FLIPPED, ANOTHER, HOWS } how;
    int refuses; /* put fails */
};

static const char *const hows[HOWS] = { "honest",
                                        "without anything",
                                        "that gives garbage",
                                        "that says less than it gives",
                                        "that says more than it gives",
                                        "that says more each time",
                                        "that says more than there is memory",
                                        "that gives nothing and says so",
                                        "that changes a bit",
                                        "that gives another's" };

static int find(const struct keeper *k, const char *name)
{
    for (int i = 0; i < k->n; i++)
        if (!strcmp(k->blob[i].name, name))
            return i;
    return -1;
}

static int is_name(const char *name)
{
    static const char bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-.";
    return *name && *name != '/' && strlen(name) < 200 && !name[strspn(name, bytes)] && !strstr(name, "..");
}

static size_t claim(const struct keeper *k, size_t size, size_t room)
{
    switch (k->how) {
    case SHORT: return size / 2;
    case LONG: return size + 1;
    case GROWING: return room + 1;
    case ENDLESS: return SIZE_MAX;
    case NOTHING: return 0;
    default: return size;
    }
}

static int get(void *user, const char *name, void *bytes, size_t room, size_t *size)
{
    struct keeper *k = user;
    int i = find(k, name);
    k->gets++;
    k->bad_names += !is_name(name);
    if (i < 0 || k->how == ABSENT)
        return 1;
    if (k->how == ANOTHER)
        i = (i + 1) % k->n;
    *size = claim(k, k->blob[i].size, room);
    const size_t n = k->blob[i].size < room ? k->blob[i].size : room;
    if (k->how == GARBAGE)
        memset(bytes, 0xa5, n);
    else
        memcpy(bytes, k->blob[i].bytes, n);
    if (k->how == FLIPPED)
        ((char *)bytes)[n / 2] ^= 4;
    return 0;
}

static int put(void *user, const char *name, const void *bytes, size_t size)
{
    struct keeper *k = user;
    int i = find(k, name);
    k->puts++;
    k->bad_names += !is_name(name);
    k->bad_puts += !bytes;
    if (k->refuses)
        return -1;
    if (i < 0 && size) {
        if (k->n == BLOBS_MAX)
            return -1;
        i = k->n++;
        memset(&k->blob[i], 0, sizeof k->blob[i]);
        snprintf(k->blob[i].name, sizeof k->blob[i].name, "%s", name);
    }
    if (i < 0)
        return 0;
    free(k->blob[i].bytes);
    k->blob[i].size = size;
    if (!(k->blob[i].bytes = malloc(size + 1)))
        bail("no memory");
    memcpy(k->blob[i].bytes, bytes, size);
    if (!size) { /* the last one takes its place */
        free(k->blob[i].bytes);
        k->blob[i] = k->blob[--k->n];
    }
    return 0;
}

static void forget(struct keeper *k)
{
    while (k->n)
        free(k->blob[--k->n].bytes);
}

/* Each gets its own handle; all shall be right. `rejects`: how many counted. */
static void run_kept(const struct device *d, struct keeper *k, int binary, long long rejects, const char *what)
{
    const clattn_store store = { sizeof store, get, put, k };
    clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, NULL);
    char why[512] = "";
    o.store = &store;
    struct device n = cache_fixture_open(d, &o);
    is_int(run_all(&n, binary, why, sizeof why), PROBLEMS, "an application %s: all is right (%s)", what, why);
    const clattn_counters c = cache_fixture_counters(n.handle);
    if (rejects >= 0)
        is_int((long long)c.binary_rejects, rejects, "an application %s: so many are thrown away", what);
    cache_fixture_close(&n);
}

static void test_kept(const struct device *d)
{
    struct keeper k = { .how = HONEST };
    run_kept(d, &k, CLATTN_BINARY_MISS, 0, "honest, and empty");
    const int n = k.n;
    ok(n >= PROBLEMS && k.gets >= n, "it was asked for %d binaries and given %d", k.gets, n);
    run_kept(d, &k, CLATTN_BINARY_HIT, 0, "honest, and full");
    for (k.how = ABSENT; k.how < HOWS; k.how++) {
        const int missing = k.how == ABSENT || k.how == GROWING || k.how == ENDLESS || k.how == NOTHING;
        run_kept(d, &k, CLATTN_BINARY_MISS, missing ? 0 : n, hows[k.how]);
    }
    k.how = HONEST;
    run_kept(d, &k, CLATTN_BINARY_HIT, 0, "that is honest again");
    is_int(k.bad_names, 0, "every name is made of what clattn.h says");
    is_int(k.bad_puts, 0, "and no blob is NULL");
    forget(&k);
    k.refuses = 1;
    k.puts = 0;
    run_kept(d, &k, CLATTN_BINARY_MISS, 0, "that keeps nothing");
    ok(k.puts >= 1, "which was asked to: %d", k.puts);
}

/* One of the two callbacks, and a struct_size that is none. */
static void test_halves(const struct device *d)
{
    struct keeper k = { .how = HONEST };
    clattn_store store = { sizeof store, get, NULL, &k };
    clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, NULL);
    struct cache_fixture_plan how;
    char why[512];
    for (int i = 0; i < 4; i++) {
        store.get = i % 2 ? NULL : get;
        store.put = i / 2 ? NULL : put;
        o.store = &store;
        o.cache_dir = "";
        struct device n = cache_fixture_open(d, &o);
        ok(cache_fixture_run(&n, problems[0], CACHE_FIXTURE_SOONEST, &how, why, sizeof why) == 1,
           "an application that can%s get and can%s put (%s)", i % 2 ? "not" : "", i / 2 ? "not" : "", why);
        cache_fixture_close(&n);
    }
    forget(&k);
    store.struct_size = 0;
    clattn_handle h = (clattn_handle)&k;
    is_int(clattn_create(&h, d->cl.context, d->cl.device, &o), CLATTN_ERROR_INVALID_ARGUMENT, "a store of size 0");
    ok(!h, "gives no handle");
}

static void test_device(const struct device *d)
{
    test_files(d);
    test_kept(d);
    test_halves(d);
}

int main(void)
{
    return each_device(test_device);
}
