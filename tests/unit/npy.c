/* npy.c - .npy files, good and hostile
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "tools/oracle/inputs.h"
#include "tools/npy/npy.h"
#include "tools/npy/output.h"
#include "tools/run/wholes.h"

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
    (void)remove(file); /* some file systems wait for the disk where a file is emptied and written again */
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
    header_case(D("<f4", "(2, 2)"), 15, "15 bytes of data where [2,2] of <f4 needs 16");
    header_case(D(">f8", "(2, 2)"), 31, "31 bytes of data where [2,2] of >f8 needs 32");
    header_case(D("=f4", "(2,)"), 8, "not supported");
    header_case(D("|f4", "(2,)"), 8, "not supported");
    header_case(D("f4", "(2,)"), 8, "not supported");
    header_case(D(">f16", "(2,)"), 32, "not supported");
    header_case(D("<i3", "(2,)"), 6, "not supported");
    header_case(D("<c8", "(2,)"), 16, "not supported");
    header_case(D("<b4", "(2,)"), 8, "not supported");
    header_case(D("<f4 ", "(2,)"), 8, "not supported");
    header_case(D("", "(2,)"), 8, "not supported");
    header_case(D("<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4", "(2,)"), 8, "too long");
    header_case(D("<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<", "(2,)"), 8, "not supported"); /* 31 letters */
    header_case(D("<f4<f4<f4<f4<f4<f4<f4<f4<f4<f4<f", "(2,)"), 8, "too long");
    header_case(D("|O", "(2,)"), 16, "not supported");
    header_case("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n", 8, "records");
    header_case("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }\n", 16, NULL);
    header_case("{'descr': '<f4', 'fortran_order': True, 'shape': (), }\n", 4, NULL);
    header_case("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 0), }\n", 0, NULL);
    header_case("{'descr': '<f4', 'fortran_order': True, 'shape': (4611686018427387904, 4), }\n", 0, "too large");
    header_case("{'descr': '<f4', 'fortran_order': true, 'shape': (2, 2), }\n", 16, "neither");
    header_case("{'descr': '<f4', 'fortran_order': Truest, 'shape': (2, 2), }\n", 16, "comma");
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

/* ---- Types and orders ---- */

/* Element i of an array of [2,3,4] in C order, and where it is in Fortran order. */
static size_t in_fortran_order(size_t i)
{
    return i / 12 + 2 * (i / 4 % 3) + 6 * (i % 4);
}

/* Every type in either order of bytes and of elements: the value of an element is its place in C order, less 12 where
 * the type has a sign. `encode`: the bits of that number. */
static uint64_t encode(const char *type, int x)
{
    const float single = (float)x;
    const double wide = x;
    uint32_t narrow;
    uint64_t bits;
    if (type[0] == 'i' || type[0] == 'u' || type[0] == 'b')
        return (uint64_t)(int64_t)x;
    memcpy(&narrow, &single, sizeof narrow);
    memcpy(&bits, &wide, sizeof bits);
    /* A whole number below 16 has few digits: a half is a float with three bits of its exponent less. */
    return type[1] == '8' ? bits : type[1] == '4' ? narrow
           : x == 0 ? 0 : (narrow >> 16 & 0x8000) | ((narrow & 0x7fffffff) - (112u << 23)) >> 13;
}

static uint64_t in_host_order(const struct npy *a, size_t i)
{
    const size_t size = npy_size(a->type);
    uint8_t one = 0;
    uint16_t two = 0;
    uint32_t four = 0;
    uint64_t eight = 0;
    const unsigned char *at = (const unsigned char *)a->data + i * size;
    memcpy(&one, at, 1);
    memcpy(&two, at, size < 2 ? 0 : 2);
    memcpy(&four, at, size < 4 ? 0 : 4);
    memcpy(&eight, at, size < 8 ? 0 : 8);
    return size == 1 ? one : size == 2 ? two : size == 4 ? four : eight;
}

static void check_type(const char *type, char order, int fortran)
{
    unsigned char bytes[512];
    char header[128];
    const size_t size = (size_t)(type[1] - '0');
    const uint64_t mask = size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
    const int less = type[0] == 'u' || type[0] == 'b' ? 0 : 12;
    struct npy a;
    snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (2, 3, 4), }\n", order, type,
             fortran ? "True" : "False");
    size_t n = compose(bytes, 1, header, 24 * size);
    for (size_t i = 0; i < 24; i++)
        for (size_t k = 0; k < size; k++)
            bytes[n - 24 * size + (fortran ? in_fortran_order(i) : i) * size + (order == '>' ? size - 1 - k : k)] =
                (unsigned char)(encode(type, (int)i - less) >> 8 * k);
    put(bytes, n);
    int good = read_back(&a) == 0 && a.name[0] == order && strcmp(a.name + 1, type) == 0 && a.ndim == 3 &&
               a.shape[0] == 2 && a.shape[2] == 4 && a.count == 24 &&
               npy_is_whole(a.type) == (type[0] == 'i' || type[0] == 'u');
    for (size_t i = 0; i < 24 && good; i++) {
        good = in_host_order(&a, i) == (encode(type, (int)i - less) & mask);
        if (npy_is_whole(a.type))
            good = good && npy_whole(&a, i) == (int)i - less;
    }
    ok(good, "%c%s in %s order: every element (%s)", order, type, fortran ? "Fortran" : "C", fault.text);
    npy_free(&a);
}

static void check_types(void)
{
    static const char *const types[] = { "f2", "f4", "f8", "b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int fortran = 0; fortran < 2; fortran++) {
            check_type(types[i], '<', fortran);
            check_type(types[i], '>', fortran);
            if (types[i][1] == '1')
                check_type(types[i], '|', fortran);
        }
}

/* ---- What an int32 can hold ---- */

static void whole_case(const char *name, uint64_t bits, const char *want)
{
    unsigned char bytes[256];
    char header[128], got[32];
    const size_t size = (size_t)(name[1] - '0');
    struct npy a;
    snprintf(header, sizeof header, "{'descr': '>%s', 'fortran_order': False, 'shape': (3,), }\n", name);
    const size_t n = compose(bytes, 1, header, 3 * size);
    memset(bytes + n - 3 * size, 0, 3 * size);
    for (size_t k = 0; k < size; k++)
        bytes[n - 1 - k] = (unsigned char)(bits >> 8 * k);
    put(bytes, n);
    memset(&fault, 0, sizeof fault);
    const int status = wholes_read("--x", file, &a, &fault);
    snprintf(got, sizeof got, "%ld", status == 0 ? (long)((const int32_t *)a.data)[2] : 0);
    if (want)
        ok(status == 0 && strcmp(got, want) == 0 && a.type == NPY_I4 && a.count == 3, ">%s %s is %s %s", name, want,
           got, fault.text);
    else
        ok(status == -1 && !a.data && strstr(fault.text, "the value at [2], of type >") &&
               strstr(fault.text, "outside -2147483648 to 2147483647"), ">%s of %llx is refused: %s", name,
           (unsigned long long)bits, fault.text);
    npy_free(&a);
}

static void check_wholes(void)
{
    whole_case("i1", 0x80, "-128");
    whole_case("u1", 0x80, "128");
    whole_case("i2", 0x8000, "-32768");
    whole_case("u2", 0xffff, "65535");
    whole_case("i4", 0x80000000, "-2147483648");
    whole_case("u4", 0x7fffffff, "2147483647");
    whole_case("u4", 0x80000000, NULL);
    whole_case("i8", 0x7fffffff, "2147483647");
    whole_case("i8", UINT64_C(0xffffffff80000000), "-2147483648");
    whole_case("i8", 0x80000000, NULL);
    whole_case("i8", UINT64_C(0xffffffff7fffffff), NULL);
    whole_case("i8", UINT64_C(0x100000000), NULL);
    whole_case("u8", 0x7fffffff, "2147483647");
    whole_case("u8", UINT64_C(0xffffffffffffffff), NULL);
    struct npy a;
    unsigned char bytes[256];
    put(bytes, compose(bytes, 1, D(">f4", "(3,)"), 12));
    memset(&fault, 0, sizeof fault);
    ok(wholes_read("--x", file, &a, &fault) == -1 && !a.data && strstr(fault.text, "its type is >f4, want i1 to i8"),
       "floats are no whole numbers: %s", fault.text);
    put(bytes, compose(bytes, 1, D("<u8", "(0,)"), 0));
    ok(wholes_read("--x", file, &a, &fault) == 0 && a.count == 0, "none at all are taken");
    npy_free(&a);
}

/* ---- Damage ---- */

/* One of a few good files, with up to four bytes changed, taken out or doubled, or the rest of it cut off. */
static size_t damage(unsigned char bytes[512], uint64_t *random)
{
    static const char *const headers[] = {
        D("<f4", "(2, 3)"), D(">f8", "(3, 1)"), D(">u2", "(2, 6)"), D("|u1", "(2, 2, 2, 3)"),
        "{'descr': '<i8', 'fortran_order': True, 'shape': (3, 1), }\n",
        "{'descr': '>f2', 'fortran_order': True, 'shape': (2, 3, 2), }\n",
        "{'fortran_order': True, 'descr': '|i1', 'shape': (4, 6), }\n",
    };
    static const char letters[] = "0123456789'\",(){}: <>|fiubTrueFalse\n";
    size_t n = compose(bytes, 1 + (int)(inputs_bits(random) % 2),
                       headers[inputs_bits(random) % (sizeof headers / sizeof *headers)], 24);
    for (uint64_t left = 1 + inputs_bits(random) % 4; left > 0 && n > 1; left--) {
        const size_t at = inputs_bits(random) % n;
        const uint64_t how = inputs_bits(random) % 16;
        if (how == 0)
            n = at;
        else if (how < 4)
            memmove(bytes + at, bytes + at + 1, --n - at);
        else if (how < 7)
            memmove(bytes + at + 1, bytes + at, n++ - at);
        else if (how < 9)
            bytes[at] ^= (unsigned char)(1u << inputs_bits(random) % 8);
        else
            bytes[at] = (unsigned char)letters[inputs_bits(random) % (sizeof letters - 1)];
    }
    return n;
}

/* Thousands of damaged files, the same ones in every run: each is refused in a line, or taken for what its header says
 * and not one byte more. */
static void check_damage(void)
{
    enum { FILES = 20000 };
    uint64_t random = inputs_stream(20261126, 0);
    int taken = 0, wrong = 0;
    for (int i = 0; i < FILES; i++) {
        unsigned char bytes[512];
        struct npy a;
        const size_t n = damage(bytes, &random);
        put(bytes, n);
        if (read_back(&a) == 0) {
            size_t count = 1;
            for (int axis = 0; axis < a.ndim; axis++)
                count *= (size_t)a.shape[axis];
            uint64_t sum = 0; /* touches all of them, for what looks on */
            for (size_t k = 0; k < a.count * npy_size(a.type); k++)
                sum += ((const unsigned char *)a.data)[k];
            wrong += a.count != count || a.count * npy_size(a.type) > n || sum > 255 * n;
            taken++;
        } else {
            wrong += a.data || fault.status != EXIT_USAGE || !fault.text[0] || strchr(fault.text, '\n') != NULL;
        }
        npy_free(&a);
    }
    ok(wrong == 0 && taken > FILES / 100 && taken < FILES / 2, "%d of %d damaged files are taken, %d wrongly", taken,
       FILES, wrong);
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
           && strstr(fault.text, "regular file"), "a device is not replaced by a file");
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
    check_types();
    check_wholes();
    check_values();
    check_damage();
    check_places();
    unlink(file);
    is_int(rmdir(dir), 0, "nothing else is left behind");
    return done_testing();
}
