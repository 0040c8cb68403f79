/* windows_call.h - what Windows answers, as the rest of the library has it
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WINDOWS_CALL_H
#define WINDOWS_CALL_H

#include <stdint.h>
#include <time.h>
#include <windows.h>

/* An errno for what went wrong last in this thread; never 0. */
int windows_call_error(void);

/* A FILETIME counts 100 ns since 1601; everything else seconds since 1970. */
#define WINDOWS_CALL_SECOND INT64_C(10000000)
#define WINDOWS_CALL_1970 (INT64_C(11644473600) * WINDOWS_CALL_SECOND)

static inline struct timespec windows_call_time(FILETIME t)
{
    const int64_t since = (int64_t)((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime) - WINDOWS_CALL_1970;
    const int64_t rest = (since % WINDOWS_CALL_SECOND + WINDOWS_CALL_SECOND) % WINDOWS_CALL_SECOND;
    return (struct timespec){ (time_t)((since - rest) / WINDOWS_CALL_SECOND), (long)rest * 100 };
}

static inline FILETIME windows_call_filetime(int64_t seconds)
{
    const uint64_t ticks = (uint64_t)(seconds * WINDOWS_CALL_SECOND + WINDOWS_CALL_1970);
    return (FILETIME){ (DWORD)ticks, (DWORD)(ticks >> 32) };
}

#endif
