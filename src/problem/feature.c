/* feature.c - the features of attention: going over their rows. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/feature.h"

const struct feature *feature_next(const struct feature *f)
{
    if (!f)
        return feature_masks;
    if (f[1].name)
        return f + 1;
    return f->kind == FEATURE_MASK ? feature_scores : NULL;
}

bool feature_applies(const struct feature *f, const clattn_problem *p)
{
    return f->flag ? p->flags & f->flag : f->applies(p);
}

bool feature_any(const clattn_problem *p, unsigned facts)
{
    FEATURE_EACH(f)
        if (f->facts & facts && feature_applies(f, p))
            return true;
    return false;
}

bool feature_is_compiled(const struct feature *f, const clattn_problem *p)
{
    return feature_applies(f, p) && !(f->is_covered && f->is_covered(p));
}

bool feature_any_compiled(const clattn_problem *p, enum feature_kind kind, unsigned facts)
{
    FEATURE_EACH(f)
        if (f->kind == kind && f->facts & facts && feature_is_compiled(f, p))
            return true;
    return false;
}

void feature_range(const clattn_problem *p, int64_t *low, int64_t *high)
{
    *low = INT64_MIN;
    *high = INT64_MAX;
    FEATURE_EACH(f)
        if (f->range && feature_applies(f, p))
            f->range(p, low, high);
}

const char *feature_read_axes(const char *value, clattn_problem *p, int32_t axes[4])
{
    static const char letters[] = "bhqk";
    for (int i = 0; i < 4; i++, value++) {
        axes[i] = *value == letters[i];
        if (i < 2 && *value >= '2' && *value <= '9')
            axes[i] = *value - '0';
        p->flags |= axes[i] > 1 ? CLATTN_REPEAT : 0;
        if (!axes[i] && *value != '1')
            return NULL;
    }
    return value;
}

void feature_print_axes(struct text *to, const char *name, const int32_t axes[4])
{
    text_add(to, " %s:", name);
    for (int i = 0; i < 4; i++)
        text_add(to, "%c", axes[i] > 1 ? '0' + axes[i] : axes[i] ? "bhqk"[i] : '1');
}

const char *feature_unsaid_axes(const clattn_workload *c)
{
    const int32_t *const axes[2] = { c->bias_axes, c->mask_axes };
    bool some = false;
    for (int i = 0; i < 8; i++) {
        const int32_t n = axes[i / 4][i % 4];
        if (n < 0 || n > (i % 4 < 2 ? 9 : 1))
            return "axes of a bias or mask that are not 0 or 1, or of b and h 2 to 9";
        some = some || n > 1;
    }
    if (some == !!(c->problem.flags & CLATTN_REPEAT))
        return NULL;
    return some ? "axes that repeat without CLATTN_REPEAT" : "CLATTN_REPEAT without axes that repeat";
}
