/* npy.c - .npy files, good and hostile
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "tools/npy.h"
#include "tools/output.h"

#include <sys/stat.h>
#include <unistd.h>

static char dir[256], file[512];
static struct fault fault;

static const char *in_dir(const char *name)
{
    static char path[2][512];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static void put(const void *bytes, size_t n)
{
    FILE *f = fopen(file, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        bail("cannot write %s", file);
}

/* A file of `version` with `header`, padded or not, and `data` bytes of 1. */
static size_t compose(unsigned char *to, int version, const char *header, size_t data)
{
    const size_t n = strlen(header), start = version == 1 ? 10 : 12;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (unsigned char)version;
    to[7] = 0;
    for (size_t i = 8; i < start; i++)
        to[i] = (unsigned char)(n >> 8 * (i - 8));
    memcpy(to + start, header, n);
    memset(to + start + n, 1, data);
    return start + n + data;
}

static int read_back(struct npy *a)
{
    memset(&fault, 0, sizeof fault);
    return npy_read("--x", file, a, &fault);
}

/* The reader takes (`why` NULL) or refuses the file, with a reason that has `why`, the argument and the name in it. */
static void judge(const char *what, const char *why)
{
    struct npy a;
    const int status = read_back(&a);
    if (!why) {
        ok(status == 0 && a.data, "taken: %s", what);
        if (status != 0)
            diag("%s", fault.text);
    } else {
        ok(status == -1 && !a.data && fault.status == EXIT_USAGE && strstr(fault.text, why)
               && strncmp(fault.text, "--x: ", 5) == 0 && strstr(fault.text, file) && !strchr(fault.text, '\n'),
           "refused: %s", what);
        diag("%s", status == 0 ? "it was taken" : fault.text + 5 + strlen(file));
    }
    if (status == 0)
        npy_free(&a);
}

static void header_case(const char *header, size_t data, const char *why)
{
    unsigned char bytes[4096];
    char what[256];
    size_t n = 0;
    for (const char *c = header; *c && n < sizeof what - 1; c++)
        what[n++] = *c == '\n' ? '~' : *c == '#' ? '+' : *c;
    what[n] = '\0';
    put(bytes, compose(bytes, 1, header, data));
    judge(what, why);
}

static void check_headers(void)
{
#define D(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"
    header_case(D("<f4", "(2, 3)"), 24, NULL);
    header_case(D("<f2", "(2, 3)"), 12, NULL);
    header_case(D("<f8", "(2,)"), 16, NULL);
    header_case(D("|i1", "(2,)"), 2, NULL);
    header_case(D("|u1", "(2,)"), 2, NULL);
    header_case(D("|b1", "(2,)"), 2, NULL);
    header_case(D("<i4", "(2,)"), 8, NULL);
    header_case(D("<f4", "()"), 4, NULL);
    header_case(D("<f4", "(0,)"), 0, NULL);
    header_case(D("<f4", "(3, 0, 5)"), 0, NULL);
    header_case(D("<f4", "(1,1,1,1,1,1,1,1,)"), 4, NULL);
    header_case("{\"shape\":(1,),\"descr\":\"<f4\",\"fortran_order\":False}\n", 4, NULL);
    header_case("{'fortran_order': False, 'shape': (1,), 'descr': '<f4'}            \n", 4, NULL);

    header_case(D("<f4", "(2, 3)"), 23, "23 bytes of data where [2,3] of <f4 needs 24");
    header_case(D("<f4", "(2, 3)"), 25, "25 bytes of data");
    header_case(D("<f4", "(0,)"), 1, "1 bytes of data");
    header_case(D(">f4", "(2,)"), 8, "big-endian");
    header_case(D("<i8", "(2,)"), 16, "not supported");
    header_case(D("<f4 ", "(2,)"), 8, "not supported");
    header_case(D("", "(2,)"), 8, "not supported");
    header_case(D("<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4", "(2,)"), 8, "too long");
    header_case(D("<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<", "(2,)"), 8, "not supported"); /* 31 letters */
    header_case(D("<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f", "(2,)"), 8, "too long");
    header_case(D("|O", "(2,)"), 16, "not supported");
    header_case("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n", 8, "records");
    header_case("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", 16, "Fortran");
    header_case("{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (2, 2), }\n", 16, "comma");
    header_case("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), }\n", 16, "neither");
    header_case(D("<f4", "(2)"), 8, "not a tuple");
    header_case(D("<f4", "2"), 8, "not a tuple");
    header_case(D("<f4", "[2,]"), 8, "not a tuple");
    header_case(D("<f4", "(,)"), 4, "plain numbers");
    header_case(D("<f4", "(2,,2)"), 16, "plain numbers");
    header_case(D("<f4", "(2 2)"), 16, "comma");
    header_case(D("<f4", "(-1,)"), 4, "plain numbers");
    header_case(D("<f4", "(+1,)"), 4, "plain numbers");
    header_case(D("<f4", "(01,)"), 4, "plain numbers");
    header_case(D("<f4", "(1L,)"), 4, "comma");
    header_case(D("<f4", "(1.0,)"), 4, "comma");
    header_case(D("<f4", "(0x1,)"), 4, "comma");
    header_case(D("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4, "8 axes");
    header_case(D("<f4", "(9223372036854775807,)"), 4, "too long");
    header_case(D("<f4", "(99999999999999999999999999,)"), 4, "too long");
    header_case(D("<f4", "(4611686018427387904, 4)"), 0, "too large");
    header_case(D("<f4", "(4294967296, 4294967296)"), 0, "too large");
    header_case(D("<f4", "(0, 4294967296, 4294967296)"), 0, "too large");
    header_case(D("<f4", "(1000000000000,)"), 4, SIZE_MAX > UINT32_MAX ? "needs 4000000000000" : "too large");
    header_case(D("<f4", "(2, 3"), 24, "plain numbers");
    header_case("{'descr': '<f4', 'fortran_order': False}\n", 4, "lacks one of");
    header_case("{}\n", 4, "lacks one of");
    header_case("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n", 4, "twice");
    header_case("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}\n", 4, "unknown key");
    header_case("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)\n", 4, "comma");
    header_case("{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}\n", 4, "comma");
    header_case("{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}\n", 4, "colon");
    header_case("{'descr': '<f4', , 'fortran_order': False, 'shape': (1,)}\n", 4, "a string must stand");
    header_case("{'descr: '<f4', 'fortran_order': False, 'shape': (1,)}\n", 4, "unknown key");
    header_case("{'descr': '<f\\x34', 'fortran_order': False, 'shape': (1,)}\n", 4, "escape");
    header_case("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}x\n", 4, "after the dictionary");
    header_case("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, "newline");
    header_case(" {'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n", 4, "not a dictionary");
    header_case("\n", 4, "not a dictionary");
    header_case("", 4, "newline");
}

static void check_frames(void)
{
    static unsigned char bytes[80000];
    const char *good = D("<f4", "(2,)");
    for (int version = 1; version <= 4; version++) {
        char what[32];
        snprintf(what, sizeof what, "version %d.0", version);
        put(bytes, compose(bytes, version, good, 8));
        judge(what, version <= 3 ? NULL : "format version");
    }
    const size_t first = compose(bytes, 1, good, 8);
    bytes[7] = 1;
    put(bytes, first);
    judge("version 1.1", "format version");
    const size_t whole = compose(bytes, 2, good, 8);
    int early = 0;
    for (size_t n = 0; n < whole; n++) {
        struct npy a;
        put(bytes, n);
        early += read_back(&a) == 0;
    }
    is_int(early, 0, "refused: the same file cut after each of its %zu bytes", whole);
    bytes[0] = 'N';
    put(bytes, whole);
    judge("another magic", "not a .npy file");
    compose(bytes, 2, good, 8);
    bytes[11] = 0xff;
    put(bytes, whole);
    judge("a header of 4 GB", "header is too long");
    compose(bytes, 1, good, 8);
    bytes[8] = bytes[9] = 0xff;
    put(bytes, whole);
    judge("a header longer than the file", "ends within the header");
    char *longer = malloc(70001);
    if (!longer)
        bail("no memory");
    memset(longer, ' ', 70000);
    memcpy(longer, good, strlen(good) - 1);
    longer[69999] = '\n';
    longer[70000] = '\0';
    put(bytes, compose(bytes, 2, longer, 8));
    judge("a header of 70000 bytes", "header is too long");
    free(longer);
}

static void check_places(void)
{
    char keep[sizeof file];
    strcpy(keep, file);
    strcpy(file, in_dir("none.npy"));
    judge("no such file", "No such file");
    strcpy(file, dir);
    judge("a directory", "not a regular file");
    strcpy(file, in_dir("fifo"));
    if (mkfifo(file, 0600) == 0) {
        judge("a FIFO, without waiting for a writer", "not a regular file");
        unlink(file);
    } else
        skip("no FIFO here");
    strcpy(file, "/dev/null");
    judge("a device", "not a regular file");
    strcpy(file, "");
    judge("an empty name", "No such file");
    strcpy(file, keep);
}

static void check_values(void)
{
    const float x[] = { 1.5f, -2, 0 };
    const int32_t n[] = { -1, 2147483647 };
    const int64_t three[] = { 3 }, shape[] = { 1, 2 };
    struct outputs o;
    struct npy a;
    memset(&o, 0, sizeof o);
    memset(&fault, 0, sizeof fault);
    const char *second = in_dir("second.npy");
    float given_x[3]; /* big-endian machines swap what is given */
    int32_t given_n[2];
    memcpy(given_x, x, sizeof x);
    memcpy(given_n, n, sizeof n);
    int status = outputs_add(&o, "-o", file, NPY_F4, 1, three, given_x, &fault);
    status |= outputs_add(&o, "--lse", second, NPY_I4, 2, shape, given_n, &fault);
    ok(status == 0 && access(second, F_OK) != 0, "outputs have no name before they are committed");
    is_int(outputs_commit(&o, &fault), 0, "committed");
    outputs_discard(&o);
    ok(read_back(&a) == 0 && a.type == NPY_F4 && a.ndim == 1 && a.shape[0] == 3 && memcmp(a.data, x, sizeof x) == 0,
       "what is written is read back");
    npy_free(&a);
    ok(npy_read("--x", second, &a, &fault) == 0 && a.type == NPY_I4 && a.ndim == 2 && a.shape[1] == 2
           && memcmp(a.data, n, sizeof n) == 0, "the second file too");
    npy_free(&a);
    FILE *const f = fopen(second, "rb");
    unsigned char last[8];
    ok(f && !fseek(f, -8, SEEK_END) && fread(last, 1, sizeof last, f) == sizeof last &&
           !memcmp(last, "\xff\xff\xff\xff\xff\xff\xff\x7f", sizeof last),
       "in which numbers are little-endian");
    if (f)
        fclose(f);
    unlink(second);

    status = outputs_add(&o, "-o", second, NPY_F4, 1, three, given_x, &fault);
    ok(status == 0 && outputs_add(&o, "--lse", second, NPY_F4, 1, three, given_x, &fault) != 0
           && strstr(fault.text, "-o writes the same file"), "two outputs cannot have one name");
    outputs_discard(&o);
    memset(&fault, 0, sizeof fault);
    status = outputs_add(&o, "-o", second, NPY_F4, 1, three, given_x, &fault);
    ok(status == 0 &&
           outputs_add(&o, "--lse", in_dir("no/such.npy"), NPY_F4, 1, three, given_x, &fault) != 0,
       "an output in no directory is refused");
    outputs_discard(&o);
    ok(access(second, F_OK) != 0, "and the other one does not appear");
    memset(&fault, 0, sizeof fault);
    ok(outputs_add(&o, "-o", "/dev/null", NPY_F4, 1, three, given_x, &fault) != 0
           && strstr(fault.text, "not a regular file"), "a device is not replaced by a file");
    outputs_discard(&o);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%.200s/clattn-npy.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        bail("cannot make %s", dir);
    snprintf(file, sizeof file, "%s/x.npy", dir);
    check_headers();
    check_frames();
    check_values();
    check_places();
    unlink(file);
    is_int(rmdir(dir), 0, "nothing else is left behind");
    return done_testing();
}
