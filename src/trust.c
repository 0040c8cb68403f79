/* trust.c - whether an engine that relies on a device's special instructions computes right there
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trust.h"

#include <stdlib.h>
#include <string.h>

/* ---- The test ---- */

static cl_int run_test(struct launch *l, struct maker *maker, const clattn_problem *p, struct why *why)
{
    struct sample sample = { *p, 11, true };
    struct bed bed;
    double seconds, device;
    cl_int status = bed_open(&bed, maker->context, maker->device, &sample, true, 1, why);
    if (!status && !(status = bed_run(&bed, l, 0, &seconds, &device, why)) && !(status = bed_check(&bed, 1, why)))
        status = bed_repeat(&bed, l, why);
    bed_close(&bed);
    return status;
}

/* More than a tile of queries and of keys, and a rest of both. */
static cl_int test_problem(struct maker *maker, const struct engine *engine, int type, int d, bool causal,
                           struct why *why)
{
    clattn_problem given = CLATTN_PROBLEM_INIT, p;
    struct config config;
    struct launch launch;
    int binary;
    cl_int status;
    given.type = type;
    given.d = d;
    given.causal = causal;
    given.sizes = (clattn_sizes){ 1, 2, 1, 131, 133, 0, 0, 0 };
    if ((status = problem_read(&p, &given, why)))
        return status;
    if (!tile_config_at(&config, &maker->caps, &p, engine, 0))
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "it has no tile for d %d", d);
    if ((status = build_launch(&launch, maker, &p, &config, true, &binary, why)))
        return status;
    status = run_test(&launch, maker, &p, why);
    launch_clear(&launch);
    return status;
}

static bool takes(const struct engine *engine, const struct maker *maker, int type)
{
    clattn_problem given = CLATTN_PROBLEM_INIT, p;
    struct config config;
    struct why why;
    given.type = type;
    given.d = 64;
    return !problem_read(&p, &given, &why) && tile_config_at(&config, &maker->caps, &p, engine, 0);
}

cl_int trust_test(struct maker *maker, const struct engine *engine, struct why *why)
{
    static const int types[] = { CLATTN_F16, CLATTN_BF16 };
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < 2 && !status; i++)
        if (takes(engine, maker, types[i]) &&
            !(status = test_problem(maker, engine, types[i], 64, false, why)))
            status = test_problem(maker, engine, types[i], 128, true, why);
    return status;
}

/* ---- The verdict ---- */

enum { VERDICT_MAX = 128 };

struct verdict {
    char name[STORE_NAME_MAX]; /* of the blob */
    char key[DIGEST_HEX];      /* of device, driver and version of this library */
};

static void name_verdict(struct verdict *v, const struct maker *maker)
{
    const struct bench *by = &maker->choices->by;
    char all[sizeof by->device + sizeof maker->caps.driver + 64];
    unsigned char digest[DIGEST_BYTES];
    struct text text = { all, sizeof all, 0 }, name = { v->name, sizeof v->name, 0 };
    text_add(&text, "%s\n%s\n" PACKAGE_VERSION " %d", by->device, maker->caps.driver, by->family);
    digest_of(digest, all, strlen(all));
    digest_hex(v->key, digest);
    text_add(&name, "test/%.32s/%.32s", by->device, v->key);
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

/* What a fault of the moment says is not kept: without memory any engine fails. */
static bool is_final(cl_int status)
{
    return !status || status == CLATTN_ERROR_WRONG_RESULT || status == CLATTN_ERROR_BUILD ||
           status == CLATTN_ERROR_NOT_SUPPORTED;
}

/* With the lock held. */
static int find_verdict(struct maker *maker)
{
    static const char name[] = "mma_nv";
    struct verdict v;
    struct why why = { "" };
    name_verdict(&v, maker);
    int matrix = read_verdict(&v, maker);
    if (matrix == CAPS_PASSED)
        return matrix;
    if (matrix == CAPS_FAILED) {
        maker_log(maker, "engine %s is left alone: it failed its test on this device before", name);
        return matrix;
    }
    store_mark(&maker->store, v.key);
    const cl_int status = trust_test(maker, engine_find(name, sizeof name - 1), &why);
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
    if (!maker->caps.nv_cc || (p->type != CLATTN_F16 && p->type != CLATTN_BF16) ||
        __atomic_load_n(&maker->caps.matrix, __ATOMIC_ACQUIRE) != CAPS_UNTESTED)
        return;
    pthread_mutex_lock(&maker->choices->searching);
    if (__atomic_load_n(&maker->caps.matrix, __ATOMIC_ACQUIRE) == CAPS_UNTESTED)
        __atomic_store_n(&maker->caps.matrix, find_verdict(maker), __ATOMIC_RELEASE);
    pthread_mutex_unlock(&maker->choices->searching);
}
