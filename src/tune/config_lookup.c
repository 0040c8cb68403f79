/* config_lookup.c - which configuration a class of problems has: set by the caller, measured, or recorded
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tune/config_lookup.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of all kernels together. Raise it when numbers of a tile change their meaning. */
enum { FAMILY = 1 };

struct choice {
    struct choice *next;
    char class_text[CLASS_MAX];
    struct config config;
    int origin;
};

/* ---- Making ---- */

static void add_printable(char *to, size_t room, const char *text)
{
    struct text t = { to, room, strlen(to) };
    text_add_n(&t, text, strlen(text));
    for (char *c = to; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

static void fill_device(struct record_device *by, const struct caps *caps)
{
    unsigned char digest[DIGEST_BYTES];
    memset(by, 0, sizeof *by);
    digest_of(digest, caps->identity, strlen(caps->identity));
    digest_hex(by->device, digest);
    add_printable(by->name, sizeof by->name, caps->platform);
    add_printable(by->name, sizeof by->name, " / ");
    add_printable(by->name, sizeof by->name, caps->device);
    add_printable(by->driver, sizeof by->driver, caps->driver);
    by->family = FAMILY;
}

/* Who measures calls the application back, and what it calls may make plans and measure as well. */
static bool init_recursive(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t kind;
    if (pthread_mutexattr_init(&kind))
        return false;
    const bool made =
        !pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE) && !pthread_mutex_init(mutex, &kind);
    pthread_mutexattr_destroy(&kind);
    return made;
}

cl_int config_lookup_init(struct config_lookup *c, const struct caps *caps, struct why *why)
{
    memset(c, 0, sizeof *c);
    fill_device(&c->by, caps);
    if (pthread_mutex_init(&c->lock, NULL))
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "a mutex cannot be made");
    if (!init_recursive(&c->searching)) {
        pthread_mutex_destroy(&c->lock);
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "a mutex cannot be made");
    }
    return CL_SUCCESS;
}

void config_lookup_clear(struct config_lookup *c)
{
    for (struct choice *x = c->first, *next; x; x = next) {
        next = x->next;
        free(x);
    }
    free(c->site);
    pthread_mutex_destroy(&c->searching);
    pthread_mutex_destroy(&c->lock);
}

void config_lookup_class(struct class *out, const clattn_problem *p)
{
    struct text to = { out->text, sizeof out->text, 0 };
    class_of(&out->like, p);
    class_print(&out->like, p, &to);
}

/* ---- In memory ---- */

/* Call it with the lock held. Returns the link to the class's choice of that origin, or the end of the list. class_text
 * NULL: of any class. */
static struct choice **find(struct config_lookup *c, const char *class_text, int origin)
{
    struct choice **at = &c->first;
    while (*at && ((*at)->origin != origin || (class_text && strcmp((*at)->class_text, class_text))))
        at = &(*at)->next;
    return at;
}

bool config_lookup_recall(struct known *out, struct maker *maker, const struct class *class, int origin)
{
    struct config_lookup *const c = maker->lookup;
    pthread_mutex_lock(&c->lock);
    const struct choice *x = *find(c, class->text, origin);
    if (x)
        *out = (struct known){ .config = x->config, .origin = x->origin };
    pthread_mutex_unlock(&c->lock);
    return x;
}

void config_lookup_forget(struct maker *maker, const char *class_text, int origin)
{
    struct config_lookup *c = maker->lookup;
    pthread_mutex_lock(&c->lock);
    for (struct choice **at = find(c, class_text, origin), *x; (x = *at); at = find(c, class_text, origin)) {
        *at = x->next;
        free(x);
    }
    pthread_mutex_unlock(&c->lock);
}

bool config_lookup_set(struct maker *maker, const struct class *class, const struct config *config, int origin)
{
    struct config_lookup *c = maker->lookup;
    struct choice *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return false;
    config_lookup_forget(maker, class->text, origin);
    memcpy(fresh->class_text, class->text, sizeof fresh->class_text);
    fresh->config = *config;
    fresh->origin = origin;
    pthread_mutex_lock(&c->lock);
    fresh->next = c->first;
    c->first = fresh;
    pthread_mutex_unlock(&c->lock);
    return true;
}

/* ---- In records ---- */

bool config_lookup_read(struct config *out, const char *text, const struct maker *maker, const clattn_problem *p)
{
    struct why why;
    return tile_config_is_pinned(text) && !tile_config_read(out, text, &maker->caps, p, &why) &&
           tile_is_candidate(out);
}

static void read_site(struct config_lookup *c)
{
    static const struct {
        const char *path;
        bool seeds;
    } folders[] = { { CLATTN_SITE_DIR, false }, { CLATTN_SEEDS_DIR, true } };
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < 2 && !c->has_read_site; i++) {
        struct record *list = NULL, *all;
        const size_t n = site_records_read(folders[i].path, &c->by, folders[i].seeds, &list);
        if (n && (all = realloc(c->site, (c->n_site + n) * sizeof *all))) {
            memcpy(all + c->n_site, list, n * sizeof *all);
            c->site = all;
            c->n_site += n;
        }
        free(list);
    }
    c->has_read_site = true;
    pthread_mutex_unlock(&c->lock);
}

static bool take(struct known *out, struct maker *maker, const clattn_problem *p, const struct record *r)
{
    enum { DAY = 24 * 3600, TRIES = 3 };
    const int64_t now = (int64_t)time(NULL);
    if (!config_lookup_read(&out->config, r->config, maker, p)) {
        maker_count(&maker->counters.record_rejects);
        return false;
    }
    out->origin = CLATTN_ORIGIN_CACHED;
    out->stale = strcmp(r->by.driver, maker->lookup->by.driver) != 0;
    out->due = r->tries && r->tries < TRIES && (now < r->date || now - r->date > DAY);
    out->effort = r->effort;
    out->tries = r->tries;
    return true;
}

/* Looks for the user's own record, then the site's, then a shipped one. */
static bool look_up(struct known *out, struct maker *maker, const clattn_problem *p, const char *class_text)
{
    struct config_lookup *c = maker->lookup;
    struct record r;
    bool rejected = false;
    if (wisdom_get(&maker->store, &c->by, class_text, &r, &rejected) && take(out, maker, p, &r))
        return true;
    if (rejected)
        maker_count(&maker->counters.record_rejects);
    for (size_t i = 0; i < c->n_site; i++)
        if (!strcmp(c->site[i].class_text, class_text) && take(out, maker, p, &c->site[i]))
            return true;
    return false;
}

static bool look_near(struct known *out, struct maker *maker, const clattn_problem *p, const struct class *class)
{
    clattn_workload like;
    for (size_t n = p->n_mods ? 0 : 1; class_near(&like, &class->like, n); n++) {
        char text[CLASS_MAX];
        struct text to = { text, sizeof text, 0 };
        class_print(&like, NULL, &to);
        if (look_up(out, maker, p, text))
            return out->near = true;
    }
    return false;
}

void config_lookup_find(struct known *out, struct maker *maker, const clattn_problem *p, const struct class *class)
{
    memset(out, 0, sizeof *out); /* CLATTN_ORIGIN_DEFAULT */
    const bool table = maker->settings.tune == CLATTN_TUNE_OFF || maker->settings.tune == CLATTN_TUNE_RECORD;
    if (config_lookup_recall(out, maker, class, CLATTN_ORIGIN_SET) || table ||
        config_lookup_recall(out, maker, class, CLATTN_ORIGIN_TUNED))
        return;
    read_site(maker->lookup);
    const bool found = look_up(out, maker, p, class->text);
    maker_count(found ? &maker->counters.record_hits : &maker->counters.record_misses);
    if (!found && !look_near(out, maker, p, class))
        out->origin = CLATTN_ORIGIN_DEFAULT;
}
