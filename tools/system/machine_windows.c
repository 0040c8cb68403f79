/* machine_windows.c - machine.h for Windows
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/machine.h"
#include "tools/system/machine_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

void machine_cpu_elsewhere(char *text, size_t len)
{
    const char *const x = getenv("PROCESSOR_IDENTIFIER");
    snprintf(text, len, "%s", x ? x : "");
}

/* A function of a library that every process has, by a type that no compiler takes for another's. */
static void (*find(const char *name))(void)
{
    const HMODULE ntdll = GetModuleHandleA("ntdll.dll");
    return ntdll ? (void (*)(void))GetProcAddress(ntdll, name) : NULL;
}

/* GetVersionEx() says what the program was made for, and wine what Windows it imitates. */
void machine_os(char *text, size_t len)
{
    LONG(WINAPI *const version)(OSVERSIONINFOW *) = (LONG(WINAPI *)(OSVERSIONINFOW *))find("RtlGetVersion");
    const char *(CDECL *const wine)(void) = (const char *(CDECL *)(void))find("wine_get_version");
    OSVERSIONINFOW v;
    memset(&v, 0, sizeof v);
    v.dwOSVersionInfoSize = sizeof v;
    if (!version || version(&v) != 0)
        snprintf(text, len, "Windows");
    else
        snprintf(text, len, "Windows %lu.%lu.%lu%s%s", v.dwMajorVersion, v.dwMinorVersion, v.dwBuildNumber,
                 wine ? " by wine " : "", wine ? wine() : "");
}

int machine_processors(void)
{
    SYSTEM_INFO s;
    GetSystemInfo(&s);
    return (int)s.dwNumberOfProcessors;
}

int machine_own_name(int n, char *text, size_t len)
{
    static const char *const variables[] = { "USERNAME", "USERDOMAIN", "COMPUTERNAME", "USERPROFILE" };
    enum { VARIABLES = sizeof variables / sizeof *variables };
    if (n >= VARIABLES)
        return -1;
    const char *const x = getenv(variables[n]), *const last = x ? strrchr(x, '\\') : NULL;
    snprintf(text, len, "%s", last ? last + 1 : x ? x : "");
    return 0;
}
