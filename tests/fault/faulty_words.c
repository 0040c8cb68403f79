/* faulty_words.c - what CLATTN_EVIL says, and what is counted
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/fault/faulty_driver.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVIL_TEXT(name) #name,
static const char *const names[] = { EVIL_CALLS(EVIL_TEXT) };
static const char *const kinds[] = { "contexts", "queues", "buffers", "programs", "kernels", "events" };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls[EVIL_CALLS_N], all, failed, live[EVIL_KINDS], round_now;

/* ---- Words ---- */

bool evil_next(const char **at, const char *word, char value[EVIL_VALUE_MAX])
{
    const char *s = *at ? *at : getenv("CLATTN_EVIL");
    const size_t n = strlen(word);
    while (s && *s) {
        const size_t length = strcspn(s, ",");
        const char *const here = s;
        s += length + (s[length] == ',');
        if (!strncmp(here, word, n) && (n == length || here[n] == '=') && length < EVIL_VALUE_MAX) {
            const size_t skip = n == length ? n : n + 1;
            memcpy(value, here + skip, length - skip);
            value[length - skip] = '\0';
            *at = s;
            return true;
        }
    }
    return false;
}

bool evil_has(const char *word)
{
    char value[EVIL_VALUE_MAX];
    const char *at = NULL;
    return evil_next(&at, word, value);
}

bool evil_says(const char *word, const char *value)
{
    char text[EVIL_VALUE_MAX];
    const char *at = NULL;
    return evil_next(&at, word, text) && !strcmp(text, value);
}

double evil_number(const char *word)
{
    char text[EVIL_VALUE_MAX], *end;
    const char *at = NULL;
    if (!evil_next(&at, word, text))
        return 0;
    const double x = strtod(text, &end);
    return *end == 'M' ? x * 0x1p20 : *end == 'G' ? x * 0x1p30 : x;
}

bool evil_matches(const char *options, const char *pattern)
{
    char text[4096];
    const bool without = *pattern == '!';
    snprintf(text, sizeof text, " %s ", options ? options : "");
    return !strstr(text, pattern + without) == without;
}

bool evil_any(const char *word, const char *options)
{
    char pattern[EVIL_VALUE_MAX];
    for (const char *at = NULL; evil_next(&at, word, pattern);)
        if (evil_matches(options, pattern))
            return true;
    return false;
}

/* ---- Calls ---- */

/* Whether "WORD:CALL=N" names this call. */
static bool named(const char *word, enum evil_call which, long n)
{
    char text[128];
    snprintf(text, sizeof text, "%s:%s", word, names[which]);
    return n == (long)evil_number(text);
}

void evil_crash(void)
{
    signal(SIGSEGV, SIG_DFL); /* a driver may have a handler */
    raise(SIGSEGV);
}

cl_int evil_call(enum evil_call which)
{
    const long at = (long)evil_number("fail"), from = (long)evil_number("fail-from");
    const long round = (long)evil_number("round");
    pthread_mutex_lock(&lock);
    all = round == round_now ? all : 0;
    round_now = round;
    const long n = ++calls[which], total = ++all;
    const bool fails = total == at || (from && total >= from) || named("fail", which, n);
    failed += fails;
    pthread_mutex_unlock(&lock);
    if (named("crash", which, n))
        evil_crash();
    return fails ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

void evil_objects(enum evil_kind kind, int by)
{
    pthread_mutex_lock(&lock);
    live[kind] += by;
    pthread_mutex_unlock(&lock);
}

/* ---- Files ---- */

static FILE *open_named(const char *word, const char *mode)
{
    char name[EVIL_VALUE_MAX];
    const char *at = NULL;
    return evil_next(&at, word, name) ? fopen(name, mode) : NULL;
}

/* One write for a line, so that processes may share the file. */
void evil_log(const char *format, ...)
{
    FILE *const f = open_named("log", "a");
    va_list ap;
    if (!f)
        return;
    va_start(ap, format);
    vfprintf(f, format, ap);
    va_end(ap);
    fclose(f);
}

static void __attribute__((destructor)) count(void)
{
    FILE *const f = open_named("count", "w");
    if (!f)
        return;
    fprintf(f, "all %ld\nfailed %ld\n", all, failed);
    for (int i = 0; i < EVIL_CALLS_N; i++)
        fprintf(f, "%s %ld\n", names[i], calls[i]);
    for (int i = 0; i < EVIL_KINDS; i++)
        fprintf(f, "left-%s %ld\n", kinds[i], live[i]);
    fclose(f);
}
