/* tap.h - the Test Anything Protocol, for the check programs
 * SPDX-License-Identifier: Apache-2.0
 *
 * State is static: only the file with main() reports. A description of a failure ends with the text that reproduces it.
 */
#ifndef TAP_H
#define TAP_H

#include "tests/lib/setenv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__MINGW32__) && !defined(__clang__) /* MinGW's printf() is C's, "printf" is Microsoft's */
#define TAP_PRINTF(f, a) __attribute__((format(gnu_printf, f, a), unused))
#define TAP_UNUSED __attribute__((unused))
#elif defined(__GNUC__)
#define TAP_PRINTF(f, a) __attribute__((format(printf, f, a), unused))
#define TAP_UNUSED __attribute__((unused))
#else
#define TAP_PRINTF(f, a)
#define TAP_UNUSED
#endif

static int tap_run, tap_bad;

TAP_PRINTF(2, 0) static int tap_report(int good, const char *format, va_list ap)
{
    tap_run++;
    tap_bad += !good;
    printf("%sok %d - ", good ? "" : "not ", tap_run);
    vprintf(format, ap);
    printf("\n");
    fflush(stdout);
    return good;
}

TAP_PRINTF(2, 3) static int ok(int good, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    tap_report(good != 0, format, ap);
    va_end(ap);
    return good != 0;
}

/* A line of explanation; newlines inside become lines of their own. */
TAP_PRINTF(1, 2) static void diag(const char *format, ...)
{
    char text[4096], *line, *end;
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    for (line = text; line; line = end) {
        if ((end = strchr(line, '\n')) != NULL)
            *end++ = 0;
        printf("# %s\n", line);
    }
    fflush(stdout);
}

TAP_PRINTF(3, 4) static int is_int(long long got, long long want, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    tap_report(got == want, format, ap);
    va_end(ap);
    if (got != want)
        diag("got %lld, want %lld", got, want);
    return got == want;
}

TAP_PRINTF(3, 4) static int is_str(const char *got, const char *want, const char *format, ...)
{
    int good = got && want && !strcmp(got, want);
    va_list ap;
    va_start(ap, format);
    tap_report(good, format, ap);
    va_end(ap);
    if (!good)
        diag("got  '%s'\nwant '%s'", got ? got : "(null)", want ? want : "(null)");
    return good;
}

/* One test that cannot run here. Says why. */
TAP_PRINTF(1, 2) static void skip(const char *why, ...)
{
    va_list ap;
    printf("ok %d # SKIP ", ++tap_run);
    va_start(ap, why);
    vprintf(why, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
}

/* The whole program cannot run here: return its value from main(). */
TAP_PRINTF(1, 2) static int skip_all(const char *why, ...)
{
    va_list ap;
    printf("1..0 # SKIP ");
    va_start(ap, why);
    vprintf(why, ap);
    va_end(ap);
    printf("\n");
    return 0;
}

TAP_PRINTF(1, 2) static void bail(const char *why, ...)
{
    va_list ap;
    printf("Bail out! ");
    va_start(ap, why);
    vprintf(why, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
    exit(99);
}

/* Ends the report: return its value from main(). */
TAP_UNUSED static int done_testing(void)
{
    printf("1..%d\n", tap_run);
    fflush(stdout);
    return tap_bad != 0;
}

#endif
