/* amdcl.c - OpenCL C to AMD's machine code by AMD's driver, without a GPU: amdcl ROOT DEVICE IN.cl OUT [OPTION]...
 * SPDX-License-Identifier: Apache-2.0
 *
 * ROOT is what setup-amd-drivers.sh makes: the driver is loaded inside it, by chroot(), as root or in a user namespace.
 * DEVICE is a name as the driver has them, "gfx90a" or "gfx90a:sramecc+:xnack-"; a context of "offline devices" has all
 * that its compiler knows. OUT becomes the code object that clGetProgramInfo() returns, options are clBuildProgram()'s.
 * Without DEVICE it lists them, each with its driver's version and extensions.
 * Exit status: 0; 1: the compiler refuses the program; 2: no use, no driver, no file; 3: the driver has no such device.
 * The compiler's log goes to stderr. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include "files.h"

#include <CL/cl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OFFLINE_DEVICES_AMD = 0x403F, MOST_DEVICES = 1024 };
enum { FAILED = 1, NO_USE, NO_DEVICE };

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "amdcl: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    return NO_USE;
}

/* ---- Outside: into the root, where this program starts once more with that one's C library ---- */

/* The files stay open: in there they have no names. */
static int enter(const char *root, int argc, char **argv, int in, int out)
{
    static char name[] = "amdcl", inside[] = "--inside", in_text[16], out_text[16];
    const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char **const words = calloc((size_t)argc + 5, sizeof *words);
    if (self < 0 || !words)
        return complain("cannot start again", strerror(errno));
    if (chroot(root) && (errno != EPERM || unshare(CLONE_NEWUSER) || chroot(root)))
        return complain(root, strerror(errno));
    if (chdir("/tmp"))
        return complain("/tmp", strerror(errno));
    snprintf(in_text, sizeof in_text, "%d", in);
    snprintf(out_text, sizeof out_text, "%d", out);
    words[0] = name, words[1] = inside, words[2] = in_text, words[3] = out_text;
    memcpy(words + 4, argv, (size_t)argc * sizeof *words);
    char path[] = "PATH=/usr/bin:/bin", home[] = "HOME=/tmp";
    char *const environment[] = { path, home, NULL };
    syscall(SYS_execveat, self, "", words, environment, AT_EMPTY_PATH);
    return complain("cannot start again", strerror(errno));
}

/* ---- Inside ---- */

struct driver {
    cl_int(CL_API_CALL *platforms)(cl_uint, cl_platform_id *, cl_uint *);
    cl_context(CL_API_CALL *context)(const cl_context_properties *, cl_device_type,
                                     void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *);
    cl_int(CL_API_CALL *context_info)(cl_context, cl_context_info, size_t, void *, size_t *);
    cl_int(CL_API_CALL *device_info)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    cl_program(CL_API_CALL *program)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    cl_int(CL_API_CALL *build)(cl_program, cl_uint, const cl_device_id *, const char *,
                               void(CL_CALLBACK *)(cl_program, void *), void *);
    cl_int(CL_API_CALL *build_info)(cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *);
    cl_int(CL_API_CALL *program_info)(cl_program, cl_program_info, size_t, void *, size_t *);
};

/* POSIX lets an object pointer hold a function's address, ISO C has no cast for it. */
static int load(struct driver *d)
{
    void *const library = dlopen("libamdocl64.so", RTLD_NOW | RTLD_LOCAL);
    const struct {
        void *to;
        const char *name;
    } calls[] = { { &d->platforms, "clGetPlatformIDs" },      { &d->context, "clCreateContextFromType" },
                  { &d->context_info, "clGetContextInfo" },   { &d->device_info, "clGetDeviceInfo" },
                  { &d->program, "clCreateProgramWithSource" }, { &d->build, "clBuildProgram" },
                  { &d->build_info, "clGetProgramBuildInfo" }, { &d->program_info, "clGetProgramInfo" } };
    if (!library)
        return complain("cannot load the driver", dlerror());
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *const symbol = dlsym(library, calls[i].name);
        if (!symbol)
            return complain("the driver has no", calls[i].name);
        memcpy(calls[i].to, &symbol, sizeof symbol);
    }
    return 0;
}

struct devices {
    cl_context context;
    cl_device_id all[MOST_DEVICES];
    size_t n;
};

static int find_devices(const struct driver *d, struct devices *to)
{
    cl_platform_id platform;
    cl_uint n = 0;
    cl_int status = d->platforms(1, &platform, &n);
    if (status || !n)
        return complain("the driver has no platform", NULL);
    const cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)platform,
                                                 OFFLINE_DEVICES_AMD, 1, 0 };
    size_t bytes = 0;
    to->context = d->context(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, &status);
    if (!status)
        status = d->context_info(to->context, CL_CONTEXT_DEVICES, sizeof to->all, to->all, &bytes);
    to->n = bytes / sizeof *to->all;
    return status ? complain("the driver gives no context of offline devices", NULL) : 0;
}

static void list(const struct driver *d, const struct devices *devices)
{
    for (size_t i = 0; i < devices->n; i++) {
        char name[256] = "", version[256] = "", extensions[8192] = "";
        d->device_info(devices->all[i], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
        d->device_info(devices->all[i], CL_DRIVER_VERSION, sizeof version - 1, version, NULL);
        d->device_info(devices->all[i], CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
        printf("%s; %s; %s\n", name, version, extensions);
    }
}

/* Its index; devices->n: there is none. */
static size_t index_of(const struct driver *d, const struct devices *devices, const char *wanted)
{
    for (size_t i = 0; i < devices->n; i++) {
        char name[256] = "";
        if (!d->device_info(devices->all[i], CL_DEVICE_NAME, sizeof name - 1, name, NULL) && !strcmp(name, wanted))
            return i;
    }
    return devices->n;
}

static void tell_log(const struct driver *d, cl_program program, cl_device_id device)
{
    size_t n = 0;
    char *log = NULL;
    if (!d->build_info(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) && n && (log = calloc(n + 1, 1)) &&
        !d->build_info(program, device, CL_PROGRAM_BUILD_LOG, n, log, NULL) && *log)
        fprintf(stderr, "%s\n", log);
    free(log);
}

/* The program has a binary of each device of its context, or of the one that it was built for alone. */
static int write_binary(const struct driver *d, cl_program program, const struct devices *devices, size_t which,
                        int out)
{
    static size_t sizes[MOST_DEVICES];
    static unsigned char *binaries[MOST_DEVICES];
    size_t bytes = 0;
    int result = FAILED;
    if (d->program_info(program, CL_PROGRAM_BINARY_SIZES, devices->n * sizeof *sizes, sizes, &bytes))
        return complain("the driver does not tell of binaries", NULL);
    const size_t n = bytes / sizeof *sizes, mine = n == devices->n ? which : 0;
    if (!n || !sizes[mine] || !(binaries[mine] = malloc(sizes[mine])) ||
        d->program_info(program, CL_PROGRAM_BINARIES, n * sizeof *binaries, binaries, NULL))
        complain("no code object came of it", NULL);
    else if (write(out, binaries[mine], sizes[mine]) != (ssize_t)sizes[mine])
        result = complain("cannot write the code object", strerror(errno));
    else
        result = 0;
    free(binaries[mine]);
    return result;
}

static int build(const struct driver *d, const struct devices *devices, size_t which, const char *text, size_t size,
                 const char *options, int out)
{
    cl_int status;
    const cl_program program = d->program(devices->context, 1, &text, &size, &status);
    if (status)
        return complain("the driver takes no program", NULL);
    status = d->build(program, 1, &devices->all[which], options, NULL, NULL);
    tell_log(d, program, devices->all[which]);
    if (status) {
        fprintf(stderr, "amdcl: the driver's status is %d\n", status);
        return FAILED;
    }
    return write_binary(d, program, devices, which, out);
}

static int inside(int in, int out, int argc, char **argv)
{
    static struct devices devices;
    struct driver d;
    size_t size = 0;
    if (load(&d) || find_devices(&d, &devices))
        return NO_USE;
    if (!argc) {
        list(&d, &devices);
        return 0;
    }
    const size_t which = index_of(&d, &devices, argv[0]);
    if (which == devices.n) {
        complain("the driver does not know", argv[0]);
        return NO_DEVICE;
    }
    FILE *const f = fdopen(in, "rb");
    char *const text = read_all(f, "the program", &size), *const options = join(argv + 1, argc - 1);
    const int result = text && options ? build(&d, &devices, which, text, size, options, out) : NO_USE;
    free(options);
    free(text);
    if (f)
        fclose(f);
    return result;
}

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "--inside")) {
        const int result = inside(atoi(argv[2]), atoi(argv[3]), argc - 4, argv + 4);
        fflush(NULL);
        _exit(result); /* the driver's threads need not survive its end */
    }
    if (argc == 2)
        return enter(argv[1], 0, argv, -1, -1);
    if (argc < 5)
        return complain("usage: amdcl ROOT [DEVICE IN.cl OUT [OPTION]...]", NULL);
    const int in = open(argv[3], O_RDONLY), out = in < 0 ? -1 : open(argv[4], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (out < 0)
        return complain(argv[in < 0 ? 3 : 4], strerror(errno));
    argv[4] = argv[2]; /* what goes in: the device and the options */
    return enter(argv[1], argc - 4, argv + 4, in, out);
}
