/* cgroup.c - what a control group of Linux leaves a process of memory
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/cgroup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

/* The number that a line of the file begins with, behind `name` and a blank where that is not "". UINT64_MAX: there is
 * none; "max", which stands for no limit, is none either. */
static uint64_t number_in(const char *root, const char *group, const char *file, const char *name)
{
    char path[2 * PATH_ROOM], line[256];
    const size_t skip = strlen(name);
    uint64_t n = UINT64_MAX;
    snprintf(path, sizeof path, "%s%s/%s", root, group, file);
    FILE *const f = fopen(path, "r");
    while (f && n == UINT64_MAX && fgets(line, sizeof line, f))
        if (strncmp(line, name, skip) != 0 || sscanf(line + skip, "%" SCNu64, &n) != 1)
            n = UINT64_MAX;
    if (f)
        (void)fclose(f);
    return n;
}

/* What is left of a limit: a group that is above it has 1 byte, because 0 says that nothing is known. */
static uint64_t left_of(uint64_t limit, uint64_t used)
{
    return limit == UINT64_MAX ? UINT64_MAX : used < limit ? limit - used : 1;
}

static uint64_t left_in(const char *root, const char *group)
{
    const uint64_t limit = number_in(root, group, "memory.max", "");
    const uint64_t used = number_in(root, group, "memory.stat", "anon ");
    return left_of(limit, used == UINT64_MAX ? 0 : used);
}

/* The group's path of a line "NUMBER:CONTROLLERS:PATH" whose controllers are these, without a last slash. */
static int find_group(const char *self, const char *controllers, char *group)
{
    char line[PATH_ROOM];
    int found = 0;
    FILE *const f = fopen(self, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *const list = strchr(line, ':'), *const path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path = '\0';
        found = !strcmp(list + 1, controllers);
        if (found)
            snprintf(group, PATH_ROOM, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
    }
    if (f)
        (void)fclose(f);
    if (found && *group && group[strlen(group) - 1] == '/')
        group[strlen(group) - 1] = '\0';
    return found;
}

uint64_t cgroup_memory(const char *self, const char *root)
{
    char group[PATH_ROOM] = "";
    uint64_t least = UINT64_MAX;
    const int second = find_group(self, "", group);
    for (int more = second; more;) { /* the limits of all that a group is in hold, too */
        const uint64_t left = left_in(root, group);
        char *const last = strrchr(group, '/');
        least = left < least ? left : least;
        more = last != NULL;
        if (last)
            *last = '\0';
    }
    if (least == UINT64_MAX && find_group(self, "memory", group)) {
        const uint64_t limit = number_in(root, "/memory", "memory.limit_in_bytes", ""),
                       used = number_in(root, "/memory", "memory.stat", "total_rss ");
        least = limit < UINT64_C(1) << 62 ? left_of(limit, used == UINT64_MAX ? 0 : used) : least; /* or none */
    }
    return least == UINT64_MAX ? 0 : least;
}
