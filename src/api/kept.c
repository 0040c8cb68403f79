/* kept.c - the public calls about what is kept: records, counters and caches
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/handle.h"
#include "base/caller_struct.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- Records ---- */

struct exporter {
    cl_int (*write)(void *user, const char *text, size_t len);
    void *user;
    cl_int status;
};

static bool export_one(void *user, const struct record *r)
{
    struct exporter *e = user;
    char text[RECORD_TEXT_MAX];
    struct text to = { text, sizeof text, 0 };
    record_print(r, &to);
    if (to.length < sizeof text)
        e->status = e->write(e->user, text, to.length);
    return !e->status;
}

cl_int clattn_wisdom_export(clattn_handle h, cl_int (*write)(void *user, const char *text, size_t len), void *user)
{
    struct why why = { "" };
    struct exporter e = { write, user, CL_SUCCESS };
    const cl_int status = handle_check(h);
    if (status)
        return status;
    if (!write)
        return handle_done(h, why_set(&why, CLATTN_ERROR_INVALID_ARGUMENT, "write is NULL"), &why);
    wisdom_each(&h->maker.store, &h->lookup.by, export_one, &e);
    return handle_done(h, e.status, &why);
}

/* Whether a record could be used here: its class is a problem, its configuration one that could have been measured. */
static bool is_usable(clattn_handle h, const struct record *r, struct why *why)
{
    struct config config;
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char plain[CLASS_MAX];
    struct text to = { plain, sizeof plain, 0 };
    clattn_problem p;
    const char *const digest = strstr(r->class_text, " mod:#");
    text_add_n(&to, r->class_text, digest ? (size_t)(digest - r->class_text) : strlen(r->class_text));
    return !workload_parse(&c, plain, why) && !plan_choose(&config, &p, &h->maker.caps, &c.problem, NULL, why) &&
           config_lookup_read(&config, r->config, &h->maker, &p);
}

static void import_one(clattn_handle h, const struct record *r, clattn_import_count *n, struct why *why)
{
    const struct record_device *by = &h->lookup.by;
    struct store *store = &h->maker.store;
    struct record old;
    bool rejected;
    if (strcmp(r->by.device, by->device) || r->by.family != by->family)
        n->foreign++;
    else if (!is_usable(h, r, why))
        n->refused++;
    else if (wisdom_get(store, by, r->class_text, &old, &rejected) && !wisdom_is_better(r, &old))
        n->worse++;
    else if (wisdom_put(store, r))
        n->taken++;
    else
        n->refused++;
}

cl_int clattn_wisdom_import(clattn_handle h, const char *text, size_t len, clattn_import_count *count)
{
    clattn_import_count n = { sizeof n, 0, 0, 0, 0 };
    struct record *list = NULL;
    struct why why;
    size_t records = 0;
    cl_int status = handle_check(h);
    if (status)
        return status;
    if (!text)
        return handle_done(h, why_set(&why, CLATTN_ERROR_INVALID_ARGUMENT, "text is NULL"), &why);
    if (!record_parse_all(text, len, &list, &records, &why))
        return handle_done(h, CLATTN_ERROR_SYNTAX, &why);
    if (count) /* refused before anything is kept */
        status = handle_give(count, &n, sizeof n, "clattn_import_count", &why);
    for (size_t i = 0; i < records && !status; i++)
        import_one(h, &list[i], &n, &why);
    free(list);
    plan_table_forget(&h->plans);
    if (count && !status)
        status = handle_give(count, &n, sizeof n, "clattn_import_count", &why);
    return handle_done(h, status, &why);
}

cl_int clattn_wisdom_forget(clattn_handle h, const clattn_problem *problem)
{
    struct why why;
    struct class class;
    clattn_problem p;
    cl_int status = handle_check(h);
    if (status)
        return status;
    if (problem && (status = plan_class(&p, &class, &h->maker.caps, problem, &why)))
        return handle_done(h, status, &why);
    wisdom_drop(&h->maker.store, &h->lookup.by, problem ? class.text : NULL);
    config_lookup_forget(&h->maker, problem ? class.text : NULL, CLATTN_ORIGIN_TUNED);
    plan_table_forget(&h->plans);
    return CL_SUCCESS;
}

/* ---- What is kept ---- */

cl_int clattn_stats(clattn_handle h, clattn_counters *counters)
{
    struct why why;
    clattn_counters own;
    const cl_int status = handle_check(h);
    if (status)
        return status;
    const uint64_t *const from = &h->maker.counters.compiles;
    uint64_t *const to = &own.compiles;
    own.struct_size = sizeof own;
    for (size_t i = 0; i < (sizeof own - offsetof(clattn_counters, compiles)) / sizeof *to; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    own.store_faults = __atomic_load_n(&h->maker.store.faults, __ATOMIC_RELAXED);
    return handle_done(h, handle_give(counters, &own, sizeof own, "clattn_counters", &why), &why);
}

/* The store that options lead to, without a device. */
static cl_int open_store(struct store *store, clattn_options *o, const clattn_options *options, struct why *why)
{
    *o = (clattn_options)CLATTN_OPTIONS_INIT;
    const cl_int status = options ? caller_struct_read(o, sizeof *o, options, "clattn_options", why) : CL_SUCCESS;
    memset(store, 0, sizeof *store);
    if (!status)
        store_init(store, o, why);
    return status;
}

/* Digests and numbers: what else lies in a folder is somebody's own. */
static bool is_ours(const char *name)
{
    const char *const rest = strchr(name, '/');
    return rest && strlen(rest) > DIGEST_HEX / 2 && !rest[strspn(rest, "0123456789abcdef/.-")];
}

struct counted {
    uint64_t blobs, bytes;
};

static bool count_ours(void *user, const char *name, uint64_t bytes)
{
    struct counted *const c = user;
    c->blobs += is_ours(name);
    c->bytes += is_ours(name) ? bytes : 0;
    return true;
}

cl_int clattn_cache_stat(const clattn_options *options, clattn_cache_info *info)
{
    clattn_cache_info own = { sizeof own, 0, 0, 0, 0, 0, 0, "" };
    struct counted binaries = { 0, 0 }, records = { 0, 0 }, skipped = { 0, 0 };
    clattn_options o;
    struct store store;
    struct why why;
    cl_int status = open_store(&store, &o, options, &why);
    if (!status) {
        handle_copy_text(store.root ? store.root : "", own.path, sizeof own.path, NULL);
        store_walk(&store, "bin", count_ours, &binaries);
        store_walk(&store, "tune", count_ours, &records);
        store_walk(&store, "poisoned", count_ours, &skipped);
        own.binaries = binaries.blobs;
        own.binary_bytes = binaries.bytes;
        own.binary_max = store.max_bytes;
        own.records = records.blobs;
        own.record_bytes = records.bytes;
        own.skipped = skipped.blobs;
        status = handle_give(info, &own, sizeof own, "clattn_cache_info", &why);
    }
    store_clear(&store);
    return handle_failed(&o, status, &why);
}

static bool remove_one(void *user, const char *name, uint64_t bytes)
{
    (void)bytes;
    if (is_ours(name))
        store_remove(user, name);
    return true;
}

cl_int clattn_cache_clear(const clattn_options *options)
{
    static const char *const folders[] = { "bin", "tune", "note", "test", "inflight", "suspected", "poisoned" };
    clattn_options o;
    struct store store;
    struct why why;
    const cl_int status = open_store(&store, &o, options, &why);
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !status; i++)
        store_walk(&store, folders[i], remove_one, &store);
    store_clear(&store);
    return handle_failed(&o, status, &why);
}
