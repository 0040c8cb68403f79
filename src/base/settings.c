/* settings.c - what options and environment say about tuning
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/settings.h"

#include "base/environment.h"
#include "base/number.h"
#include "base/text.h"

#include <string.h>

static const char *const names[] = {
    [CLATTN_TUNE_AUTO] = "auto",   [CLATTN_TUNE_OFF] = "off",   [CLATTN_TUNE_READONLY] = "readonly",
    [CLATTN_TUNE_QUICK] = "quick", [CLATTN_TUNE_FULL] = "full", [CLATTN_TUNE_RECORD] = "record",
};
enum { NAMES = sizeof names / sizeof *names };

double settings_limit(int effort)
{
    return effort == CLATTN_TUNE_EXHAUSTIVE ? 0 : effort == CLATTN_TUNE_FULL ? 60 : 2;
}

static int find_name(const char *text)
{
    for (int i = 1; i < NAMES; i++)
        if (!strcmp(names[i], text))
            return i;
    return 0;
}

static bool is_limit(double x)
{
    return x >= 0 && x <= 1e9;
}

/* Both variables may be wrong: then the words name both. */
static void read_environment(struct settings *s, struct why *why)
{
    const char *tune = environment_get("CLATTN_TUNE"), *seconds = environment_get("CLATTN_TUNE_SECONDS");
    struct text words = { why->text, sizeof why->text, 0 };
    if (environment_is_set(tune) && !(s->tune = find_name(tune)))
        text_add(&words, "CLATTN_TUNE is %.40s; it must be auto, off, readonly, quick, full or record", tune);
    if (environment_is_set(seconds)) {
        double x;
        const char *end = number_read_real(seconds, &x);
        if (end && !*end && is_limit(x))
            s->seconds = x;
        else
            text_add(&words, "%sCLATTN_TUNE_SECONDS is %.40s; it must be a number of seconds", words.length ? "; " : "",
                     seconds);
    }
}

cl_int settings_read(struct settings *s, const clattn_options *o, struct why *why)
{
    s->tune = 0;
    s->seconds = 0;
    why->text[0] = '\0';
    if (o->tune < 0 || o->tune >= NAMES)
        INVALID("clattn_options.tune is %d, none of CLATTN_TUNE_AUTO .. _RECORD", (int)o->tune);
    if (!is_limit(o->tune_seconds))
        INVALID("clattn_options.tune_seconds is not a number of seconds");
    if (o->reserved)
        INVALID("clattn_options.reserved is %d, must be 0", (int)o->reserved);
    read_environment(s, why);
    if (o->tune)
        s->tune = o->tune;
    if (o->tune_seconds > 0)
        s->seconds = o->tune_seconds;
    if (!s->tune)
        s->tune = CLATTN_TUNE_AUTO;
    return CL_SUCCESS;
}
