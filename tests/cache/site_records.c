/* site_records.c - records that others wrote: the *.tune files of a directory
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/cache/wisdom.h"
#include "tests/lib/records.h"
#include "tests/lib/scratch.h"
#include "tests/lib/tap.h"
#include "tests/lib/wrap.h"
#include "src/base/text.h"

enum { ROOM = 1 << 14, MIB = 1 << 20, STRANGER = 1234 };

#define OTHER_DEVICE "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct record_device by;

static const char *in_site(const char *name)
{
    return in_scratch("site/%s", name);
}

/* Begins anew. */
static void clean(void)
{
    remove_tree(in_site(""));
    make_folder(in_site(""));
    if (chmod(in_site(""), 0755))
        bail("cannot open %s", in_site(""));
}

/* How many records a folder has, and their classes, with spaces between. */
static void folder(const char *path, bool seeds, char *classes, size_t room)
{
    struct text t = { classes, room, 0 };
    struct record *list = (struct record *)(uintptr_t)golden; /* junk */
    const size_t n = site_records_read(path, &by, seeds, &list);
    *classes = '\0';
    for (size_t i = 0; i < n && i < 20; i++)
        text_add(&t, "%s%s", i ? " " : "", list[i].class_text);
    free(list);
}

static void folder_is(const char *path, bool seeds, const char *want, const char *what)
{
    char classes[4096];
    folder(path, seeds, classes, sizeof classes);
    is_str(classes, want, "%s", what);
}

/* The golden record with a class of its own and, unless `text` is NULL, a line before that replaced by it. */
static void put_site(const char *name, const char *class_text, int line, const char *text)
{
    char whole[ROOM], class_line[256];
    size_t n = compose(whole, 5, class_line,
                       (size_t)snprintf(class_line, sizeof class_line, "class %s\n", class_text));
    if (text) {
        const size_t at = (size_t)(golden_line(line) - golden), next = (size_t)(golden_line(line + 1) - golden),
                     end = n - strlen(golden_line(LINES)), length = strlen(text);
        memmove(whole + at + length, whole + next, end - next);
        memcpy(whole + at, text, length);
        sign(whole, end - (next - at) + length);
    }
    write_text(in_site(name), whole);
}

/* A record of another device, and that by another name. */
static void put_other(const char *name)
{
    static const char other[] = "clattn-tune 1\ndevice " OTHER_DEVICE "\nname Portable\n";
    char whole[ROOM];
    const size_t n = sizeof other - 1, rest = (size_t)(golden_line(LINES) - golden_line(3));
    memcpy(whole, other, n);
    memcpy(whole + n, golden_line(3), rest);
    sign(whole, n + rest);
    write_text(in_site(name), whole);
}

static void test_folder(void)
{
    char text[3 * ROOM];
    clean();
    folder_is(in_site(""), false, "", "an empty folder has no records");
    folder_is(in_scratch("none"), false, "", "nor has one that is not there");
    folder_is(NULL, false, "", "or no folder");
    folder_is("", false, "", "or one without a name");
    put_site("b.tune", "b", 0, NULL);
    put_site("a.tune", "a", 0, NULL);
    put_site("10.tune", "c", 0, NULL);
    put_site(".hidden.tune", "d", 0, NULL);
    put_site("x.tune~", "d", 0, NULL);
    put_site("xtune", "d", 0, NULL);
    put_site(".tune", "d", 0, NULL);
    put_site("tune", "d", 0, NULL);
    folder_is(in_site(""), false, "c a b", "records come in the order of their files' names");
    folder_is(in_site("a.tune"), false, "", "a file is no folder");
    put_site("a.tune", "a", 4, "family 8\n");
    put_site("b.tune", "b", 1, "device " OTHER_DEVICE "\n");
    folder_is(in_site(""), false, "c", "not those of another family or device");
    folder_is(in_site(""), true, "c b", "but, for seeds, of a device of the same name");
    put_site("b.tune", "b", 2, "name Portable\n");
    folder_is(in_site(""), true, "c b", "or of another name and the same device");
    put_other("b.tune");
    folder_is(in_site(""), true, "c", "nor of another name and another device");
    snprintf(text, sizeof text, "# ours\n\n%s\r\n%.*s\n%.*s%s", golden, 86, golden, 300, golden, golden);
    write_text(in_site("b.tune"), text);
    folder_is(in_site(""), false, "c " CLASS, "what is unsound is left out, and not what follows on a line of its own");
}

static int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* One file that is not to be read, beside a.tune. */
static void left_out(const char *what)
{
    char classes[4096];
    folder(in_site(""), false, classes, sizeof classes);
    is_str(classes, "a", "%s is left out", what);
}

static void grow(const char *name, off_t size)
{
    if (truncate(in_site(name), size))
        bail("cannot grow %s", name);
}

static void set_mode(const char *name, mode_t mode)
{
    if (chmod(in_site(name), mode))
        bail("cannot change %s", name);
}

/* A regular file that ends before it should. */
static void test_short_file(void)
{
    static const char path[] = "/sys/devices/system/cpu/online";
    char text[4096];
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 || fstat(fd, &st) ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    if (n < 0 || n >= st.st_size || symlink(path, in_site("short.tune"))) {
        skip("there is no file that is shorter than it says");
        return;
    }
    alarm(60);
    left_out("a file that is shorter than it says");
    alarm(0);
    unlink(in_site("short.tune"));
}

static void test_strange_files(void)
{
    const int before = open_descriptors();
    char classes[4096];
    clean();
    put_site("a.tune", "a", 0, NULL);
    test_short_file();
    if (!mkdir(in_site("b.tune"), 0755))
        left_out("a directory");
    if (!mkfifo(in_site("c.tune"), 0644)) {
        alarm(60); /* it must not wait for a writer */
        left_out("a FIFO");
        alarm(0);
    }
    if (!symlink("/dev/zero", in_site("d.tune")))
        left_out("a device without end");
    if (!symlink("nowhere", in_site("e.tune")))
        left_out("a link to nothing");
    if (!symlink("f.tune", in_site("f.tune")))
        left_out("a link to itself");
    write_text(in_site("g.tune"), "");
    left_out("an empty file");
    put_site("h.tune", "h", 0, NULL);
    set_mode("h.tune", 0664);
    left_out("what its group may write");
    set_mode("h.tune", 0646);
    left_out("what all may write");
    set_mode("h.tune", 0644);
    folder_is(in_site(""), false, "a h", "what nobody else may is read");
    grow("h.tune", (8 * MIB) + 1);
    left_out("more than 8 MiB");
    grow("h.tune", 8 * MIB);
    folder_is(in_site(""), false, "a h", "8 MiB are read");
    unlink(in_site("h.tune"));
    put_site("h", "h", 0, NULL);
    if (!symlink("h", in_site("i.tune")))
        folder_is(in_site(""), false, "a h", "so is a link's file");
    for (int i = 0; i < 9; i++) { /* 8 MiB each */
        char name[32];
        snprintf(name, sizeof name, "b%d.tune", i);
        put_site(name, "b", 0, NULL);
        grow(name, 8 * MIB);
    }
    folder(in_site(""), false, classes, sizeof classes);
    is_str(classes, "a b b b b b b b h", "no more than 64 MiB are read; what is small still is");
    is_int(open_descriptors(), before, "no file is left open");
}

static void test_owners(void)
{
    clean();
    put_site("a.tune", "a", 0, NULL);
    put_site("b.tune", "b", 0, NULL);
    if (!chown(in_site("b.tune"), STRANGER, (gid_t)-1))
        left_out("a stranger's file");
    else
        skip("only root can give files away");
    unlink(in_site("b.tune"));
    put_site("c.tune", "c", 0, NULL);
    set_mode("c.tune", 0);
    if (geteuid())
        left_out("a file that cannot be read");
    else
        skip("root can read every file: see below");
}

/* As somebody else: 0 when what is found is as wanted. */
static int look_as_nobody(void *user)
{
    char classes[4096];
    if (chdir(in_site("")) || become(NOBODY))
        return CANNOT;
    folder(".", false, classes, sizeof classes);
    return strcmp(classes, user) != 0;
}

static void test_nobody(void)
{
    char want[] = "a c";
    if (geteuid()) {
        skip("only root can become somebody else");
        return;
    }
    clean();
    put_site("a.tune", "a", 0, NULL);
    set_mode("a.tune", 0644);
    put_site("b.tune", "b", 0, NULL);
    set_mode("b.tune", 0);
    put_site("c.tune", "c", 0, NULL);
    put_site("d.tune", "d", 0, NULL);
    set_mode("d.tune", 0644);
    if (chown(in_site("c.tune"), NOBODY, NOBODY) || chown(in_site("d.tune"), STRANGER, STRANGER)) {
        skip("root cannot give files away here");
        return;
    }
    const int status = in_child(look_as_nobody, want);
    if (status == CANNOT)
        skip("root cannot become somebody else here");
    else
        is_int(status, 0, "somebody else reads root's files and his own, not a stranger's, not those closed to him");
}

static void test_many(void)
{
    char *const text = malloc(8 * MIB);
    struct record *list;
    size_t n = 0;
    if (!text)
        bail("no memory");
    clean();
    while (n + sizeof golden < 8 * MIB) {
        memcpy(text + n, golden, sizeof golden - 1);
        n += sizeof golden - 1;
    }
    write_file(in_site("a.tune"), text, n);
    is_int((long long)site_records_read(in_site(""), &by, false, &list), RECORDS_MAX, "of %d records %d are taken",
           (int)(n / (sizeof golden - 1)), (int)RECORDS_MAX);
    free(list);
    free(text);
}

static void test_memory(void)
{
    struct record *list;
    char name[32];
    long at, failed = 1;
    int bad = 0;
    clean();
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%02d.tune", i);
        put_site(name, "a", 0, NULL);
    }
    for (at = 1; failed; at++) {
        wrap.memory = 0;
        wrap_arm(at, 0);
        const size_t n = site_records_read(in_site(""), &by, false, &list);
        failed = wrap.failed;
        wrap.fail_at = 0;
        free(list);
        wrap_disarm();
        bad += wrap.memory || n > 20 || (n && !list) || (!failed && n != 20);
    }
    ok(at > 22 && !bad, "each of %ld allocations fails: fewer records, no leak", at - 2);
}

int main(void)
{
    static struct record gold;
    static struct why why;
    size_t used;
    scratch_begin("site");
    if (record_read(&gold, golden, sizeof golden - 1, &used, &why))
        bail("%s", why.text);
    by = gold.by;
    test_folder();
    test_strange_files();
    test_owners();
    test_nobody();
    test_many();
    test_memory();
    return scratch_end();
}
