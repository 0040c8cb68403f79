/* foreign_files.c - what lies where blobs should and is none: other kinds of files, other people's, things that change
 * SPDX-License-Identifier: Apache-2.0
 *
 * What changes does so for a moment in make check, longer with CLATTN_PART, and for a minute with CLATTN_FULL. */
#include "config.h"

#include "src/cache/binary_cache.h"
#include "tests/lib/deals.h"
#include "tests/lib/scratch.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static const char name[] = "bin/ab/x";
enum { MOST = 1 << 16 };

static void fresh(struct store *s)
{
    open_fresh(s);
    if (!store_write(s, name, "good", 4, false))
        bail("cannot write to %s", root);
}

static int reads(struct store *s)
{
    unsigned char *bytes;
    size_t n;
    if (!store_read(s, name, MOST, &bytes, &n))
        return 0;
    free(bytes);
    return 1;
}

/* ---- Kinds of files ---- */

/* Whether the path is now a thing of that kind. */
static int make_kind(int kind, const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd, status;
    unlink(path);
    switch (kind) {
    case 0: return !mkfifo(path, 0600);
    case 1: return !mkdir(path, 0700);
    case 2: /* by a short name, since those of sockets are */
        if (chdir(in_root("bin/ab")))
            return 0;
        strcpy(address.sun_path, "x");
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        status = bind(fd, (struct sockaddr *)&address, sizeof address);
        close(fd);
        return !chdir("/") && !status && !chmod(path, 0600);
    case 3: return !symlink("/etc/passwd", path);
    case 4: write_file(in_scratch("target"), "good", 4); return !symlink(in_scratch("target"), path);
    case 5: return !symlink("nowhere", path);
    case 6: return !symlink("x", path);
    case 7: return !mknod(path, S_IFCHR | 0600, makedev(1, 5)); /* zero */
    case 8: return !mknod(path, S_IFBLK | 0600, makedev(253, 254));
    case 9: write_file(path, "", 0); return !truncate(path, (off_t)5 << 30);
    case 10: write_file(path, "", 0); return 1;
    case 11: write_file(path, "good", 4); return !chmod(path, 0602);
    case 12: write_file(path, "good", 4); return !chmod(path, 0620);
    case 13: write_file(path, "good", 4); return !geteuid() && !chown(path, NOBODY, -1);
    }
    return 0;
}

static void check_kinds(void)
{
    static const char *const kinds[] = { "a FIFO",
                                         "a folder",
                                         "a socket",
                                         "a link to /etc/passwd",
                                         "a link to a good file",
                                         "a link to nowhere",
                                         "a link to itself",
                                         "a device that never ends",
                                         "a block device",
                                         "5 GiB of nothing",
                                         "empty",
                                         "open to all for writing",
                                         "open to the group for writing",
                                         "another user's" };
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++) {
        struct store s;
        fresh(&s);
        if (!make_kind(i, in_root(name))) {
            skip("cannot make %s here", kinds[i]);
            store_clear(&s);
            continue;
        }
        ok(!reads(&s) && !reads(&s) && s.faults == 2 && told.lines == 1 &&
               s.logged == (i == 9 || i == 10 ? STORE_LOGGED_UNREADABLE : STORE_LOGGED_FOREIGN),
           "%s is not read, and that is told once", kinds[i]);
        const int written = store_write(&s, name, "new", 3, false);
        ok(i == 1 ? !written && s.given_up : written && holds(&s, name, "new", 3), "%s", i == 1 ? "nor written to" :
           "a write takes its place");
        store_trim(&s, true);
        count_below(root, 0);
        ok(!below.temps && (i != 4 || exists(in_scratch("target"))), "leaving nothing behind");
        store_clear(&s);
    }
}

static void check_hard_link(void)
{
    struct store s;
    fresh(&s);
    if (link(in_root(name), in_scratch("second"))) {
        skip("no hard links here");
        store_clear(&s);
        return;
    }
    ok(holds(&s, name, "good", 4), "a file with a second name is read");
    ok(store_write(&s, name, "new", 3, false) && holds(&s, name, "new", 3), "a write takes the name's place");
    char text[8] = "";
    const int fd = open(in_scratch("second"), O_RDONLY);
    ok(read(fd, text, 7) == 4 && !strcmp(text, "good"), "and leaves the other name what it had");
    close(fd);
    store_clear(&s);
}

/* ---- Kinds of directories ---- */

/* Neither read nor written, in a line; elsewhere holds a good copy that must be left alone. */
static void check_not_used(const char *what)
{
    struct store s, other;
    open_store(&s, root);
    const int read = reads(&s), written = store_write(&s, name, "evil", 4, true);
    crash_guard_mark(&s, "0000000000000000000000000000000000000000000000000000000000000000");
    store_trim(&s, true);
    store_remove(&s, name);
    ok(!read && !written && s.given_up && told.lines == 1, "%s: neither read nor written, in a line", what);
    store_clear(&s);
    open_store(&other, in_scratch("elsewhere"));
    count_below(in_scratch("elsewhere"), 0);
    ok(holds(&other, name, "good", 4) && below.files == 2, "and nothing else is touched");
    store_clear(&other);
}

static void elsewhere(void)
{
    struct store s;
    remove_tree(in_scratch("elsewhere"));
    open_store(&s, in_scratch("elsewhere"));
    store_write(&s, name, "good", 4, false);
    store_clear(&s);
    remove_tree(root);
}

static void move_in(mode_t mode)
{
    elsewhere();
    struct store s;
    fresh(&s);
    store_clear(&s);
    if (chmod(root, mode))
        bail("no mode %o", (unsigned)mode);
}

static void link_in(const char *what)
{
    struct store s;
    elsewhere();
    fresh(&s);
    store_clear(&s);
    remove_tree(in_root(what));
    if (symlink(in_scratch("elsewhere/%s", what), in_root(what)))
        bail("no symbolic links");
}

static void check_directories(void)
{
    struct store s;
    elsewhere();
    if (symlink(in_scratch("elsewhere"), root))
        bail("no symbolic links");
    check_not_used("the directory is a link");
    open_store(&s, in_root(""));
    ok(!reads(&s), "also with a slash behind its name");
    store_clear(&s);
    open_store(&s, in_root("."));
    ok(!reads(&s), "or a dot");
    store_clear(&s);
    unlink(root);
    elsewhere();
    write_file(root, "file", 4);
    check_not_used("the directory is a file");
    unlink(root);
    move_in(0770);
    check_not_used("the directory is open to the group");
    move_in(0702);
    check_not_used("the directory is open to all");
    move_in(0755);
    open_store(&s, root);
    ok(holds(&s, name, "good", 4), "others may look");
    store_clear(&s);
    move_in(0700);
    if (geteuid() || lchown(root, NOBODY, -1))
        skip("only root can give a directory away");
    else
        check_not_used("the directory is another user's");
    link_in("bin");
    check_not_used("a folder in it is a link");
    link_in("bin/ab");
    check_not_used("one deeper is");
    link_in("bin");
    unlink(in_root("bin"));
    make_kind(0, in_root("bin"));
    check_not_used("one is a FIFO");
    link_in("bin");
    unlink(in_root("bin"));
    make_folder(in_root("bin"));
    chmod(in_root("bin"), 0777);
    check_not_used("one is open to all");
    elsewhere();
    make_folder(in_scratch("way"));
    if (symlink("way", in_scratch("link")))
        bail("no symbolic links");
    open_store(&s, in_scratch("link/a/b"));
    ok(store_write(&s, name, "good", 4, false) && holds(&s, name, "good", 4) && exists(in_scratch("way/a/b/bin/ab/x")),
       "the way to the directory may lead over links");
    store_clear(&s);
}

/* ---- Things that change while they are looked at ---- */

static int stop;

static int stopped(void)
{
    return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Another thread does what it likes; look() says whether what was seen is all right. Returns how often it was not. */
static long against(void *(*rival)(void *), int (*look)(struct store *s), long *looks)
{
    const double end = now() + (full() ? 20 : harness_rest() ? 1.5 : 0.4);
    pthread_t thread;
    struct store s;
    long bad = 0;
    open_store(&s, root);
    stop = 0;
    if (pthread_create(&thread, NULL, rival, NULL))
        bail("no thread");
    for (*looks = 0; now() < end; ++*looks)
        bad += !look(&s);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    store_clear(&s);
    return bad;
}

static const char key[] = "what the binary is kept under",
                  binary[] = "a binary that is not long, but longer than a line of text";
static char entry_path[2 * SCRATCH_PATH];
static unsigned char entry[1024];
static size_t entry_len;

static void put_entry(int flags)
{
    const int fd = open(entry_path, O_WRONLY | O_CREAT | flags, 0600);
    if (fd >= 0 && (write(fd, entry, entry_len) < 0 || close(fd)))
        bail("cannot write %s", entry_path);
}

static void *shake(void *unused)
{
    for (unsigned i = 0; !stopped(); i++) {
        put_entry(i % 2 ? O_TRUNC : 0);
        if (i % 5 == 0 && truncate(entry_path, (off_t)(i % entry_len)) && errno != ENOENT)
            bail("cannot cut");
        if (i % 5 == 1 && truncate(entry_path, (off_t)(entry_len + i % 1000)) && errno != ENOENT)
            bail("cannot grow");
        if (i % 5 == 2)
            unlink(entry_path);
        const int fd = open(entry_path, O_WRONLY);
        if (fd >= 0 && (pwrite(fd, entry + i % 64, 40, i % 200) < 0 || close(fd)))
            bail("cannot write %s", entry_path);
    }
    return unused;
}

static long hits;

static int load_right(struct store *s)
{
    unsigned char *got;
    size_t n;
    bool rejected;
    if (!binary_cache_load(s, key, &got, &n, &rejected))
        return 1;
    const int right = n == sizeof binary && !memcmp(got, binary, n);
    hits++;
    free(got);
    return right;
}

static int find_entry(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
    if (what == FTW_F && strlen(path + ftw->base) == 62)
        snprintf(entry_path, sizeof entry_path, "%s", path);
    (void)st;
    return 0;
}

static void check_shaking(void)
{
    struct store s;
    long looks;
    open_fresh(&s);
    binary_cache_save(&s, key, binary, sizeof binary);
    store_clear(&s);
    nftw(root, find_entry, 16, FTW_PHYS);
    const int fd = open(entry_path, O_RDONLY);
    entry_len = (size_t)read(fd, entry, sizeof entry);
    close(fd);
    const long bad = against(shake, load_right, &looks);
    ok(!bad && looks, "an entry that grows, shrinks, changes and goes (%ld looks, %ld hits)", looks, hits);
}

/* The directory, or a folder in it, trades places with a link to one that holds other things. */
static char trade_from[2 * SCRATCH_PATH], trade_to[2 * SCRATCH_PATH];

static void *trade(void *unused)
{
    char aside[2 * SCRATCH_PATH + 8];
    snprintf(aside, sizeof aside, "%s.aside", trade_from);
    while (!stopped())
        if (renameat2(AT_FDCWD, trade_from, AT_FDCWD, trade_to, RENAME_EXCHANGE) &&
            (rename(trade_from, aside) || rename(trade_to, trade_from) || rename(aside, trade_to)))
            break;
    return unused;
}

static long writes;

static int never_elsewhere(struct store *s)
{
    unsigned char *got;
    size_t n;
    int right = 1;
    s->given_up = 0;
    writes += store_write(s, "bin/ab/y", "mine", 4, false);
    store_remove(s, "bin/ab/z");
    if (!store_read(s, name, MOST, &got, &n))
        return 1;
    right = n == 4 && !memcmp(got, "good", 4);
    hits++;
    free(got);
    return right;
}

static void check_trading(void)
{
    static const char *const what[] = { "root", "root/bin", "root/bin/ab" };
    static const char *const to[] = { "trap", "trap/bin", "trap/bin/ab" };
    struct store s;
    for (int i = 0; i < 3; i++) {
        long looks;
        remove_tree(in_scratch("trap"));
        write_file(in_scratch("trap/%s", name), "evil", 4);
        write_file(in_scratch("trap/bin/ab/z"), "evil", 4);
        chmod(in_scratch("trap"), 0700);
        fresh(&s);
        store_clear(&s);
        snprintf(trade_from, sizeof trade_from, "%s", in_scratch("%s", what[i]));
        snprintf(trade_to, sizeof trade_to, "%s", in_scratch("link"));
        remove_tree(trade_to);
        if (symlink(in_scratch("%s", to[i]), trade_to))
            bail("no symbolic links");
        hits = writes = 0;
        const long bad = against(trade, never_elsewhere, &looks);
        count_below(in_scratch("trap"), 0);
        ok(!bad && below.files == 2, "%s trades places with a link (%ld looks, %ld hits, %ld writes)", what[i], looks,
           hits, writes);
    }
}

int main(void)
{
    scratch_begin("foreign");
    check_kinds();
    check_hard_link();
    check_directories();
    check_shaking();
    check_trading();
    return scratch_end();
}
