/* machine_posix.c - machine.h for POSIX
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/machine.h"
#include "tools/system/machine_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The value behind `key` and `separator` in a file of lines, without quotes. Returns 0, or -1 where there is none. */
static int look_up(const char *path, const char *key, char separator, char *text, size_t len)
{
    const size_t n = strlen(key);
    char line[512];
    int found = -1;
    FILE *const f = fopen(path, "r");
    while (f && found != 0 && fgets(line, sizeof line, f)) {
        char *const at = strchr(line, separator);
        if (!at || strncmp(line, key, n) != 0 || (line + n != at && !strchr(" \t", line[n])))
            continue;
        char *const value = at + 1 + strspn(at + 1, " \t\"");
        value[strcspn(value, "\"\r\n")] = '\0';
        snprintf(text, len, "%s", value);
        found = *text ? 0 : -1;
    }
    if (f)
        (void)fclose(f);
    return found;
}

void machine_cpu_elsewhere(char *text, size_t len)
{
    struct utsname u;
    if (look_up("/proc/cpuinfo", "model name", ':', text, len) != 0 &&
        look_up("/proc/cpuinfo", "Hardware", ':', text, len) != 0)
        snprintf(text, len, "%s", uname(&u) < 0 ? "" : u.machine);
}

void machine_os(char *text, size_t len)
{
    struct utsname u;
    char name[128];
    if (uname(&u) < 0) {
        snprintf(text, len, "POSIX");
        return;
    }
    u.release[strspn(u.release, "0123456789.")] = '\0'; /* the rest may be a name that its maker gave it */
    if (look_up("/etc/os-release", "PRETTY_NAME", '=', name, sizeof name) == 0)
        snprintf(text, len, "%s, %s %s %s", name, u.sysname, u.release, u.machine);
    else
        snprintf(text, len, "%s %s %s", u.sysname, u.release, u.machine);
}

int machine_processors(void)
{
#ifdef _SC_NPROCESSORS_ONLN
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 0;
#else
    return 0;
#endif
}

int machine_own_name(int n, char *text, size_t len)
{
    static const char *const variables[] = { "USER", "LOGNAME", "HOSTNAME", "HOME" };
    enum { VARIABLES = sizeof variables / sizeof *variables };
    struct utsname u;
    if (n > VARIABLES)
        return -1;
    const char *x = n == VARIABLES ? (uname(&u) < 0 ? NULL : u.nodename) : getenv(variables[n]);
    x = x ? x : "";
    snprintf(text, len, "%s", strrchr(x, '/') ? strrchr(x, '/') + 1 : x);
    return 0;
}
