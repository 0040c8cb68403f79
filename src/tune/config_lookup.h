/* config_lookup.h - which configuration a class of problems has: set by the caller, measured, or recorded
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_LOOKUP_H
#define CONFIG_LOOKUP_H

#include "judge/build.h"
#include "problem/class.h"
#include "cache/wisdom.h"

/* What a handle knows beside its store. */
struct config_lookup {
    pthread_mutex_t lock, searching; /* searching: held while one thread measures */
    struct choice *first;
    struct record *site;             /* records of the site's and of shipped files, once they have been read */
    size_t n_site;
    bool has_read_site;
    struct record_device by;
};

cl_int config_lookup_init(struct config_lookup *c, const struct caps *caps, struct why *why);
void config_lookup_clear(struct config_lookup *c);

/* What is known of a class. */
struct known {
    struct config config;
    int origin;  /* CLATTN_ORIGIN_*; CLATTN_ORIGIN_DEFAULT: nothing is known */
    bool near;   /* of a similar class only */
    bool stale;  /* measured with another driver */
    bool due;    /* the last search was too noisy to tell, and long enough ago to try again */
    int effort, tries;
};

/* Names the class of a checked problem. */
struct class {
    clattn_workload like;
    char text[CLASS_MAX];
};
void config_lookup_class(struct class *out, const clattn_problem *p);

/* Finds the best configuration that is known for a problem of a class, or else of a similar one. */
void config_lookup_find(struct known *out, struct maker *maker, const clattn_problem *p, const struct class *class);

/* The same, but only of what was set on this handle, with that origin. Returns false, and leaves *out as it is, where
 * nothing was. */
bool config_lookup_recall(struct known *out, struct maker *maker, const struct class *class, int origin);

/* Sets a configuration for as long as the handle lives. origin: CLATTN_ORIGIN_SET or CLATTN_ORIGIN_TUNED. Returns
 * false, and changes nothing, without memory. */
bool config_lookup_set(struct maker *maker, const struct class *class, const struct config *config, int origin);
void config_lookup_forget(struct maker *maker, const char *class_text, int origin); /* class_text NULL: all classes */

/* Reads the configuration that an untrusted text names, if it is one that could have been measured here. */
bool config_lookup_read(struct config *out, const char *text, const struct maker *maker, const clattn_problem *p);

#endif
