/* cgroup.c - the memory that control groups leave, by files like Linux'
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "tools/system/cgroup.h"

#include <sys/stat.h>
#include <unistd.h>

static char root[128], path[256];

static const char *at(const char *name)
{
    snprintf(path, sizeof path, "%s%s", root, name);
    return path;
}

/* NULL: no such file. */
static void put(const char *name, const char *text)
{
    FILE *const f = text ? fopen(at(name), "w") : NULL;
    if (!text)
        (void)remove(at(name));
    else if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        bail("%s", at(name));
}

static void left(uint64_t want, const char *what)
{
    char self[256];
    snprintf(self, sizeof self, "%s/self", root);
    const uint64_t got = cgroup_memory(self, root);
    ok(got == want, "%s: %llu", what, (unsigned long long)got);
}

static const char *const folders[] = { "", "/a", "/a/b", "/memory" };
static const char *const files[] = { "/self", "/memory.max", "/memory.stat", "/a/memory.max", "/a/memory.stat",
                                     "/a/b/memory.max", "/a/b/memory.stat", "/memory/memory.limit_in_bytes",
                                     "/memory/memory.stat" };

static void test_second(void)
{
    left(0, "no file that says which groups");
    put("/self", "0::/a/b\n");
    left(0, "no limit anywhere");
    put("/a/b/memory.max", "max\n");
    left(0, "max is no limit");
    put("/a/b/memory.max", "1000\n");
    left(1000, "a limit");
    put("/a/b/memory.stat", "file 900\nanon 300\nkernel 5\n");
    left(700, "less what is used, but for cached files");
    put("/a/memory.max", "5000\n");
    put("/a/memory.stat", "anon 4500\n");
    left(500, "a group above has less left");
    put("/memory.max", "400\n");
    left(400, "and the root, as a container sees it");
    put("/memory.stat", "anon 400\n");
    left(1, "nothing is left");
    put("/memory.max", NULL);
    put("/self", "0::/\n");
    left(0, "of a process in the root");
    put("/memory.max", "400\n");
    put("/memory.stat", NULL);
    left(400, "which may have a limit");
    put("/self", "nonsense\n");
    left(0, "nonsense is passed over");
    put("/memory.max", NULL);
}

static void test_first(void)
{
    put("/self", "5:cpu:/x\n4:memory:/x\n0::/\n");
    left(0, "version 1 without a limit");
    put("/memory/memory.limit_in_bytes", "9223372036854771712\n");
    left(0, "as much as there could be is none");
    put("/memory/memory.limit_in_bytes", "3000\n");
    left(3000, "version 1");
    put("/memory/memory.stat", "rss 1\ntotal_rss 1000\n");
    left(2000, "less what is used");
    put("/self", "5:cpu:/x\n");
    left(0, "a process without a group of memory");
}

int main(void)
{
    const char *const tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/clattn-cgroup.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(root))
        bail("%s", root);
    for (int i = 1; i < 4; i++)
        if (mkdir(at(folders[i]), 0700) != 0)
            bail("%s", at(folders[i]));
    test_second();
    test_first();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)remove(at(files[i]));
    for (int i = 3; i >= 0; i--)
        (void)rmdir(at(folders[i]));
    return done_testing();
}
