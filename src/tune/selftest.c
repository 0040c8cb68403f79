/* selftest.c - whether an engine that relies on a device's special instructions computes right there
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tune/selftest.h"

#include "judge/judge.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- The test ---- */

/* The tests cover both types; products alone, a diagonal, and everything that is done to a tile of scores; rows
 * that are loaded 16 bytes at a time, others, and those of pages; separate heads, and heads packed into one tile;
 * more than a tile of queries and of keys, and a rest; and so many groups that the grid has two rows, because the
 * device's own registers tell a group its index; and values so wide that waves may share rows. */
static const struct {
    int type, d, dv;
    bool causal, scores;
    int h, hk, nq, nk, page;
} tests[] = { { CLATTN_F16, 64, 64, false, false, 2, 2, 131, 133, 0 },
              { CLATTN_F16, 128, 128, true, false, 2, 1, 131, 133, 0 },
              { CLATTN_F16, 41, 26, true, true, 2, 1, 131, 133, 0 },
              { CLATTN_F16, 64, 64, true, false, 2, 1, 131, 133, 16 },
              { CLATTN_BF16, 64, 64, false, false, 2, 1, 131, 133, 0 },
              { CLATTN_BF16, 128, 160, true, false, 2, 2, 131, 133, 0 },
              { CLATTN_F16, 16, 16, true, false, 520, 520, 1, 20, 0 } };
enum { TESTS = sizeof tests / sizeof *tests };

static cl_int read_test(clattn_problem *p, size_t i, struct why *why)
{
    clattn_problem given = CLATTN_PROBLEM_INIT;
    given.type = tests[i].type;
    given.d = tests[i].d;
    given.dv = tests[i].dv;
    given.causal = tests[i].causal;
    given.page = tests[i].page;
    given.softcap = tests[i].scores ? 5 : 0;
    given.flags = tests[i].scores ? CLATTN_MASK : 0;
    given.sizes = (clattn_sizes){ 1, tests[i].h, tests[i].hk, tests[i].nq, tests[i].nk, 0, 0, 0 };
    return problem_read(p, &given, why);
}

static cl_int run_test(struct maker *maker, const clattn_problem *p, const struct config *config, struct why *why)
{
    const struct sample sample = { .p = *p, .seed = 11, .ragged = true };
    struct launch *const launch = malloc(sizeof *launch); /* too large for the stack of a small thread */
    int binary;
    if (!launch)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a self-test");
    cl_int status = build_launch(launch, maker, p, config, true, &binary, why);
    if (!status) {
        status = judge_pass(PASS_FORWARD, &sample, launch, 1, true, why);
        launch_clear(launch);
    }
    free(launch);
    return status;
}

/* The i-th test and the engine's tile for it; *has: there is one. */
static cl_int choose_test(clattn_problem *p, struct config *config, bool *has, size_t i, const struct maker *maker,
                          const struct engine *engine, struct why *why)
{
    const cl_int status = read_test(p, i, why);
    *has = !status && tile_config_at(config, &maker->caps, p, engine, 0); /* bf16 on Turing has none */
    return status;
}

cl_int selftest_run(struct maker *maker, const struct engine *engine, struct why *why)
{
    bool any = false;
    for (size_t i = 0; i < TESTS; i++) {
        clattn_problem p;
        struct config config;
        bool has;
        cl_int status = choose_test(&p, &config, &has, i, maker, engine, why);
        if (!status && has)
            status = run_test(maker, &p, &config, why);
        if (status)
            return status;
        any = any || has;
    }
    return any ? CL_SUCCESS : why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "it can run none of the test's problems");
}

/* ---- The verdict ---- */

enum { VERDICT_MAX = 128 };

struct verdict {
    char name[STORE_NAME_MAX]; /* of the blob */
    char key[DIGEST_HEX];
};

/* Adds a digest of everything that the program of the i-th test depends on. */
static cl_int add_program(struct text *to, size_t i, const struct maker *maker, const struct engine *engine,
                          struct why *why)
{
    struct source source = { NULL, NULL };
    unsigned char digest[DIGEST_BYTES];
    char digits[DIGEST_HEX], *key = NULL;
    struct config config;
    clattn_problem p;
    bool has;
    cl_int status = choose_test(&p, &config, &has, i, maker, engine, why);
    if (status || !has)
        return status;
    const struct target target = target_make(PASS_FORWARD, &p, &maker->caps, &config);
    if (!(status = source_compose(&source, &target, why)) &&
        !(key = program_key(&maker->caps, &source)))
        status = why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for the name of a program");
    if (key) {
        digest_of(digest, key, strlen(key));
        digest_hex(digits, digest);
        text_add(to, "%s", digits);
    }
    free(key);
    source_free(&source);
    return status;
}

/* Everything that the verdict depends on: that of the programs that were tested. */
static cl_int name_verdict(struct verdict *v, const struct maker *maker, const struct engine *engine, struct why *why)
{
    char all[TESTS * DIGEST_HEX + 1] = "";
    unsigned char digest[DIGEST_BYTES];
    struct text text = { all, sizeof all, 0 }, name = { v->name, sizeof v->name, 0 };
    for (size_t i = 0; i < TESTS; i++) {
        const cl_int status = add_program(&text, i, maker, engine, why);
        if (status)
            return status;
    }
    digest_of(digest, all, strlen(all));
    digest_hex(v->key, digest);
    text_add(&name, "test/%.32s/%.32s", maker->lookup->by.device, v->key);
    return CL_SUCCESS;
}

/* Prints a verdict as it is kept; returns its length. */
static size_t print_verdict(char line[VERDICT_MAX], const struct verdict *v, const struct engine *engine, int verdict)
{
    struct text to = { line, VERDICT_MAX, 0 };
    text_add(&to, "%s %s %s\n", engine->name, verdict == CAPS_PASSED ? "passed" : "failed", v->key);
    return to.length;
}

static int read_verdict(const struct verdict *v, struct maker *maker, const struct engine *engine)
{
    static const int verdicts[] = { CAPS_PASSED, CAPS_FAILED };
    unsigned char *bytes = NULL;
    size_t n = 0;
    int found = CAPS_UNTESTED;
    if (crash_guard_is_poisoned(&maker->store, v->key))
        return CAPS_FAILED;
    if (!store_read(&maker->store, v->name, VERDICT_MAX, &bytes, &n))
        return CAPS_UNTESTED;
    for (int i = 0; i < 2; i++) {
        char line[VERDICT_MAX];
        if (n == print_verdict(line, v, engine, verdicts[i]) && !memcmp(bytes, line, n))
            found = verdicts[i];
    }
    free(bytes);
    return found;
}

static void keep_verdict(const struct verdict *v, struct maker *maker, const struct engine *engine, int verdict)
{
    char line[VERDICT_MAX];
    const size_t n = print_verdict(line, v, engine, verdict);
    (void)store_write(&maker->store, v->name, line, n, false);
}

/* A failure for lack of memory says nothing about the engine and is not kept. Every other verdict is kept, also that of
 * a kernel that crashed. */
static bool is_final(cl_int status)
{
    return status != CL_OUT_OF_HOST_MEMORY && status != CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

static void close_apart(struct maker *own)
{
    programs_clear(&own->programs);
    if (own->context)
        clReleaseContext(own->context);
    free(own);
}

/* Makes a copy of `maker` with a context of its own, because a kernel that crashes destroys its context, and the
 * caller's must survive. Everything else is borrowed. NULL: it cannot be had. */
static struct maker *open_apart(struct maker *maker, struct why *why)
{
    cl_platform_id platform;
    cl_int status = clGetDeviceInfo(maker->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (status) {
        why_cl(why, status, "CL_DEVICE_PLATFORM");
        return NULL;
    }
    const cl_context_properties on[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0 };
    struct maker *const own = calloc(1, sizeof *own); /* too large for the stack of a small thread */
    if (!own) {
        why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a self-test");
        return NULL;
    }
    own->settings = maker->settings;
    own->log = maker->log;
    own->log_user = maker->log_user;
    caps_copy(&own->caps, &maker->caps);
    if (programs_init(&own->programs, why)) {
        free(own);
        return NULL;
    }
    cl_context context = clCreateContext(on, 1, &maker->device, NULL, NULL, &status);
    if (context && !status) {
        maker_connect(own, context, maker->device, maker->lookup, maker);
        return own;
    }
    why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateContext");
    close_apart(own);
    return NULL;
}

/* Called with the lock held. */
static int find_verdict(struct maker *maker, const struct engine *engine)
{
    const char *const name = engine->name;
    struct verdict v;
    struct why why = { "" };
    if (name_verdict(&v, maker, engine, &why))
        return CAPS_UNTESTED;
    const int known = read_verdict(&v, maker, engine);
    if (known == CAPS_PASSED)
        return known;
    if (known == CAPS_FAILED) {
        maker_log(maker, "engine %s is not used: it failed its self-test on this device before", name);
        return known;
    }
    struct maker *const own = open_apart(maker, &why);
    if (!own) {
        maker_log(maker, "engine %s is not tested: %s", name, why.text);
        return CAPS_UNTESTED;
    }
    crash_guard_mark(&maker->store, v.key);
    const cl_int status = selftest_run(own, engine, &why);
    close_apart(own);
    crash_guard_unmark(&maker->store, v.key);
    const int verdict = status ? CAPS_FAILED : CAPS_PASSED;
    if (is_final(status))
        keep_verdict(&v, maker, engine, verdict);
    if (status)
        maker_log(maker, "engine %s is not used: it failed its self-test on this device: %.*s", name,
                  (int)strcspn(why.text, "\n"), why.text);
    return verdict;
}

static void test_engine(struct maker *maker, const clattn_problem *p, const struct engine *engine)
{
    struct config config;
    if (engine_verdict(engine, &maker->caps) != CAPS_UNTESTED || !tile_config_at(&config, &maker->caps, p, engine, 0))
        return;
    build_probe(maker, p, &config); /* what the test is made of */
    pthread_mutex_lock(&maker->lookup->searching);
    if (engine_verdict(engine, &maker->caps) == CAPS_UNTESTED)
        engine_set_verdict(engine, &maker->caps, find_verdict(maker, engine));
    pthread_mutex_unlock(&maker->lookup->searching);
}

void selftest_engines(struct maker *maker, const clattn_problem *p)
{
    for (size_t i = 0; engine_at(i); i++)
        if (engine_at(i)->wants_selftest)
            test_engine(maker, p, engine_at(i));
}
