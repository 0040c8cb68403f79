/* status.c - names of statuses, words, growing text, checked arithmetic, caller's structs
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/base/why.h"
#include "tests/lib/tap.h"
#include "src/base/text.h"
#include "src/base/checked.h"
#include "src/base/caller_struct.h"

#include <stddef.h>

#define OWN(x)                                                                                                         \
    {                                                                                                                  \
        x, #x                                                                                                          \
    }
static const struct {
    cl_int status;
    const char *name;
} own[] = { OWN(CLATTN_ERROR_INVALID_ARGUMENT),
            OWN(CLATTN_ERROR_UNKNOWN_FIELD),
            OWN(CLATTN_ERROR_NOT_SUPPORTED),
            OWN(CLATTN_ERROR_BUFFER_TOO_SMALL),
            OWN(CLATTN_ERROR_WORKSPACE),
            OWN(CLATTN_ERROR_BUILD),
            OWN(CLATTN_ERROR_SYNTAX),
            OWN(CLATTN_ERROR_FORKED),
            OWN(CLATTN_ERROR_CONTEXT),
            OWN(CL_SUCCESS),
            OWN(CL_INVALID_VALUE),
            OWN(CL_OUT_OF_HOST_MEMORY),
            OWN(CL_BUILD_PROGRAM_FAILURE),
            OWN(CL_DEVICE_NOT_FOUND),
            /* of OpenCL 2 and later, and of the loader: as the specification numbers them */
            { -69, "CL_INVALID_PIPE_SIZE" },
            { -70, "CL_INVALID_DEVICE_QUEUE" },
            { -71, "CL_INVALID_SPEC_ID" },
            { -72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED" },
            { -1001, "CL_PLATFORM_NOT_FOUND_KHR" } };

static void test_names(void)
{
    size_t i;
    int s, bad = 0, strange = 0;
    for (i = 0; i < sizeof own / sizeof *own; i++)
        is_str(clattn_status_string(own[i].status), own[i].name, "%d has its name", (int)own[i].status);
    for (s = -30100; s < 100; s++) {
        const char *name = clattn_status_string(s);
        bad += !name || !*name;
        /* OpenCL 1.2 uses 0 to -19 and -30 to -68 without a gap */
        strange += ((s <= 0 && s >= -19) || (s <= -30 && s >= -68)) && (!name || strncmp(name, "CL_", 3));
    }
    ok(!bad, "no status is without text");
    ok(!strange, "every code of OpenCL 1.2 has its name");
    ok(*clattn_status_string(INT32_MIN) && *clattn_status_string(INT32_MAX), "not even the extremes");
}

static void test_words(void)
{
    static struct why why;
    char long_text[2 * WHY_MAX];
    is_int(why_set(&why, -7, "%s is %d", "x", 3), -7, "why_set passes the status on");
    is_str(why.text, "x is 3", "and keeps the words");
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    why_set(&why, -1, "%s", long_text);
    is_int((long long)strlen(why.text), WHY_MAX - 1, "long words are cut");
    is_int(why_cl(&why, CL_INVALID_KERNEL, "clFoo"), CL_INVALID_KERNEL, "why_cl passes the status on");
    ok(strstr(why.text, "clFoo") && strstr(why.text, "CL_INVALID_KERNEL"), "and names call and code: %s", why.text);
}

static void test_text(void)
{
    char room[8];
    struct text t = { room, sizeof room, 0 }, nowhere = { NULL, 0, 0 };
    memset(room, 'x', sizeof room);
    text_add(&t, "%d", 123);
    is_str(room, "123", "text grows");
    text_add_n(&t, "45678", 4);
    is_str(room, "1234567", "to the end of its room");
    text_add(&t, "%s", "and beyond");
    ok(!strcmp(room, "1234567") && t.length == 17, "and then only counts");
    text_add_n(&t, "more", 4);
    ok(!strcmp(room, "1234567") && t.length == 21, "whatever is added");
    text_add(&nowhere, "%s", "abc");
    text_add_n(&nowhere, "de", 2);
    is_int((long long)nowhere.length, 5, "without room it counts from the start");
}

static void test_arithmetic(void)
{
    int64_t r = 0;
    ok(checked_mul(INT64_C(1) << 31, INT64_C(1) << 31, &r) && r == INT64_C(1) << 62, "a product that fits");
    ok(!checked_mul(INT64_C(1) << 32, INT64_C(1) << 31, &r), "one that does not");
    ok(!checked_mul(INT64_MIN, -1, &r) && checked_mul(INT64_MIN, 1, &r), "the smallest number");
    ok(checked_add(INT64_MAX, 0, &r) && !checked_add(INT64_MAX, 1, &r) && !checked_add(INT64_MIN, -1, &r), "sums");
}

struct sample {
    size_t struct_size;
    int a, b;
};
struct longer {
    struct sample s;
    char tail[16];
};

static void test_structs(void)
{
    struct sample to = { 1, 2, 3 };
    struct longer from;
    struct why why;
    memset(&from, 0, sizeof from);
    from.s.a = 5;
    from.s.b = 6;
    is_int(caller_struct_read(&to, sizeof to, NULL, "sample", &why), CLATTN_ERROR_INVALID_ARGUMENT, "NULL");
    ok(strstr(why.text, "sample") != NULL, "is named: %s", why.text);
    is_int(caller_struct_read(&to, sizeof to, &from, "sample", &why), CLATTN_ERROR_INVALID_ARGUMENT, "size 0");
    from.s.struct_size = sizeof(size_t) - 1;
    is_int(caller_struct_read(&to, sizeof to, &from, "sample", &why), CLATTN_ERROR_INVALID_ARGUMENT,
           "less than a size");
    from.s.struct_size = SIZE_MAX;
    is_int(caller_struct_read(&to, sizeof to, &from, "sample", &why), CLATTN_ERROR_INVALID_ARGUMENT,
           "SIZE_MAX reads nothing");
    from.s.struct_size = offsetof(struct sample, b);
    is_int(caller_struct_read(&to, sizeof to, &from, "sample", &why), CLATTN_ERROR_INVALID_ARGUMENT,
           "a size that it never had");
    ok(strstr(why.text, "sizeof(sample)") && !to.a && !to.b, "reads nothing: %s", why.text);
    clattn_options older, read;
    memset(&older, 0x77, sizeof older);
    older.struct_size = offsetof(clattn_options, why);
    ok(!caller_struct_read(&read, sizeof read, &older, "clattn_options", &why) && read.store == older.store &&
           !read.why && !read.why_len,
       "an older struct: the rest is zero");
    is_int(caller_struct_read(&read, sizeof read, &older, "sample", &why), CLATTN_ERROR_INVALID_ARGUMENT,
           "which is what another is not");
    from.s.struct_size = sizeof from;
    ok(!caller_struct_read(&to, sizeof to, &from, "sample", &why) && to.a == 5 && to.b == 6,
       "a newer one, its tail zero");
    from.tail[15] = 1;
    is_int(caller_struct_read(&to, sizeof to, &from, "sample", &why), CLATTN_ERROR_UNKNOWN_FIELD,
           "a newer one, its tail not zero");
}

int main(void)
{
    test_names();
    test_words();
    test_text();
    test_arithmetic();
    test_structs();
    return done_testing();
}
