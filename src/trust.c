/* trust.c - whether an engine that relies on a device's special instructions computes right there
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trust.h"

#include <stdlib.h>
#include <string.h>

/* ---- The test ---- */

/* Both types; products alone, a diagonal, and everything that is done to a tile of scores; rows that are loaded 16 bytes
 * at a time, and others. */
static const struct {
    int type, d, dv;
    bool causal, scores;
} tests[] = { { CLATTN_F16, 64, 64, false, false },  { CLATTN_F16, 128, 128, true, false },
              { CLATTN_F16, 41, 26, true, true },    { CLATTN_BF16, 64, 64, false, false },
              { CLATTN_BF16, 128, 128, true, false } };
enum { TESTS = sizeof tests / sizeof *tests };

static cl_int read_test(clattn_problem *p, size_t i, struct why *why)
{
    clattn_problem given = CLATTN_PROBLEM_INIT;
    given.type = tests[i].type;
    given.d = tests[i].d;
    given.dv = tests[i].dv;
    given.causal = tests[i].causal;
    given.softcap = tests[i].scores ? 5 : 0;
    given.flags = tests[i].scores ? CLATTN_MASK : 0;
    given.sizes = (clattn_sizes){ 1, 2, 1, 131, 133, 0, 0, 0 }; /* more than a tile of queries and of keys, and a rest */
    return problem_read(p, &given, why);
}

static cl_int run_test(struct maker *maker, const clattn_problem *p, const struct config *config, struct why *why)
{
    struct sample sample = { *p, 11, true };
    struct launch launch;
    struct bed bed;
    double seconds, device;
    int binary;
    cl_int status = build_launch(&launch, maker, p, config, true, &binary, why);
    if (status)
        return status;
    status = bed_open(&bed, maker->context, maker->device, &sample, true, 1, why);
    if (!status && !(status = bed_run(&bed, &launch, 0, &seconds, &device, why)) && !(status = bed_check(&bed, 1, why)))
        status = bed_repeat(&bed, &launch, why);
    bed_close(&bed);
    launch_clear(&launch);
    return status;
}

cl_int trust_test(struct maker *maker, const struct engine *engine, struct why *why)
{
    bool any = false;
    for (size_t i = 0; i < TESTS; i++) {
        clattn_problem p;
        struct config config;
        cl_int status = read_test(&p, i, why);
        if (status)
            return status;
        if (!tile_config_at(&config, &maker->caps, &p, engine, 0))
            continue; /* bf16 on Turing */
        any = true;
        if ((status = run_test(maker, &p, &config, why)))
            return status;
    }
    return any ? CL_SUCCESS : why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "there is nothing that it could run");
}

/* ---- The verdict ---- */

enum { VERDICT_MAX = 128 };

struct verdict {
    char name[STORE_NAME_MAX]; /* of the blob */
    char key[DIGEST_HEX];
};

/* Everything that the verdict depends on: device, driver, and the programs that were tested. */
static cl_int name_verdict(struct verdict *v, const struct maker *maker, const struct engine *engine, struct why *why)
{
    const struct bench *by = &maker->choices->by;
    char all[sizeof by->device + sizeof maker->caps.driver + 2 * TESTS * DIGEST_HEX + 8];
    unsigned char digest[DIGEST_BYTES];
    struct text text = { all, sizeof all, 0 }, name = { v->name, sizeof v->name, 0 };
    text_add(&text, "%s\n%s\n", by->device, maker->caps.driver);
    for (size_t i = 0; i < TESTS; i++) {
        struct source source;
        struct config config;
        clattn_problem p;
        char digits[DIGEST_HEX];
        cl_int status = read_test(&p, i, why);
        if (status)
            return status;
        if (!tile_config_at(&config, &maker->caps, &p, engine, 0))
            continue;
        if ((status = source_compose(&source, &p, &maker->caps, &config, why)))
            return status;
        digest_of(digest, source.text, strlen(source.text));
        digest_hex(digits, digest);
        text_add(&text, "%s", digits);
        digest_of(digest, source.options, strlen(source.options));
        digest_hex(digits, digest);
        text_add(&text, "%s", digits);
        source_free(&source);
    }
    digest_of(digest, all, strlen(all));
    digest_hex(v->key, digest);
    text_add(&name, "test/%.32s/%.32s", by->device, v->key);
    return CL_SUCCESS;
}

static int read_verdict(const struct verdict *v, struct maker *maker)
{
    static const struct {
        int matrix;
        const char *word;
    } words[] = { { CAPS_PASSED, "passed" }, { CAPS_FAILED, "failed" } };
    unsigned char *bytes = NULL;
    size_t n = 0;
    int found = CAPS_UNTESTED;
    if (store_is_poisoned(&maker->store, v->key))
        return CAPS_FAILED;
    if (!store_read(&maker->store, v->name, VERDICT_MAX, &bytes, &n))
        return CAPS_UNTESTED;
    for (int i = 0; i < 2; i++) {
        char line[VERDICT_MAX];
        struct text to = { line, sizeof line, 0 };
        text_add(&to, "mma_nv %s %s\n", words[i].word, v->key);
        if (n == to.length && !memcmp(bytes, line, n))
            found = words[i].matrix;
    }
    free(bytes);
    return found;
}

static void keep_verdict(const struct verdict *v, struct maker *maker, bool passed)
{
    char line[VERDICT_MAX];
    struct text to = { line, sizeof line, 0 };
    text_add(&to, "mma_nv %s %s\n", passed ? "passed" : "failed", v->key);
    (void)store_write(&maker->store, v->name, line, to.length, false);
}

/* Without memory any engine fails: that is not kept. All else is, what a kernel that dies leaves behind as well. */
static bool is_final(cl_int status)
{
    return status != CL_OUT_OF_HOST_MEMORY && status != CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

/* With the lock held. */
static int find_verdict(struct maker *maker, const struct engine *engine)
{
    const char *const name = engine->name;
    struct verdict v;
    struct why why = { "" };
    if (name_verdict(&v, maker, engine, &why))
        return CAPS_UNTESTED;
    const int matrix = read_verdict(&v, maker);
    if (matrix == CAPS_PASSED)
        return matrix;
    if (matrix == CAPS_FAILED) {
        maker_log(maker, "engine %s is left alone: it failed its test on this device before", name);
        return matrix;
    }
    store_mark(&maker->store, v.key);
    const cl_int status = trust_test(maker, engine, &why);
    store_unmark(&maker->store, v.key);
    if (is_final(status))
        keep_verdict(&v, maker, !status);
    if (status)
        maker_log(maker, "engine %s is left alone: it fails its test on this device: %.*s", name,
                  (int)strcspn(why.text, "\n"), why.text);
    return status ? CAPS_FAILED : CAPS_PASSED;
}

void trust_engines(struct maker *maker, const clattn_problem *p)
{
    static const char name[] = "mma_nv";
    const struct engine *const engine = engine_find(name, sizeof name - 1);
    struct config config;
    if (__atomic_load_n(&maker->caps.matrix, __ATOMIC_ACQUIRE) != CAPS_UNTESTED ||
        !tile_config_at(&config, &maker->caps, p, engine, 0))
        return;
    pthread_mutex_lock(&maker->choices->searching);
    if (__atomic_load_n(&maker->caps.matrix, __ATOMIC_ACQUIRE) == CAPS_UNTESTED)
        __atomic_store_n(&maker->caps.matrix, find_verdict(maker, engine), __ATOMIC_RELEASE);
    pthread_mutex_unlock(&maker->choices->searching);
    programs_drop_brief(&maker->programs);
}
