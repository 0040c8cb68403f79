/* store.c - named blobs: written, read, walked, trimmed
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/cache/store.h"
#include "tests/lib/scratch.h"

#include <pthread.h>
#include <sys/statvfs.h>

static char noise[1 << 20];

/* "bin/00/000..": the i-th binary. */
static const char *blob(int i)
{
    static char names[4][80];
    static int turn;
    char *const name = names[turn = (turn + 1) % 4];
    snprintf(name, sizeof *names, "bin/%02x/%062x", i % 256, i);
    return name;
}

/* ---- Writing and reading ---- */

static void check_round_trip(void)
{
    static const size_t sizes[] = { 1, 2, 4095, 4096, 4097, sizeof noise };
    struct store s;
    unsigned char *got;
    size_t n;
    open_fresh(&s);
    ok(!store_read(&s, blob(0), 100, &got, &n) && !exists(root), "reading makes nothing");
    store_remove(&s, blob(0));
    store_trim(&s, true);
    ok(!exists(root) && !s.faults, "nor do removing and trimming, and absence is no fault");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ok(store_write(&s, blob(0), noise, sizes[i], i % 2) && holds(&s, blob(0), noise, sizes[i]),
           "%zu bytes, in place of the ones before", sizes[i]);
    ok(store_write(&s, "tune/0123/4567", noise, 100, true) && holds(&s, "tune/0123/4567", noise, 100) &&
           store_write(&s, "a", "x", 1, false) && holds(&s, "a", "x", 1),
       "names of one and of three parts");
    ok(!store_read(&s, "tune/89/ab", 100, &got, &n) && !exists(in_root("tune/89")), "nor does reading make folders");
    ok(store_read(&s, "tune/0123/4567", 100, &got, &n), "as many bytes as there may be at most");
    free(got);
    ok(!store_read(&s, "tune/0123/4567", 99, &got, &n), "but not more");
    ok(!store_write(&s, "b", "x", 0, false) && !exists(in_root("b")), "no blob is empty");
    count_below(root, 0);
    ok(below.files == 4 && !below.temps && !below.others, "three blobs, the tag, and nothing else");
    store_remove(&s, blob(0));
    ok(!exists(in_root(blob(0))) && !store_read(&s, blob(0), 100, &got, &n), "removed");
    ok(!s.given_up && told.lines <= 1, "one line for the one that was too large");
    store_clear(&s);
    ok(store_is_none(&s) && !store_write(&s, "a", "x", 1, false), "a store that was cleared is none");
}

/* A line of the log is whole, in a long directory too. */
static void check_lines(void)
{
    const char *const deep = in_scratch("%0200d/%0200d/%0200d", 1, 2, 3);
    struct store s;
    unsigned char *got;
    size_t n;
    write_file(in_scratch("%0200d/%0200d/%0200d/bin/ab/x", 1, 2, 3), "x", 1);
    if (chmod(in_scratch("%0200d/%0200d/%0200d/bin", 1, 2, 3), 0777))
        bail("no chmod");
    open_store(&s, deep);
    ok(!store_read(&s, "bin/ab/x", 10, &got, &n) && told.lines == 1 && strstr(told.last, "writable by others"),
       "a folder that others can write to is reported: %s", told.last);
    store_clear(&s);
}

static void check_deep(void)
{
    struct store s;
    open_store(&s, in_scratch("a/b/c/d/e/f/g/h/i/j/k/l//m/n"));
    ok(store_write(&s, "bin/ab/x", "x", 1, false) && holds(&s, "bin/ab/x", "x", 1) && !s.faults,
       "a directory far below what is there");
    store_clear(&s);
}

static void check_tag(void)
{
    struct store s;
    char text[64] = "";
    open_fresh(&s);
    store_write(&s, "a", "x", 1, false);
    const int fd = open(in_root("CACHEDIR.TAG"), O_RDONLY);
    ok(fd >= 0 && read(fd, text, 43) == 43 && !strcmp(text, "Signature: 8a477f597d28d172789f06886806bc55"),
       "CACHEDIR.TAG says what it has to");
    close(fd);
    write_file(in_root("CACHEDIR.TAG"), "mine", 4);
    ok(store_write(&s, "a", "x", 1, false) && holds(&s, "CACHEDIR.TAG", "mine", 4),
       "one that is there is left as it is");
    store_clear(&s);
}

struct masked {
    mode_t mask;
};

static int write_masked(void *user)
{
    struct store s;
    umask(((struct masked *)user)->mask);
    open_store(&s, in_scratch("plain/deep/er/top"));
    const int good = store_write(&s, "bin/ab/c", "x", 1, true) && holds(&s, "bin/ab/c", "x", 1) &&
                     mode_of(in_scratch("plain/deep")) == 0700 && mode_of(in_scratch("plain/deep/er/top")) == 0700 &&
                     mode_of(in_scratch("plain/deep/er/top/bin/ab")) == 0700 &&
                     mode_of(in_scratch("plain/deep/er/top/bin/ab/c")) == 0600 &&
                     mode_of(in_scratch("plain/deep/er/top/CACHEDIR.TAG")) == 0600;
    store_clear(&s);
    return !good;
}

static void check_modes(void)
{
    static const mode_t masks[] = { 0, 022, 077, 0277, 0777 };
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        struct masked m = { masks[i] };
        make_folder(in_scratch("plain"));
        hand_over(in_scratch("plain"));
        const int status = in_plain_child(write_masked, &m);
        if (status == CANNOT)
            skip("nobody else can reach %s", scratch);
        else
            is_int(status, 0, "folders are 0700 and files 0600, whatever the umask: %03o", (unsigned)masks[i]);
        remove_tree(in_scratch("plain"));
    }
}

static void check_names(void)
{
    static const char *const bad[] = { "",         "/",     "/a",          "a/",        "a//b",     ".",         "..",
                                       "../x",     "bin/.", "bin/../../x", "a/b/c/d",   ".x",       "bin/.x/y",  "a b",
                                       "a\nb",     "a\\b",  "caf\xc3\xa9", "a/b/c/",    "bin/..",   "~",         "a_b",
                                       "a/./b",    "*",     "$x",          "//",        ".tmp-x",   "a/.tmp-x" };
    struct store s;
    unsigned char *got;
    size_t n;
    char longest[STORE_NAME_MAX + 1];
    int taken = 0;
    open_fresh(&s);
    write_file(in_scratch("x"), "x", 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        store_remove(&s, bad[i]);
        taken += store_write(&s, bad[i], "x", 1, false) || store_read(&s, bad[i], 10, &got, &n);
    }
    ok(!taken && !exists(root) && exists(in_scratch("x")) && !s.given_up, "names that lead elsewhere are no names");
    memset(longest, 'a', sizeof longest);
    longest[STORE_NAME_MAX] = '\0';
    ok(!store_write(&s, longest, "x", 1, false), "nor is one that is too long");
    longest[STORE_NAME_MAX - 1] = '\0';
    ok(store_write(&s, longest, "x", 1, false) && holds(&s, longest, "x", 1), "one less is");
    store_clear(&s);
}

static void check_read_only(void)
{
    struct store s;
    open_fresh(&s);
    s.read_only = true;
    crash_guard_mark(&s, "0000000000000000000000000000000000000000000000000000000000000000");
    ok(!store_write(&s, "a", "x", 1, false) && !exists(root) && !s.given_up, "a read-only store makes nothing");
    write_file(in_root(blob(1)), "x", 1);
    set_age(in_root(blob(1)), 3 * DAY);
    chmod(root, 0700);
    store_remove(&s, blob(1));
    store_trim(&s, true);
    count_below(root, 0);
    ok(holds(&s, blob(1), "x", 1) && below.files == 1 && age_of(in_root(blob(1))) > 2 * DAY,
       "it reads, and that is all");
    store_clear(&s);
}

/* ---- When a blob was used ---- */

static void check_refresh(void)
{
    static const struct {
        int64_t age;
        int renewed;
        const char *name;
    } cases[] = { { 2 * DAY, 1, "bin/ab/x" }, { HOUR, 0, "bin/ab/x" },       { -2 * DAY, 1, "bin/ab/x" },
                  { 400 * DAY, 1, "bin/c/x" }, { -400 * DAY, 1, "bin/c/x" }, { 2 * DAY, 0, "tune/ab/x" },
                  { DAY + HOUR, 1, "bin/ab/x" }, { DAY - HOUR, 0, "bin/ab/x" },
                  { -DAY - HOUR, 1, "bin/ab/x" }, { HOUR - DAY, 0, "bin/ab/x" } };
    struct store s;
    open_fresh(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        store_write(&s, cases[i].name, "x", 1, false);
        set_age(in_root(cases[i].name), cases[i].age);
        const int read = holds(&s, cases[i].name, "x", 1);
        const int64_t age = age_of(in_root(cases[i].name));
        ok(read && (cases[i].renewed ? age > -HOUR / 2 && age < HOUR / 2
                                     : age > cases[i].age - 60 && age < cases[i].age + HOUR),
           "%s of %d hours is %s by reading it", cases[i].name, (int)(cases[i].age / HOUR),
           cases[i].renewed ? "renewed" : "left");
    }
    store_clear(&s);
}

/* ---- Walking ---- */

struct seen {
    struct store *s; /* removes what it sees, unless NULL */
    char names[1024];
    uint64_t bytes;
    int count, stop_at;
};

static bool see(void *user, const char *name, uint64_t bytes)
{
    struct seen *const x = user;
    x->count++;
    x->bytes += bytes;
    strncat(x->names, " ", sizeof x->names - strlen(x->names) - 1);
    strncat(x->names, name, sizeof x->names - strlen(x->names) - 1);
    if (x->s)
        store_remove(x->s, name);
    return x->count != x->stop_at;
}

static void check_walk(void)
{
    struct seen x = { .count = 0 };
    struct store s;
    open_fresh(&s);
    store_walk(&s, "tune", see, &x);
    is_int(x.count, 0, "nothing to see where nothing is");
    store_write(&s, "tune/0123/a", "12345", 5, false);
    store_write(&s, "tune/0123/b", "1", 1, false);
    store_write(&s, "tune/4567/a", "12", 2, false);
    store_write(&s, "tune/c", "123", 3, false);
    store_write(&s, "bin/ab/x", "1", 1, false);
    write_file(in_root("tune/0123/.tmp-0123456789abcdef0123456789abcdef"), "t", 1);
    write_file(in_root("tune/0123/not ours"), "t", 1);
    write_file(in_scratch("root/tune/0123/%0200d", 0), "too long", 8);
    write_file(in_root("tune/0123/open"), "t", 1);
    if (chmod(in_root("tune/0123/open"), 0666) || mkfifo(in_root("tune/0123/fifo"), 0600))
        bail("no FIFO");
    write_file(in_root("tune/0123/deeper/a"), "t", 1);
    write_file(in_scratch("elsewhere/a"), "t", 1);
    if (symlink(in_scratch("elsewhere"), in_root("tune/link")) ||
        symlink(in_scratch("elsewhere/a"), in_root("tune/0123/link")))
        bail("no symbolic links");
    store_walk(&s, "tune", see, &x);
    ok(x.count == 4 && x.bytes == 11 && strstr(x.names, " tune/0123/a") && strstr(x.names, " tune/0123/b") &&
           strstr(x.names, " tune/4567/a") && strstr(x.names, " tune/c"),
       "a walk sees every blob of a folder and of those in it");
    if (x.count != 4)
        diag("saw%s", x.names);
    x = (struct seen){ .count = 0 };
    store_walk(&s, "tune/0123", see, &x);
    is_int(x.count, 2, "or of one of those");
    x = (struct seen){ .stop_at = 2 };
    store_walk(&s, "tune", see, &x);
    is_int(x.count, 2, "it ends when told to");
    x = (struct seen){ .s = &s };
    store_walk(&s, "tune", see, &x);
    ok(x.count == 4 && !exists(in_root("tune/0123/a")) && !exists(in_root("tune/c")) && exists(in_root("bin/ab/x")),
       "what it visits may be removed");
    x = (struct seen){ .count = 0 };
    store_walk(&s, "..", see, &x);
    store_walk(&s, "", see, &x);
    memset(x.names, 'a', sizeof x.names - 1);
    store_walk(&s, x.names, see, &x);
    ok(!x.count && exists(in_scratch("elsewhere/a")), "it leads nowhere else");
    store_clear(&s);
}

/* ---- Trimming ---- */

enum { PIECE = 1 << 16 };

/* n blobs of PIECE bytes, the first the oldest. */
static int fill(struct store *s, int n)
{
    struct stat st;
    for (int i = 0; i < n; i++) {
        if (!store_write(s, blob(i), noise, PIECE, true))
            return 0;
        set_age(in_root(blob(i)), (n - i) * 60);
    }
    return !stat(in_root(blob(0)), &st) && st.st_blocks * 512 >= PIECE && st.st_blocks * 512 < 2 * PIECE;
}

static int count_blobs(int n)
{
    int there = 0;
    for (int i = 0; i < n; i++)
        there += exists(in_root(blob(i)));
    return there;
}

/* What the first n of them take on disk. */
static uint64_t taken(int n)
{
    uint64_t bytes = 0;
    struct stat st;
    for (int i = 0; i < n; i++)
        bytes += stat(in_root(blob(i)), &st) ? 0 : (uint64_t)st.st_blocks * 512;
    return bytes;
}

static void check_oldest_first(void)
{
    struct store s;
    open_fresh(&s);
    if (!fill(&s, 20)) {
        skip("st_blocks does not say here how much a file takes");
        store_clear(&s);
        return;
    }
    s.max_bytes = taken(20);
    store_trim(&s, true);
    is_int(count_blobs(20), 20, "up to the limit nothing is taken");
    s.max_bytes--;
    store_trim(&s, true);
    ok(count_blobs(20) < 20, "a byte less is too little");
    fill(&s, 20);
    s.max_bytes = 10 * PIECE + PIECE / 2;
    store_trim(&s, true);
    const int left = count_blobs(20);
    ok(left >= 4 && left <= 8, "beyond it, down to 80 %% (%d left)", left);
    int newest = 1;
    for (int i = 20 - left; i < 20; i++)
        newest &= exists(in_root(blob(i)));
    ok(newest, "and the newest are left");
    s.max_bytes = 1;
    store_trim(&s, true);
    is_int(count_blobs(20), 0, "down to nothing");
    fill(&s, 5);
    set_age(in_root(blob(4)), -300 * DAY);
    s.max_bytes = 4 * PIECE + PIECE / 2;
    store_trim(&s, true);
    ok(!exists(in_root(blob(4))) && exists(in_root(blob(3))), "what changed in the far future is oldest");
    fill(&s, 5);
    set_age(in_root(blob(4)), -HOUR);
    store_trim(&s, true);
    ok(exists(in_root(blob(4))) && !exists(in_root(blob(0))),
       "what changed within a day from now is newest: clocks differ");
    store_clear(&s);
    open_fresh(&s);
    fill(&s, 3);
    make_folder(in_root("bin/32"));
    const int fd = open(in_root(blob(50)), O_WRONLY | O_CREAT, 0600);
    if (fd >= 0 && !ftruncate(fd, (off_t)1 << 30)) {
        s.max_bytes = 4 * PIECE;
        store_trim(&s, true);
        is_int(count_blobs(3), 3, "holes count for nothing");
    }
    close(fd);
    store_clear(&s);
}

static void check_hourly(void)
{
    struct store s;
    open_fresh(&s);
    fill(&s, 4);
    s.max_bytes = 1;
    store_trim(&s, false);
    is_int(count_blobs(4), 0, "the first time it is done");
    fill(&s, 4);
    store_trim(&s, false);
    is_int(count_blobs(4), 4, "at once again it is not");
    set_age(in_root("trimmed"), HOUR - 100);
    store_trim(&s, false);
    is_int(count_blobs(4), 4, "nor within the hour");
    set_age(in_root("trimmed"), HOUR + 100);
    store_trim(&s, false);
    is_int(count_blobs(4), 0, "an hour later it is");
    fill(&s, 4);
    store_trim(&s, true);
    is_int(count_blobs(4), 0, "or when asked for");
    fill(&s, 4);
    set_age(in_root("trimmed"), -400 * DAY);
    store_trim(&s, false);
    is_int(count_blobs(4), 0, "a time in the future is none");
    ok(age_of(in_root("trimmed")) < HOUR / 2 && age_of(in_root("trimmed")) > -HOUR / 2, "and is put right");
    set_age(in_root("trimmed"), HOUR - 10);
    store_trim(&s, true);
    fill(&s, 4);
    is_int(age_of(in_root("trimmed")) < HOUR / 2, 1, "when asked for it is noted too");
    store_trim(&s, false);
    is_int(count_blobs(4), 4, "what was asked for counts too");
    store_clear(&s);
}

static void check_many(void)
{
    struct store s;
    enum { MORE = 100 };
    open_fresh(&s);
    for (int i = 0; i < STORE_FILES_MAX + MORE; i++) {
        write_file(in_root(blob(i)), "x", 1);
        set_age(in_root(blob(i)), 2 * STORE_FILES_MAX - i);
    }
    chmod(root, 0700);
    store_trim(&s, true);
    const int left = count_blobs(STORE_FILES_MAX + MORE);
    is_int(left, STORE_FILES_MAX / 5 * 4, "too many files: down to 80 %%");
    ok(exists(in_root(blob(STORE_FILES_MAX + MORE - 1))) && !exists(in_root(blob(0))), "the oldest go here too");
    store_clear(&s);
}

/* Names that look nearly like ours, where ours could be, all old. */
static void check_others_left(void)
{
    static const char hex62[] = "00000000000000000000000000000000000000000000000000000000000000";
    static const char *const names[] = { "README",
                                         "bin/README",
                                         "bin/ab/README",
                                         "bin/ab/%s0",
                                         "bin/ab/x%.61s",
                                         "bin/xy/%s",
                                         "bin/AB/%s",
                                         "bin/abc/%s",
                                         "ab/%s",
                                         "tune/ab/%s",
                                         "bin/%s",
                                         "abc/12/%s",
                                         "abcd12/%s",
                                         ".git/.tmp-0123456789abcdef0123456789abcdef",
                                         "tune/ab/cd/.tmp-0123456789abcdef0123456789abcdef",
                                         "bin/ab/A%.61s",
                                         "bin/ab/cd/%s",
                                         ".tmp-x",
                                         ".tmp-0123456789abcdef0123456789abcde",
                                         ".tmp-0123456789abcdef0123456789abcdef0",
                                         "tmp-0123456789abcdef0123456789abcdef",
                                         "bin/ab/.tmp-0123456789abcdef0123456789ABCDEF" };
    enum { N = sizeof names / sizeof *names };
    struct store s;
    char name[N][160];
    int left = 0;
    open_fresh(&s);
    for (int i = 0; i < N; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(name[i], sizeof *name, names[i], hex62);
#pragma GCC diagnostic pop
        write_file(in_root(name[i]), noise, PIECE);
        set_age(in_root(name[i]), 900 * DAY);
    }
    write_file(in_scratch("elsewhere/%s", hex62), "x", 1);
    if (symlink(in_scratch("elsewhere"), in_root("bin/ee")) ||
        symlink(in_scratch("elsewhere/%s", hex62), in_scratch("root/bin/ab/%.60s11", hex62)) ||
        symlink(in_scratch("elsewhere/%s", hex62), in_root(".tmp-0123456789abcdef0123456789abcdef")))
        bail("no symbolic links");
    make_folder(in_scratch("root/bin/ab/%.60s22", hex62));
    set_age(in_scratch("root/bin/ab/%.60s11", hex62), 900 * DAY);
    set_age(in_scratch("root/bin/ab/%.60s22", hex62), 900 * DAY);
    set_age(in_root(".tmp-0123456789abcdef0123456789abcdef"), 900 * DAY);
    chmod(root, 0700);
    store_write(&s, blob(0), noise, PIECE, true);
    s.max_bytes = 1;
    store_trim(&s, true);
    ok(!exists(in_root(blob(0))), "one that is ours goes");
    for (int i = 0; i < N; i++)
        left += exists(in_root(name[i]));
    is_int(left, N, "what does not look like ours is left alone");
    ok(exists(in_scratch("elsewhere/%s", hex62)) && exists(in_scratch("root/bin/ab/%.60s11", hex62)) &&
           exists(in_scratch("root/bin/ab/%.60s22", hex62)) && exists(in_root(".tmp-0123456789abcdef0123456789abcdef")),
       "and so is what links lead to, links, and folders");
    store_clear(&s);
}

static void check_temps(void)
{
    static const char *const folders[] = { "", "bin/ab/", "tune/0123/", "noted/0123/", "inflight/" };
    enum { N = sizeof folders / sizeof *folders };
    struct store s;
    open_fresh(&s);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 3; j++) {
            const char *const path = in_scratch("root/%s.tmp-%032x", folders[i], j);
            write_file(path, "x", 1);
            set_age(path, j == 0 ? 2 * HOUR : j == 1 ? HOUR / 2 : -3 * HOUR);
        }
    chmod(root, 0700);
    store_trim(&s, true);
    count_below(root, 0);
    is_int(below.temps, N, "what writers left is removed an hour later, not before");
    count_below(root, 2 * HOUR);
    store_trim(&s, true);
    count_below(root, 0);
    is_int(below.temps, 0, "and then none is left");
    store_clear(&s);
}

/* ---- The application's calls ---- */

static int get_nothing(void *user, const char *name, void *bytes, size_t room, size_t *size)
{
    (void)user;
    (void)bytes;
    *size = 1000;
    return strcmp(name, "tune/ab/x") || room < 1000;
}

static void check_calls(void)
{
    struct store s;
    struct seen x = { .count = 0 };
    unsigned char *got = NULL;
    size_t n = 0, dirty = 0;
    memset(&s, 0, sizeof s);
    s.calls.get = get_nothing;
    for (int i = 0; i < 4; i++) {
        void *const used = malloc((size_t)1000 << 2 * i);
        if (used)
            memset(used, 0xa5, (size_t)1000 << 2 * i);
        free(used);
    }
    const int read = store_read(&s, "tune/ab/x", 4000, &got, &n);
    for (size_t i = 0; read && i < n; i++)
        dirty += got[i] != 0;
    ok(read && n == 1000 && !dirty, "what the application did not write is not what lay there before");
    free(got);
    store_walk(&s, "tune", see, &x);
    store_trim(&s, true);
    crash_guard_mark(&s, "0000000000000000000000000000000000000000000000000000000000000000");
    store_remove(&s, "tune/ab/x");
    ok(!x.count && !s.faults && !store_write(&s, "tune/ab/x", "x", 1, true),
       "there is nothing to walk, to trim or to mark");
}

static int put_counted(void *user, const char *name, const void *bytes, size_t n)
{
    (void)name;
    (void)bytes;
    *(size_t *)user += n;
    return 0;
}

/* An application that keeps blobs and gives none back is asked to, and no directory is looked for. */
static void check_put_alone(void)
{
    struct store s;
    unsigned char *got;
    size_t n = 0, kept = 0;
    memset(&s, 0, sizeof s);
    s.calls.put = put_counted;
    s.calls.user = &kept;
    ok(!store_is_none(&s) && store_write(&s, "bin/ab/x", "1234567", 7, false) && kept == 7,
       "an application that only keeps");
    ok(!store_read(&s, "bin/ab/x", 100, &got, &n) && !s.faults, "gives nothing, which is no fault");
}

/* An application that says so many bytes, one time after another; 0 from some time on: more than there is room for;
 * NOTHING: none. */
#define NOTHING ((size_t)-1)
struct asked {
    size_t says[8], rooms[8];
    int asks;
};

static int get_so_many(void *user, const char *name, void *bytes, size_t room, size_t *size)
{
    struct asked *const a = user;
    (void)name;
    if (a->asks == 8)
        return 1;
    a->rooms[a->asks] = room;
    *size = a->says[a->asks] == NOTHING ? 0 : a->says[a->asks] ? a->says[a->asks] : room + 1;
    a->asks++;
    memset(bytes, 'x', *size < room ? *size : room);
    return 0;
}

static void check_sizes_said(void)
{
    enum { FIRST = 1 << 16, MOST = 1 << 20 };
    static const struct {
        size_t says[8], most, got, rooms[2]; /* got 0: none */
        int asks, faults;
        const char *what;
    } rows[] = { { { NOTHING }, 100, 0, { 100 }, 1, 0, "nothing" },
                 { { 50 }, 100, 50, { 100 }, 1, 0, "little" },
                 { { 100 }, 100, 100, { 100 }, 1, 0, "all there may be" },
                 { { 101 }, 100, 0, { 100 }, 1, 1, "more than there may be" },
                 { { FIRST }, MOST, FIRST, { FIRST }, 1, 0, "what there is room for at first" },
                 { { FIRST + 1, FIRST + 1 }, MOST, FIRST + 1, { FIRST, FIRST + 1 }, 2, 0, "a byte more" },
                 { { MOST, MOST }, MOST, MOST, { FIRST, MOST }, 2, 0, "the most, asked twice" },
                 { { MOST, 7 }, MOST, 7, { FIRST, MOST }, 2, 0, "less, the second time" },
                 { { MOST + 1 }, MOST, 0, { FIRST }, 1, 1, "too much at once" },
                 { { 70000, 80000, 90000, 90000 }, MOST, 90000, { FIRST, 70000 }, 4, 0, "ever more, four times" },
                 { { 0 }, MOST, 0, { FIRST, FIRST + 1 }, 4, 1, "ever more, for ever" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct asked a = { .asks = 0 };
        struct store s;
        unsigned char *got = NULL;
        size_t n = 0;
        memset(&s, 0, sizeof s);
        memcpy(a.says, rows[i].says, sizeof a.says);
        s.calls.get = get_so_many;
        s.calls.user = &a;
        const bool read = store_read(&s, "bin/ab/x", rows[i].most, &got, &n);
        ok(read == (rows[i].got > 0) && (!read || (n == rows[i].got && got[n - 1] == 'x')) &&
               s.faults == (uint64_t)rows[i].faults,
           "the application says %s", rows[i].what);
        ok(a.asks == rows[i].asks && a.rooms[0] == rows[i].rooms[0] && a.rooms[1] >= rows[i].rooms[1],
           "and is asked %d times", a.asks);
        free(got);
    }
}

/* ---- Many at a time ---- */

static void *write_many(void *user)
{
    struct store *const s = user;
    long bad = 0;
    for (int i = 0; i < 200; i++) {
        char text[64], name[80];
        const int n = snprintf(text, sizeof text, "%d", i % 8);
        snprintf(name, sizeof name, "bin/%02x/%062x", i % 8, i % 8);
        bad += !store_write(s, name, text, (size_t)n, false) || !holds(s, name, text, (size_t)n);
    }
    return (void *)bad;
}

static void check_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    struct store s;
    long bad = 0;
    void *result;
    open_fresh(&s);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, write_many, &s))
            bail("no threads");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        bad += (long)result;
    }
    count_below(root, 0);
    ok(!bad && below.files == 9 && !below.temps && !s.faults, "threads write and read the same blobs");
    if (bad || s.faults)
        diag("%ld bad, %llu faults: %s", bad, (unsigned long long)s.faults, told.last);
    store_clear(&s);
}

int main(void)
{
    unsigned x = 1;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)((x = x * 1103515245u + 12345u) >> 16);
    scratch_begin("store");
    check_round_trip();
    check_deep();
    check_lines();
    check_tag();
    check_modes();
    check_names();
    check_read_only();
    check_refresh();
    check_walk();
    check_oldest_first();
    check_hourly();
    check_many();
    check_others_left();
    check_temps();
    check_calls();
    check_put_alone();
    check_sizes_said();
    check_threads();
    return scratch_end();
}
