/* cache_dir.c - where a store is, and what becomes of it in surroundings that are no good
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/base/environment_posix.h"
#include "src/cache/cache_dir.h"
#include "tests/lib/scratch.h"

#include <sched.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/xattr.h>

/* ---- Which directory ---- */

static char long_path[5001];

static void check_choice(void)
{
    static const struct {
        const char *given;
        struct surroundings e;
        const char *want, *words; /* NULL: none; "" in words */
    } cases[] = {
        { "/a/b", { "/c", NULL, { "/d", "/e" } }, "/a/b", NULL },
        { "/a/b///", { NULL, NULL, { NULL, NULL } }, "/a/b", NULL },
        { "/a/b/./.", { NULL, NULL, { NULL, NULL } }, "/a/b", NULL },
        { "/a/b/..", { NULL, NULL, { NULL, NULL } }, "/a/b/..", NULL },
        { "/a/b.", { NULL, NULL, { NULL, NULL } }, "/a/b.", NULL },
        { "", { "/c", NULL, { "/d", "/e" } }, NULL, NULL },
        { "a/b", { "/c", NULL, { "/d", "/e" } }, NULL, "absolute" },
        { ".", { NULL, NULL, { NULL, NULL } }, NULL, "absolute" },
        { "off", { NULL, NULL, { NULL, NULL } }, NULL, "absolute" },
        { "/", { NULL, NULL, { NULL, NULL } }, NULL, "root of all" },
        { "//", { NULL, NULL, { NULL, NULL } }, NULL, "root of all" },
        { "/.", { NULL, NULL, { NULL, NULL } }, NULL, "root of all" },
        { "/a\nb", { NULL, NULL, { NULL, NULL } }, NULL, "control" },
        { "/a\033[2Jb", { NULL, NULL, { NULL, NULL } }, NULL, "control" },
        { "/a\177", { NULL, NULL, { NULL, NULL } }, NULL, "control" },
        { "/caf\xc3\xa9", { NULL, NULL, { NULL, NULL } }, "/caf\xc3\xa9", NULL },
        { long_path, { NULL, NULL, { NULL, NULL } }, NULL, "too long" },
        { NULL, { "/c", NULL, { "/d", "/e" } }, "/c", NULL },
        { NULL, { "", NULL, { "/d", "/e" } }, NULL, NULL },
        { NULL, { "off", NULL, { "/d", "/e" } }, NULL, NULL },
        { NULL, { "c", NULL, { "/d", "/e" } }, NULL, "CLATTN_CACHE_DIR" },
        { NULL, { "/", NULL, { "/d", "/e" } }, NULL, "CLATTN_CACHE_DIR" },
        { NULL, { "/c\n", NULL, { "/d", "/e" } }, NULL, "CLATTN_CACHE_DIR" },
        { NULL, { long_path, NULL, { "/d", "/e" } }, NULL, "CLATTN_CACHE_DIR" },
        { NULL, { NULL, NULL, { "/d", "/e" } }, "/d/clattn", NULL },
        { NULL, { NULL, NULL, { "/d/", "/e" } }, "/d/clattn", NULL },
        { NULL, { NULL, NULL, { "/", "/e" } }, "/clattn", NULL },
        { NULL, { NULL, NULL, { "", "/e" } }, "/e/.cache/clattn", NULL },
        { NULL, { NULL, NULL, { "d", "/e" } }, "/e/.cache/clattn", "XDG_CACHE_HOME" },
        { NULL, { NULL, NULL, { "d", NULL } }, NULL, "XDG_CACHE_HOME" },
        { NULL, { NULL, NULL, { long_path, "/e" } }, NULL, "XDG_CACHE_HOME" },
        { NULL, { NULL, NULL, { "/d\n", "/e" } }, NULL, "XDG_CACHE_HOME" },
        { NULL, { NULL, NULL, { NULL, "/e" } }, "/e/.cache/clattn", NULL },
        { NULL, { NULL, NULL, { NULL, "/" } }, "/.cache/clattn", NULL },
        { NULL, { NULL, NULL, { NULL, "" } }, NULL, NULL },
        { NULL, { NULL, NULL, { NULL, NULL } }, NULL, NULL },
        { NULL, { NULL, NULL, { NULL, "e" } }, NULL, "HOME" },
        { NULL, { NULL, NULL, { NULL, long_path } }, NULL, "HOME" },
        { NULL, { NULL, NULL, { NULL, "/e\n" } }, NULL, "HOME" },
    };
    static struct why why;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        why.text[0] = '\0';
        char *const got = cache_dir_find(cases[i].given, &cases[i].e, &why);
        const char *const words = cases[i].words;
        ok((!got == !cases[i].want) && (!got || !strcmp(got, cases[i].want)) &&
               (words ? strstr(why.text, words) != NULL : !*why.text) && !strchr(why.text, '\n') &&
               strlen(why.text) < 512,
           "directory %zu: %s%s", i, cases[i].want ? cases[i].want : "none", words ? ", in words" : "");
        if (got && cases[i].want && strcmp(got, cases[i].want))
            diag("got %s", got);
        free(got);
    }
    char edge[STORE_ROOT_MAX + 1];
    memset(edge, 'x', sizeof edge);
    edge[0] = '/';
    edge[STORE_ROOT_MAX] = '\0';
    char *got = cache_dir_find(edge, &cases[0].e, &why);
    ok(!got, "a path of STORE_ROOT_MAX bytes is too long");
    edge[STORE_ROOT_MAX - 1] = '\0';
    got = cache_dir_find(edge, &cases[0].e, &why);
    is_str(got, edge, "one byte less is not");
    free(got);
}

static void check_sizes(void)
{
    static const struct {
        const char *text;
        uint64_t want; /* 0: none */
    } cases[] = { { "1", 1 }, { "1000", 1000 }, { "64K", 65536 }, { "100M", UINT64_C(104857600) },
                  { "2G", UINT64_C(2147483648) }, { "18446744073709551615", UINT64_MAX }, { "18446744073709551616", 0 },
                  { "17179869183G", UINT64_C(18446744072635809792) }, { "17179869184G", 0 }, { "0", 0 }, { "0K", 0 },
                  { "", 0 }, { "K", 0 }, { "-1", 0 }, { "+1", 0 }, { " 1", 0 }, { "1 ", 0 }, { "1k", 0 }, { "1KB", 0 },
                  { "1T", 0 }, { "0x10", 0 }, { "1.5G", 0 }, { "1e6", 0 }, { "99999999999999999999999999", 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t got = 12345;
        const bool read = cache_dir_size(&got, cases[i].text);
        ok(read == (cases[i].want != 0) && (!read || got == cases[i].want), "size \"%s\"", cases[i].text);
    }
}

static void check_rights(void)
{
    static const struct {
        struct environment_identity who;
        bool borrowed;
    } cases[] = { { { false, 1000, 1000, 1000, 1000 }, false }, { { false, 0, 0, 0, 0 }, false },
                  { { true, 1000, 1000, 1000, 1000 }, true },   { { false, 1000, 0, 1000, 1000 }, true },
                  { { false, 0, 1000, 0, 0 }, true },           { { false, 1000, 1000, 1000, 0 }, true },
                  { { true, 1000, 0, 1000, 0 }, true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_int(environment_is_lent(&cases[i].who), cases[i].borrowed, "rights of kind %zu", i);
}

/* ---- By the real environment ---- */

static void set(const char *name, const char *value)
{
    if (value ? setenv(name, value, 1) : unsetenv(name))
        bail("cannot set %s", name);
}

static void check_environment(void)
{
    static struct why why;
    clattn_options o = CLATTN_OPTIONS_INIT;
    struct store s;
    set("CLATTN_CACHE_DIR", "/somewhere/else");
    set("CLATTN_CACHE_MAX_SIZE", "3M");
    memset(&s, 0, sizeof s);
    store_init(&s, NULL, &why);
    ok(s.root && !strcmp(s.root, "/somewhere/else") && s.max_bytes == 3 << 20 && !*why.text && !s.read_only,
       "without options, the environment's word is taken");
    store_clear(&s);
    o.cache_dir = "/given";
    o.cache_max_size = 77;
    store_init(&s, &o, &why);
    ok(s.root && !strcmp(s.root, "/given") && s.max_bytes == 77, "options win over it");
    store_clear(&s);
    o.cache_dir = "";
    store_init(&s, &o, &why);
    ok(store_is_none(&s), "also when they say none");
    set("CLATTN_CACHE_MAX_SIZE", "lots");
    set("CLATTN_CACHE_DIR", NULL);
    set("XDG_CACHE_HOME", "/xdg");
    store_init(&s, NULL, &why);
    ok(s.root && !strcmp(s.root, "/xdg/clattn") && s.max_bytes == 64 << 20 && strstr(why.text, "CLATTN_CACHE_MAX_SIZE"),
       "a size that is none: the default, in words");
    store_clear(&s);
    set("CLATTN_CACHE_MAX_SIZE", NULL);
    set("XDG_CACHE_HOME", NULL);
    set("HOME", NULL);
    store_init(&s, NULL, &why);
    ok(store_is_none(&s) && !*why.text, "no variables, no store, no words");
    unsigned char *bytes;
    size_t n;
    ok(!store_read(&s, "a", 10, &bytes, &n) && !store_write(&s, "a", "x", 1, false) &&
           !crash_guard_is_poisoned(&s, "a"),
       "which can be asked all the same");
    store_remove(&s, "a");
    store_trim(&s, true);
    crash_guard_mark(&s, "a");
    crash_guard_unmark(&s, "a");
    store_clear(&s);
}

/* ---- With the rights of another user ---- */

enum { OWNER = 65533 };

/* What the copy of this program says: 0 no store, 5 a store; and BORROWED. */
enum { BORROWED = 8 };
static int find_any(const char *directory)
{
    static struct why why;
    clattn_options o = CLATTN_OPTIONS_INIT;
    struct store s;
    memset(&s, 0, sizeof s);
    store_init(&s, NULL, &why);
    if (!store_is_none(&s))
        return 5;
    o.cache_dir = directory;
    store_init(&s, &o, &why);
    return !store_is_none(&s) ? 5 : *why.text ? 0 : 6;
}

static int report_store(const char *directory)
{
    return find_any(directory) +
           (getuid() != geteuid() || getgid() != getegid() || getauxval(AT_SECURE) ? BORROWED : 0);
}

struct run {
    const char *program, *directory;
    uid_t uid;
};

static int run_copy(void *user)
{
    const struct run *const r = user;
    set("CLATTN_CACHE_DIR", r->directory);
    if (setgroups(0, NULL) || setgid(r->uid) || setuid(r->uid) || access(scratch, X_OK))
        return CANNOT;
    execl(r->program, r->program, "--report", r->directory, (char *)NULL);
    return CANNOT;
}

static int copy_program(const char *to)
{
    char bytes[1 << 16];
    ssize_t n;
    const int from = open("/proc/self/exe", O_RDONLY), copy = open(to, O_WRONLY | O_CREAT | O_EXCL, 0755);
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        if (write(copy, bytes, (size_t)n) != n)
            n = -2;
    close(from);
    return !close(copy) && !n;
}

static void check_setuid(void)
{
    /* CAP_NET_BIND_SERVICE, permitted and effective, in the form of the kernel */
    static const unsigned char capability[20] = { 1, 0, 0, 2, 0, 4 };
    static const struct {
        mode_t mode;
        uid_t runs_as;
        int want, capable;
        const char *what;
    } cases[] = { { 0755, OWNER, 5, 0, "a program run by its user has a store" },
                  { 04755, OWNER, 5, 0, "also when it is set-user-ID, and its user runs it" },
                  { 04755, NOBODY, BORROWED, 0, "run by another user it has none" },
                  { 02755, NOBODY, BORROWED, 0, "nor when it is set-group-ID" },
                  { 0755, OWNER, BORROWED, 1, "nor when it has capabilities that its user has not" } };
    struct run r = { strdup(in_scratch("copy")), strdup(in_scratch("owned")), 0 };
    make_folder(r.directory);
    if (geteuid() || chown(r.directory, OWNER, OWNER) || !copy_program(r.program) || chown(r.program, OWNER, OWNER)) {
        skip("only root can make programs that run with other rights");
    } else
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            r.uid = cases[i].runs_as;
            if (chmod(r.program, cases[i].mode))
                bail("cannot set the mode of %s", r.program);
            if (cases[i].capable && setxattr(r.program, "security.capability", capability, sizeof capability, 0)) {
                skip("no capabilities in %s", scratch);
                continue;
            }
            const int got = in_child(run_copy, &r);
            if (got == CANNOT)
                skip("another user cannot run %s", r.program);
            else if (cases[i].want == BORROWED && got == 5)
                skip("no rights are lent in %s", scratch);
            else
                is_int(got, cases[i].want, "%s", cases[i].what);
        }
    free((char *)r.program);
    free((char *)r.directory);
}

/* ---- Directories that are no good. Children print nothing; each says where it failed by its status ---- */

static const char *plain; /* a folder of the user's that children run as */

/* Reads nothing, writes nothing, says so once, and has a way to go on. */
static int is_useless(const char *root)
{
    struct store s;
    unsigned char *bytes;
    size_t n;
    open_store(&s, root);
    if (store_read(&s, "bin/ab/x", 100, &bytes, &n))
        return 1;
    if (store_write(&s, "bin/ab/x", "x", 1, false) || !s.given_up || !s.faults)
        return 2;
    if (store_write(&s, "bin/ab/x", "x", 1, true) || told.lines < 1 || told.lines > 2)
        return 3;
    store_trim(&s, true);
    store_remove(&s, "bin/ab/x");
    store_clear(&s);
    return 0;
}

static int below_file(void *user)
{
    char path[2 * SCRATCH_PATH];
    (void)user;
    snprintf(path, sizeof path, "%s/file", plain);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || close(fd))
        return 10;
    const int status = is_useless(path);
    if (status)
        return status;
    strcat(path, "/below");
    return is_useless(path);
}

static int closed_folder(void *user)
{
    char path[2 * SCRATCH_PATH];
    snprintf(path, sizeof path, "%s/closed", plain);
    if (mkdir(path, 0700) || chmod(path, *(const mode_t *)user))
        return 10;
    const int status = is_useless(path);
    return chmod(path, 0700) ? 11 : status;
}

static int closed_parent(void *user)
{
    char path[2 * SCRATCH_PATH];
    snprintf(path, sizeof path, "%s/parent", plain);
    if (mkdir(path, 0700) || chmod(path, *(const mode_t *)user))
        return 10;
    strcat(path, "/a/b");
    return is_useless(path);
}

/* What could be read stays readable when the folder may not be written to. */
static int read_only_folder(void *user)
{
    char path[2 * SCRATCH_PATH];
    struct store s;
    (void)user;
    snprintf(path, sizeof path, "%s/readable", plain);
    open_store(&s, path);
    if (!store_write(&s, "bin/ab/x", "x", 1, false))
        return 1;
    strcat(path, "/bin/ab");
    if (chmod(path, 0500) || !holds(&s, "bin/ab/x", "x", 1))
        return 2;
    store_remove(&s, "bin/ab/x");
    if (store_write(&s, "bin/ab/x", "y", 1, false) || !s.given_up || !holds(&s, "bin/ab/x", "x", 1))
        return 3;
    store_clear(&s);
    return chmod(path, 0700) ? 4 : 0;
}

static int no_home(void *user)
{
    const char *const home = user;
    static struct why why;
    struct store s;
    set("HOME", home);
    memset(&s, 0, sizeof s);
    store_init(&s, NULL, &why);
    if (!s.root || *why.text)
        return 1;
    const int status = is_useless(s.root);
    store_clear(&s);
    return status;
}

static void judge(int status, const char *what)
{
    if (status == CANNOT)
        skip("nobody else can reach %s", scratch);
    else
        is_int(status, 0, "%s", what);
    remove_tree(plain);
    make_folder(plain);
    hand_over(plain);
}

static void check_useless(void)
{
    static mode_t modes[] = { 0, 0300, 0500 };
    judge(in_plain_child(below_file, NULL), "the directory is a file, or below one");
    for (int i = 0; i < 2; i++)
        judge(in_plain_child(closed_folder, &modes[i]), "the directory may not be read");
    judge(in_plain_child(closed_parent, &modes[0]), "nor its parent");
    judge(in_plain_child(closed_parent, &modes[2]), "or nothing may be made there");
    judge(in_plain_child(read_only_folder, NULL), "what is readable is read where nothing can be written");
    judge(in_plain_child(no_home, "/nonexistent"), "HOME that is not there");
    judge(in_plain_child(no_home, "/dev/null"), "HOME=/dev/null");
    judge(in_plain_child(no_home, "/proc/self"), "HOME where nothing can be made");
}

/* ---- Limits of the process and of the disk ---- */

static char noise[1 << 20];

static int is_clean(const struct store *s)
{
    count_below(s->root, 0);
    return !below.temps;
}

static int without_cwd(void *user)
{
    struct store s;
    char gone[2 * SCRATCH_PATH];
    (void)user;
    snprintf(gone, sizeof gone, "%s/gone", scratch);
    if (mkdir(gone, 0700) || chdir(gone) || rmdir(gone))
        return 10;
    open_store(&s, root);
    return !store_write(&s, "bin/ab/x", "x", 1, true) || !holds(&s, "bin/ab/x", "x", 1);
}

static int few_descriptors(void *user)
{
    struct rlimit was, now;
    (void)user;
    if (getrlimit(RLIMIT_NOFILE, &was))
        return 10;
    const int lowest = dup(0);
    close(lowest);
    for (int more = 0; more < 8; more++) {
        struct store s, later;
        open_store(&s, in_scratch("few%d", more));
        now = was;
        now.rlim_cur = (rlim_t)(lowest + more);
        if (lowest < 0 || setrlimit(RLIMIT_NOFILE, &now))
            return 11;
        const int written = store_write(&s, "bin/ab/x", "x", 1, true), read = holds(&s, "bin/ab/x", "x", 1);
        crash_guard_mark(&s, "0000000000000000000000000000000000000000000000000000000000000000");
        store_trim(&s, true);
        if (setrlimit(RLIMIT_NOFILE, &was))
            return 12;
        if (written ? !read : read || !s.given_up)
            return 13;
        open_store(&later, s.root);
        if (holds(&later, "bin/ab/x", "x", 1) != written || !is_clean(&later) || (more == 7 && !written))
            return 14;
        store_clear(&s);
        store_clear(&later);
        if (dup(0) != lowest || close(lowest))
            return 15;
    }
    return 0;
}

static int pending_fsize(void)
{
    sigset_t set;
    return sigpending(&set) ? -1 : sigismember(&set, SIGXFSZ);
}

/* Bit 0: the signal is blocked by the program; bit 1: and pending. */
static int small_files(void *user)
{
    const int kind = *(const int *)user;
    const struct rlimit limit = { 1000, RLIM_INFINITY };
    sigset_t blocked, before, after;
    struct store s, later;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGXFSZ);
    if (setrlimit(RLIMIT_FSIZE, &limit) || (kind & 1 && sigprocmask(SIG_BLOCK, &blocked, NULL)) ||
        (kind & 2 && raise(SIGXFSZ)) || sigprocmask(SIG_BLOCK, NULL, &before))
        return 10;
    open_store(&s, in_scratch("small%d", kind));
    if (!store_write(&s, "bin/ab/x", noise, 1000, false) || store_write(&s, "bin/ab/y", noise, 1001, false) ||
        !s.given_up)
        return 1;
    if (sigprocmask(SIG_BLOCK, NULL, &after) || sigismember(&after, SIGXFSZ) != sigismember(&before, SIGXFSZ))
        return 2;
    if (pending_fsize() != (kind & 2) / 2)
        return 3;
    open_store(&later, s.root);
    return !holds(&later, "bin/ab/x", noise, 1000) || holds(&later, "bin/ab/y", noise, 1001) || !is_clean(&later);
}

/* A disk of 256 KiB, seen by this child alone. */
static int small_disk(void *user)
{
    const char *const at = in_scratch("disk");
    struct store s, later;
    (void)user;
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", at, "tmpfs", MS_NOEXEC, "size=256k,mode=0700"))
        return CANNOT;
    open_store(&s, at);
    if (!store_write(&s, "bin/ab/x", noise, 1000, true) || store_write(&s, "bin/ab/y", noise, sizeof noise, false) ||
        !s.given_up || told.lines != 1 || !strstr(told.last, at))
        return 1;
    if (store_write(&s, "bin/ab/z", "x", 1, false) || !holds(&s, "bin/ab/x", noise, 1000) || !is_clean(&s))
        return 2;
    open_store(&later, at);
    if (!store_write(&later, "bin/ab/z", "x", 1, false) || mount(NULL, at, NULL, MS_REMOUNT | MS_RDONLY, NULL))
        return 3;
    store_trim(&later, true);
    store_remove(&later, "bin/ab/z");
    if (!holds(&later, "bin/ab/z", "x", 1) || store_write(&later, "bin/ab/z", "y", 1, false) || !later.given_up)
        return 4;
    return !holds(&later, "bin/ab/z", "x", 1);
}

static void check_limits(void)
{
    is_int(in_child(without_cwd, NULL), 0, "the working directory is gone");
    is_int(in_child(few_descriptors, NULL), 0, "no descriptors are left");
    for (int kind = 0; kind < 4; kind++)
        if (kind != 2)
            is_int(in_child(small_files, &kind), 0, "files may not grow, SIGXFSZ is %s",
                   kind & 2 ? "pending" : kind ? "blocked" : "deadly");
    make_folder(in_scratch("disk"));
    const int status = in_child(small_disk, NULL);
    if (status == CANNOT)
        skip("no small disk can be mounted here");
    else
        is_int(status, 0, "the disk is full, then read-only");
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--report"))
        _exit(report_store(argv[2]));
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[0] = '/';
    scratch_begin("root");
    plain = strdup(in_scratch("plain"));
    make_folder(plain);
    hand_over(plain);
    check_choice();
    check_sizes();
    check_rights();
    check_setuid();
    check_limits();
    set("XDG_CACHE_HOME", NULL);
    set("CLATTN_CACHE_DIR", NULL);
    check_useless();
    check_environment();
    free((char *)plain);
    return scratch_end();
}
