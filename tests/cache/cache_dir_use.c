/* cache_dir_use.c - the directory: which one it is, what becomes of it, and what happens where there is none
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/cache_fixture.h"

#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const problems[] = { "f32 b1 h2/1 q17 k37 d16 causal lse", "f32 b1 h1 q9 k20 d8 alibi lse" };
enum { PROBLEMS = sizeof problems / sizeof *problems, OTHERS = 65534 };

/* Makes the first problems' plans with a handle of these options. Returns how many are right and, unless it is
 * negative, made as `binary` says. */
static int run_some(const struct device *d, const clattn_options *o, int binary, char *why, size_t len)
{
    struct device n = cache_fixture_open(d, o);
    int good = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        struct cache_fixture_plan how;
        good += cache_fixture_run(&n, problems[i], CACHE_FIXTURE_SOONEST, &how, why, len) == 1 &&
                (binary < 0 || how.binary == binary);
    }
    cache_fixture_close(&n);
    return good;
}

/* ---- Which one ---- */

/* The variables that lead to a directory, and what they were. */
enum { VARIABLES = 3 };
static const char *const variables[VARIABLES] = { "CLATTN_CACHE_DIR", "XDG_CACHE_HOME", "HOME" };
struct before {
    char *value[VARIABLES];
};

static struct before keep_variables(void)
{
    struct before b;
    for (int i = 0; i < VARIABLES; i++)
        b.value[i] = getenv(variables[i]) ? strdup(getenv(variables[i])) : NULL;
    return b;
}

static void restore_variables(struct before *b)
{
    for (int i = 0; i < VARIABLES; i++) {
        if (b->value[i])
            setenv(variables[i], b->value[i], 1);
        else
            unsetenv(variables[i]);
        free(b->value[i]);
    }
}

/* Of the directories below `root`, only the one named shall get binaries; NULL: none. */
static void expect(const struct device *d, const char *root, const char *cache_dir, const char *want, const char *what)
{
    static const char *const places[] = { "given", "named", "xdg/clattn", "home/.cache/clattn" };
    clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, cache_dir);
    struct device n;
    clattn_cache_info info = { sizeof info, 0, 0, 0, 0, 0, 0, "" };
    struct cache_fixture_plan how;
    char why[512], whole[NEST_PATH + 64] = "";
    int wrong = 0;
    if (want)
        snprintf(whole, sizeof whole, "%s/%s", root, want);
    n = cache_fixture_open(d, &o);
    const int verdict = cache_fixture_run(&n, problems[0], CACHE_FIXTURE_SOONEST, &how, why, sizeof why);
    cache_fixture_close(&n);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char place[64];
        snprintf(place, sizeof place, "%s/bin", places[i]);
        wrong += (cache_fixture_each(root, place, NULL, NULL) > 0) != (want && !strcmp(want, places[i]));
    }
    ok(verdict == 1 && how.binary == (want ? CLATTN_BINARY_MISS : CLATTN_BINARY_NONE) && !wrong, "%s (%s)", what, why);
    ok(!clattn_cache_stat(&o, &info) && !strcmp(info.path, whole) && (info.binaries > 0) == (want != NULL),
       "%s: clattn_cache_stat() knows: '%s'", what, info.path);
    cache_fixture_remove(root);
    if (mkdir(root, 0700))
        bail("no directory");
}

static void test_which(const struct device *d)
{
    struct before before = keep_variables();
    char root[NEST_PATH], path[4][NEST_PATH + 8];
    cache_fixture_make(root);
    snprintf(path[0], sizeof path[0], "%s/given", root);
    snprintf(path[1], sizeof path[1], "%s/named", root);
    snprintf(path[2], sizeof path[2], "%s/xdg", root);
    snprintf(path[3], sizeof path[3], "%s/home", root);
    for (int i = 0; i < VARIABLES; i++)
        setenv(variables[i], path[i + 1], 1);
    expect(d, root, path[0], "given", "cache_dir wins");
    expect(d, root, "", NULL, "cache_dir \"\" is none");
    expect(d, root, NULL, "named", "then CLATTN_CACHE_DIR");
    setenv("CLATTN_CACHE_DIR", "off", 1);
    expect(d, root, path[0], "given", "cache_dir wins over CLATTN_CACHE_DIR=off");
    expect(d, root, NULL, NULL, "CLATTN_CACHE_DIR=off is none");
    setenv("CLATTN_CACHE_DIR", "", 1);
    expect(d, root, NULL, NULL, "CLATTN_CACHE_DIR= is none");
    unsetenv("CLATTN_CACHE_DIR");
    expect(d, root, NULL, "xdg/clattn", "then XDG_CACHE_HOME");
    setenv("XDG_CACHE_HOME", "relative", 1);
    expect(d, root, NULL, "home/.cache/clattn", "one that is relative counts for nothing");
    unsetenv("XDG_CACHE_HOME");
    expect(d, root, NULL, "home/.cache/clattn", "then HOME");
    unsetenv("HOME");
    expect(d, root, NULL, NULL, "without any of them there is none");
    restore_variables(&before);
    cache_fixture_remove(root);
}

/* ---- One that cannot be used ---- */

static void test_unusable(const struct device *d, const char *dir, const char *what)
{
    struct cache_fixture_log log = { 0, "" };
    clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, dir);
    struct device n;
    char why[512] = "";
    int good = 0;
    o.log = cache_fixture_listen;
    o.log_user = &log;
    n = cache_fixture_open(d, &o);
    for (int i = 0; i < 2 * PROBLEMS; i++) {
        struct cache_fixture_plan how;
        good +=
            cache_fixture_run(&n, problems[i % PROBLEMS], CACHE_FIXTURE_SOONEST, &how, why, sizeof why) == 1 &&
            (how.binary == CLATTN_BINARY_NONE || how.binary == (i < PROBLEMS ? CLATTN_BINARY_MISS : CLATTN_BINARY_HIT));
    }
    is_int(good, 2 * PROBLEMS, "%s: all is right (%s)", what, why);
    const clattn_counters c = cache_fixture_counters(n.handle);
    ok(!c.binary_hits && !c.binary_saves, "%s: nothing is loaded or saved", what);
    ok(log.lines >= (*dir ? 1 : 0) && log.lines <= 3, "%s: in %d lines: %s", what, log.lines, log.first);
    cache_fixture_close(&n);
}

static void test_rights(const struct device *d, const char *root)
{
    char dir[NEST_PATH + 32];
    snprintf(dir, sizeof dir, "%s/rights", root);
    if (mkdir(dir, 0700))
        bail("no directory");
    if (geteuid()) {
        chmod(dir, 0500);
        test_unusable(d, dir, "a directory that cannot be written to");
        skip("nothing can be given to another user without being root");
    } else {
        skip("root can write to any directory");
        if (chown(dir, OTHERS, OTHERS))
            skip("a directory cannot be given to another user");
        else
            test_unusable(d, dir, "another user's directory");
        if (chown(dir, 0, 0))
            bail("cannot take it back");
    }
    chmod(dir, 0770);
    test_unusable(d, dir, "a directory that a group may write to");
    chmod(dir, 0700);
    is_int(cache_fixture_each(dir, "", NULL, NULL), 0, "they stay as empty as they were");
}

static void test_all_unusable(const struct device *d)
{
    char root[NEST_PATH], path[NEST_PATH + 32], target[NEST_PATH + 32];
    size_t n;
    cache_fixture_make(root);
    snprintf(path, sizeof path, "%s/file", root);
    if (cache_fixture_write(path, "text", 4))
        bail("no file");
    test_unusable(d, path, "a file");
    char *text = cache_fixture_read(path, &n);
    is_str(text, "text", "which stays what it was");
    free(text);
    snprintf(path, sizeof path, "%s/file/below", root);
    test_unusable(d, path, "a directory below a file");
    snprintf(path, sizeof path, "%s/link", root);
    snprintf(target, sizeof target, "%s/target", root);
    if (mkdir(target, 0700) || symlink(target, path))
        bail("no link");
    test_unusable(d, path, "a symbolic link");
    is_int(cache_fixture_each(target, "", NULL, NULL), 0, "where it leads to nothing is written");
    test_unusable(d, "/proc/clattn", "a file system that makes no directories");
    test_unusable(d, "clattn-test-relative", "a relative one");
    ok(access("clattn-test-relative", F_OK), "is not made");
    test_unusable(d, "/", "the root of all files");
    test_unusable(d, "", "none");
    char *endless = calloc(1, 100001);
    if (!endless)
        bail("no memory");
    memset(endless, '/', 100000);
    for (int i = 1; i < 100000; i += 2)
        endless[i] = 'x';
    test_unusable(d, endless, "one with an endless name");
    free(endless);
    test_rights(d, root);
    cache_fixture_remove(root);
}

/* ---- What becomes of it ---- */

static void test_readonly(const struct device *d)
{
    char dir[NEST_PATH], why[512] = "";
    cache_fixture_make(dir);
    const clattn_options only = cache_fixture_options(CLATTN_TUNE_READONLY, dir),
                         off = cache_fixture_options(CLATTN_TUNE_OFF, dir);
    uint64_t before = cache_fixture_state(dir);
    is_int(run_some(d, &only, CLATTN_BINARY_MISS, why, sizeof why), PROBLEMS, "readonly, empty: all is right (%s)",
           why);
    ok(cache_fixture_state(dir) == before && !cache_fixture_each(dir, "", NULL, NULL), "readonly, empty: stays so");
    is_int(run_some(d, &off, CLATTN_BINARY_MISS, why, sizeof why), PROBLEMS, "binaries are made (%s)", why);
    before = cache_fixture_state(dir);
    is_int(run_some(d, &only, CLATTN_BINARY_HIT, why, sizeof why), PROBLEMS, "readonly, full: they are loaded (%s)",
           why);
    ok(cache_fixture_state(dir) == before, "readonly, full: not a bit has changed");
    cache_fixture_remove(dir);
    is_int(run_some(d, &only, CLATTN_BINARY_MISS, why, sizeof why), PROBLEMS, "readonly, absent: all is right (%s)",
           why);
    ok(access(dir, F_OK), "readonly, absent: stays so");
}

static void spoil(void *user, const char *file, size_t size)
{
    const char *const spoilt = "spoilt";
    (void)size;
    *(int *)user += cache_fixture_write(file, spoilt, strlen(spoilt));
}

/* What is damaged is not used, and not taken away either. */
static void test_readonly_damaged(const struct device *d)
{
    char dir[NEST_PATH], why[512] = "";
    int bad = 0;
    cache_fixture_make(dir);
    const clattn_options only = cache_fixture_options(CLATTN_TUNE_READONLY, dir),
                         off = cache_fixture_options(CLATTN_TUNE_OFF, dir);
    is_int(run_some(d, &off, CLATTN_BINARY_MISS, why, sizeof why), PROBLEMS, "binaries are made (%s)", why);
    cache_fixture_each(dir, "bin", spoil, &bad);
    const uint64_t before = cache_fixture_state(dir);
    ok(!bad && run_some(d, &only, CLATTN_BINARY_MISS, why, sizeof why) == PROBLEMS,
       "readonly, damaged: all is right (%s)", why);
    ok(cache_fixture_state(dir) == before, "readonly, damaged: stays so");
    cache_fixture_remove(dir);
}

static void test_small(const struct device *d)
{
    char dir[NEST_PATH], why[512] = "";
    cache_fixture_make(dir);
    for (int i = 0; i < 3; i++) {
        clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, dir);
        o.cache_max_size = i ? 1 : SIZE_MAX;
        is_int(run_some(d, &o, -1, why, sizeof why), PROBLEMS, "at most %zu bytes: all is right (%s)", o.cache_max_size,
               why);
    }
    cache_fixture_remove(dir);
}

struct total {
    uint64_t bytes;
};

static void add_size(void *user, const char *file, size_t size)
{
    struct total *t = user;
    (void)file;
    t->bytes += size;
}

static const char *const not_ours[] = { "notes.txt", "bin/notes.txt", "bin/ab/notes.txt", "tune/notes.txt" };
enum { NOT_OURS = sizeof not_ours / sizeof *not_ours };

static void add_others(const char *dir)
{
    static const char *const folders[] = { "bin", "bin/ab", "tune" };
    char path[NEST_PATH + 64];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
        mkdir(path, 0700);
    }
    for (int i = 0; i < NOT_OURS; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, not_ours[i]);
        if (cache_fixture_write(path, "mine", 4))
            bail("cannot write %s", path);
    }
}

static void test_others(const clattn_options *o, const char *dir, const clattn_cache_info *before)
{
    clattn_cache_info info = *before;
    char path[NEST_PATH + 64];
    add_others(dir);
    ok(!clattn_cache_stat(o, &info) && info.binaries == before->binaries && info.records == before->records,
       "stat: counts nothing that is not the library's (%d, %d)", (int)info.binaries, (int)info.records);
    is_int(clattn_cache_clear(o), CL_SUCCESS, "clear");
    ok(!clattn_cache_stat(o, &info) && !info.binaries && !info.binary_bytes && !info.records && !info.record_bytes &&
           !info.skipped,
       "clear: nothing is left");
    for (int i = 0; i < NOT_OURS; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, not_ours[i]);
        ok(!access(path, F_OK), "clear: what is not the library's stays: %s", not_ours[i]);
    }
}

static void test_stat(const struct device *d)
{
    char dir[NEST_PATH], why[512] = "";
    clattn_cache_info info = { sizeof info, 9, 9, 9, 9, 9, 9, "?" };
    struct total total = { 0 };
    cache_fixture_make(dir);
    clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, dir);
    ok(!clattn_cache_stat(&o, &info) && !strcmp(info.path, dir) && !info.binaries && !info.binary_bytes &&
           info.binary_max == 64 << 20 && !info.records && !info.record_bytes && !info.skipped,
       "stat: an empty one");
    is_int(run_some(d, &o, CLATTN_BINARY_MISS, why, sizeof why), PROBLEMS, "binaries are made (%s)", why);
    const int files = cache_fixture_each(dir, "bin", add_size, &total);
    o.cache_max_size = 12345;
    ok(!clattn_cache_stat(&o, &info) && (int)info.binaries == files && info.binary_bytes == total.bytes &&
           info.binary_max == 12345 && !info.records,
       "stat: %d binaries of %llu bytes", files, (unsigned long long)total.bytes);
    test_others(&o, dir, &info);
    is_int(run_some(d, &o, CLATTN_BINARY_MISS, why, sizeof why), PROBLEMS, "and it can be filled again (%s)", why);
    cache_fixture_remove(dir);
    ok(!clattn_cache_stat(&o, &info) && !info.binaries && !clattn_cache_clear(&o) && access(dir, F_OK),
       "stat and clear of one that is not there do not make it");
}

/* An output of another size than the library's. */
static void test_structs(void)
{
    struct {
        clattn_cache_info info;
        char more[8];
    } wide;
    clattn_options o = cache_fixture_options(0, "");
    memset(&wide, 0x77, sizeof wide);
    wide.info.struct_size = sizeof wide;
    ok(!clattn_cache_stat(&o, &wide.info) && !wide.info.binaries && !*wide.info.path && wide.more[0] == 0x77 &&
           wide.info.struct_size == sizeof wide,
       "stat: a longer struct keeps its tail");
    memset(&wide, 0x77, sizeof wide);
    wide.info.struct_size = offsetof(clattn_cache_info, records);
    ok(clattn_cache_stat(&o, &wide.info) == CLATTN_ERROR_INVALID_ARGUMENT &&
           wide.info.binary_bytes == 0x7777777777777777u,
       "stat: a size that there never was is refused, and nothing filled");
    wide.info.struct_size = 0;
    is_int(clattn_cache_stat(&o, &wide.info), CLATTN_ERROR_INVALID_ARGUMENT, "stat: struct_size 0 is refused");
    is_int(clattn_cache_stat(&o, NULL), CLATTN_ERROR_INVALID_ARGUMENT, "stat: info NULL is refused");
    o.struct_size = 0;
    is_int(clattn_cache_stat(&o, &wide.info), CLATTN_ERROR_INVALID_ARGUMENT, "stat: options of size 0 are refused");
    is_int(clattn_cache_clear(&o), CLATTN_ERROR_INVALID_ARGUMENT, "clear: options of size 0 are refused");
}

static void test_device(const struct device *d)
{
    test_which(d);
    test_all_unusable(d);
    test_readonly(d);
    test_readonly_damaged(d);
    test_small(d);
    test_stat(d);
}

int main(void)
{
    test_structs();
    return each_device(test_device);
}
