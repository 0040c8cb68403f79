/* maker.c - what plans are made with: its log and its counters
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/maker.h"

#include "base/text.h"
#include "cache/record.h"
#include "problem/class.h"

#include <stdarg.h>
#include <stdio.h>

void maker_connect(struct maker *m, cl_context context, cl_device_id device, struct config_lookup *lookup,
                   struct maker *owner)
{
    m->context = m->programs.context = context;
    m->device = m->programs.device = device;
    m->programs.caps = &owner->caps;
    m->programs.store = &owner->store;
    m->programs.counters = &owner->counters;
    m->lookup = lookup;
}

void maker_log(struct maker *maker, const char *format, ...)
{
    struct why line;
    va_list ap;
    if (!maker->log)
        return;
    va_start(ap, format);
    if (vsnprintf(line.text, sizeof line.text, format, ap) < 0)
        line.text[0] = '\0';
    va_end(ap);
    maker->log(maker->log_user, line.text);
}

bool maker_tell(struct maker *maker, int step, const clattn_problem *p, const struct config *config, const char *words)
{
    char class_text[CLASS_MAX], config_text[CONFIG_MAX];
    struct text to_class = { class_text, sizeof class_text, 0 }, to_config = { config_text, sizeof config_text, 0 };
    clattn_workload like;
    if (!maker->progress)
        return true;
    class_of(&like, p);
    class_print(&like, p, &to_class);
    tile_config_print(config, &to_config);
    const clattn_progress now = { .struct_size = sizeof now,
                                  .class_text = class_text,
                                  .config = config_text,
                                  .words = words,
                                  .step = step,
                                  .best = "" };
    return !maker->progress(maker->progress_user, &now);
}

void maker_count(uint64_t *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}
