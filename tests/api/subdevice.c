/* subdevice.c - parts of a device: handles, plans and binaries as on the whole
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/device/device.h"
#include "tests/lib/each.h"
#include "tests/lib/cache_fixture.h"

enum { PARTS_MAX = 256 };

static const char *const problems[] = { "f32 b1 h2/1 q17 k37 d16 causal lse",
                                        "f32 b2 h1 q9 k40 d8 mask:11qk blocks:4,8 lse" };

/* Parts of `units` compute units each; their number. */
static cl_uint divide(cl_device_id device, cl_uint units, cl_device_id parts[PARTS_MAX])
{
    const cl_device_partition_property how[] = { CL_DEVICE_PARTITION_EQUALLY, units, 0 };
    cl_uint n = 0;
    return clCreateSubDevices(device, how, PARTS_MAX, parts, &n) ? 0 : n;
}

static void give_back(cl_device_id *parts, cl_uint n)
{
    while (n)
        clReleaseDevice(parts[--n]);
}

/* In a context and a process that know nothing of the part yet: `binary` tells where programs come from. */
static void test_plans(const struct device *part, const char *what, const char *dir, int binary)
{
    const clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, dir);
    struct device n = cache_fixture_open(part, &o);
    ok(n.handle != NULL, "%s: a handle for %s", part->name, what);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        struct cache_fixture_plan how = { 0, -1, "" };
        char why[512] = "";
        const int verdict = cache_fixture_run(&n, problems[i], NULL, &how, why, sizeof why);
        if (!ok(verdict == 1 && how.binary == binary, "%s: %s on %s", part->name, problems[i], what))
            diag("binary %d, %s", how.binary, why);
    }
    cache_fixture_close(&n);
}

static void test_part(const struct device *whole, cl_device_id part, const char *what)
{
    struct device d = *whole;
    char dir[NEST_PATH], from_binary[64];
    d.cl.device = part;
    snprintf(from_binary, sizeof from_binary, "%s, from binaries", what);
    cache_fixture_make(dir);
    test_plans(&d, what, dir, CLATTN_BINARY_MISS);
    test_plans(&d, from_binary, dir, CLATTN_BINARY_HIT);
    cache_fixture_remove(dir);
}

/* A device is found where a list has it or what it is a part of, and nowhere else: not in its own parts, not in
 * another. */
static void test_found(const struct device *d, const cl_device_id *parts, cl_uint n)
{
    const cl_device_id other = parts[n - 1], list[] = { other, d->cl.device };
    ok(!device_find(&d->cl.device, 1, d->cl.device) && !device_find(parts, n, parts[0]) &&
           device_find(parts, n, other) == (int)n - 1,
       "%s: a device and its parts are found where they stand", d->name);
    ok(!device_find(&d->cl.device, 1, parts[0]) && (n < 2 || device_find(list, 2, parts[0]) == 1),
       "%s: a part is found where the whole stands", d->name);
    ok(device_find(parts, n, d->cl.device) == -1 && (n < 2 || device_find(&other, 1, parts[0]) == -1) &&
           device_find(parts, 0, parts[0]) == -1,
       "%s: the whole is not among its parts, nor is a part another", d->name);
}

static void test_device(const struct device *d)
{
    cl_device_id parts[PARTS_MAX], whole[PARTS_MAX], parts_of_part[PARTS_MAX];
    cl_uint units = 0;
    const cl_uint n = divide(d->cl.device, 1, parts);
    if (!n) {
        skip("%s cannot be divided", d->name);
        return;
    }
    test_part(d, parts[0], "a part");
    test_part(d, parts[n - 1], "the last part");
    test_found(d, parts, n);
    give_back(parts, n);
    clGetDeviceInfo(d->cl.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    const cl_uint wholes = divide(d->cl.device, units, whole),
                  n_inner = wholes ? divide(whole[0], 1, parts_of_part) : 0;
    if (n_inner)
        test_part(d, parts_of_part[0], "a part of a part");
    else
        skip("%s: its parts cannot be divided", d->name);
    give_back(parts_of_part, n_inner);
    give_back(whole, wholes);
}

int main(void)
{
    return each_device(test_device);
}
