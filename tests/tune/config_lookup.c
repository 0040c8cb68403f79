/* config_lookup.c - what the records of a class are worth: how old they are, who measured, how sure it was
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/tune/tune.h"
#include "src/cache/wisdom.h"
#include "tests/lib/scratch.h"
#include "tests/lib/tap.h"
#include "src/base/text.h"

#include <time.h>

static struct maker maker;
static struct config_lookup lookup;
static clattn_problem problem;
static struct class class;

static void read_problem(clattn_problem *out, const char *text)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct why why;
    if (clattn_workload_parse(text, &c, why.text, sizeof why.text) || problem_read(out, &c.problem, &why))
        bail("%s: %s", text, why.text);
}

static struct record record_of(const char *class_text)
{
    struct record r = { .by = lookup.by, .time_ns = 1e6, .mad_ns = 1e3, .control_ns = 2e6, .rounds = 63, .trials = 8 };
    struct config config;
    struct text to = { r.config, sizeof r.config, 0 };
    r.effort = CLATTN_TUNE_QUICK;
    r.date = (int64_t)time(NULL);
    snprintf(r.class_text, sizeof r.class_text, "%s", class_text);
    snprintf(r.lib, sizeof r.lib, "%s", clattn_version());
    if (!tile_config_at(&config, &maker.caps, &problem, NULL, 1))
        bail("one configuration only");
    tile_config_print(&config, &to);
    return r;
}

/* What is known of the class where `r` is its record. */
static struct known find(const struct record *r)
{
    struct known known;
    remove_tree(in_scratch("root"));
    make_folder(in_scratch("root"));
    if (r && !wisdom_put(&maker.store, r))
        bail("a record is not kept");
    config_lookup_find(&known, &maker, &problem, &class);
    return known;
}

/* Tried so many times without a decision, so long ago. */
static void test_due(int tries, int64_t age, bool due)
{
    struct record r = record_of(class.text);
    r.tries = tries;
    r.date -= age;
    const struct known known = find(&r);
    const bool plain = !known.near && !known.stale && known.effort == CLATTN_TUNE_QUICK;
    ok(known.origin == CLATTN_ORIGIN_CACHED && known.due == due && known.tries == tries && plain,
       "%d tries, %lld hours ago: %s", tries, (long long)age / HOUR, due ? "due again" : "not due");
}

static void test_stale(void)
{
    struct record r = record_of(class.text);
    snprintf(r.by.driver, sizeof r.by.driver, "an older one");
    const struct known known = find(&r);
    ok(known.origin == CLATTN_ORIGIN_CACHED && known.stale, "another driver's counts, and is stale");
}

static struct record record_near(void)
{
    clattn_workload like;
    char text[CLASS_MAX];
    struct text to = { text, sizeof text, 0 };
    if (!class_near(&like, &class.like, 1))
        bail("no class is near");
    class_print(&like, NULL, &to);
    return record_of(text);
}

static void test_near(void)
{
    const struct record r = record_near();
    struct known known = find(&r);
    ok(known.origin == CLATTN_ORIGIN_CACHED && known.near, "a record of a class that is near counts: %s", r.class_text);
    known = find(NULL);
    ok(known.origin == CLATTN_ORIGIN_DEFAULT && !known.near, "nothing is known where there is none");
}

/* What an administrator's file says of one class is not said of others. */
static void test_site(void)
{
    struct record list[2] = { record_of("f32 b1 h1 q1 k4096 d64"), record_of(class.text) };
    list[1].effort = CLATTN_TUNE_FULL;
    lookup.site = list;
    for (lookup.n_site = 1; lookup.n_site <= 2; lookup.n_site++) {
        const struct known known = find(NULL);
        ok(lookup.n_site == 1 ? known.origin == CLATTN_ORIGIN_DEFAULT || known.near
                               : known.origin == CLATTN_ORIGIN_CACHED && known.effort == CLATTN_TUNE_FULL,
           "of %d records of a site that of the class counts", (int)lookup.n_site);
    }
    lookup.site = NULL;
    lookup.n_site = 0;
}

/* ---- What a plan does about it ---- */

static bool is_noted(void)
{
    count_below(in_scratch("root/note"), 0);
    return below.files > 0;
}

/* Whether making a plan begins a search. There is no device to search on: it ends at once, and what is known stays. */
static void test_search(const char *what, const struct record *r, int tune, int source, bool searches, bool noted)
{
    const uint64_t before = maker.counters.searches;
    struct config config;
    (void)find(r);
    maker.settings.tune = tune;
    const int got = tune_choose(&config, &maker, &problem);
    maker.settings.tune = CLATTN_TUNE_READONLY;
    ok(got == source && maker.counters.searches - before == searches && is_noted() == noted,
       "%s, tune %d: %s, source %d%s", what, tune, searches ? "a search" : "no search", source,
       noted ? ", and a note" : "");
}

static void test_searches(void)
{
    const struct record settled = record_of(class.text), near = record_near();
    struct record due = settled, stale = settled;
    due.tries = 1;
    due.date -= 2 * DAY;
    snprintf(stale.by.driver, sizeof stale.by.driver, "an older one");
    test_search("nothing known", NULL, CLATTN_TUNE_AUTO, CLATTN_ORIGIN_DEFAULT, true, false);
    test_search("nothing known", NULL, CLATTN_TUNE_READONLY, CLATTN_ORIGIN_DEFAULT, false, false);
    test_search("a record", &settled, CLATTN_TUNE_AUTO, CLATTN_ORIGIN_CACHED, false, false);
    test_search("a record", &settled, CLATTN_TUNE_QUICK, CLATTN_ORIGIN_CACHED, true, false);
    test_search("a record", &settled, CLATTN_TUNE_OFF, CLATTN_ORIGIN_DEFAULT, false, false);
    test_search("a record", &settled, CLATTN_TUNE_RECORD, CLATTN_ORIGIN_DEFAULT, false, true);
    test_search("one that is due", &due, CLATTN_TUNE_AUTO, CLATTN_ORIGIN_CACHED, true, false);
    test_search("one that is due", &due, CLATTN_TUNE_READONLY, CLATTN_ORIGIN_CACHED, false, false);
    test_search("one of a class that is near", &near, CLATTN_TUNE_AUTO, CLATTN_ORIGIN_CACHED, true, false);
    test_search("one of another driver", &stale, CLATTN_TUNE_AUTO, CLATTN_ORIGIN_CACHED, false, true);
    test_search("one of another driver", &stale, CLATTN_TUNE_READONLY, CLATTN_ORIGIN_CACHED, false, false);
}

int main(void)
{
    struct why why;
    scratch_begin("choice");
    make_folder(in_scratch("root"));
    caps_generic(&maker.caps);
    maker.caps.kind = CAPS_CPU;
    maker.caps.float_width = 8;
    maker.settings.tune = CLATTN_TUNE_READONLY;
    maker.lookup = &lookup;
    if (config_lookup_init(&lookup, &maker.caps, &why))
        bail("%s", why.text);
    lookup.has_read_site = true; /* none but the test's */
    open_store(&maker.store, in_scratch("root"));
    read_problem(&problem, "f32 b1 h8 q512 k512 d64 causal");
    config_lookup_class(&class, &problem);
    test_due(0, 40 * DAY, false);
    test_due(1, HOUR, false);
    test_due(1, DAY - HOUR, false);
    test_due(1, DAY + HOUR, true);
    test_due(1, -HOUR, true); /* a date in the future says nothing */
    test_due(2, DAY + HOUR, true);
    test_due(3, DAY + HOUR, false);
    test_stale();
    test_near();
    test_site();
    test_searches();
    store_clear(&maker.store);
    config_lookup_clear(&lookup);
    return scratch_end();
}
