/* opencl.c - finding a device by name, for the tools and the tests
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/opencl.h"

#include <clattn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One device of the walk over all platforms. */
struct found {
    cl_platform_id platform;
    cl_device_id device;
    unsigned p, d; /* P:D, as clinfo counts */
    cl_device_type type;
    char platform_name[256], device_name[256];
};

/* Returns non-zero to end the walk. */
typedef int (*visitor)(const struct found *f, void *user);

static void fit(char *to, size_t len, const char *from)
{
    while (*from == ' ')
        from++;
    size_t n = strlen(from);
    while (n && from[n - 1] == ' ')
        n--;
    if (n >= len)
        n = len - 1;
    memcpy(to, from, n);
    to[n] = '\0';
}

static void platform_name(cl_platform_id platform, char *name, size_t len)
{
    char text[1024] = "";
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text, text, NULL) != CL_SUCCESS)
        strcpy(text, "unnamed platform");
    text[sizeof text - 1] = '\0';
    fit(name, len, text);
}

static void device_name(cl_device_id device, char *name, size_t len)
{
    char text[1024] = "";
    if (clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, NULL) != CL_SUCCESS)
        strcpy(text, "unnamed device");
    text[sizeof text - 1] = '\0';
    fit(name, len, text);
}

/* Visits the devices of one platform; those that are not available are counted and not shown. */
static int visit_platform(struct found *f, visitor visit, void *user, int *stop)
{
    cl_uint n = 0;
    if (clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n) != CL_SUCCESS || n == 0)
        return CL_SUCCESS; /* a platform that is empty or broken must not hide others */
    cl_device_id *devices = calloc(n, sizeof *devices);
    if (!devices)
        return CL_OUT_OF_HOST_MEMORY;
    if (clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_ALL, n, devices, NULL) != CL_SUCCESS)
        n = 0;
    for (cl_uint d = 0; d < n && !*stop; d++) {
        cl_bool available = CL_TRUE;
        f->device = devices[d];
        f->d = d;
        f->type = 0;
        (void)clGetDeviceInfo(f->device, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
        (void)clGetDeviceInfo(f->device, CL_DEVICE_TYPE, sizeof f->type, &f->type, NULL);
        device_name(f->device, f->device_name, sizeof f->device_name);
        if (available)
            *stop = visit(f, user);
    }
    free(devices);
    return CL_SUCCESS;
}

static cl_int walk(visitor visit, void *user)
{
    cl_uint n = 0;
    int stop = 0;
    cl_int status = clGetPlatformIDs(0, NULL, &n);
    if (status != CL_SUCCESS || n == 0) /* the loader has a status of its own for "none installed" */
        return status == CL_OUT_OF_HOST_MEMORY ? status : CL_DEVICE_NOT_FOUND;
    cl_platform_id *platforms = calloc(n, sizeof *platforms);
    if (!platforms)
        return CL_OUT_OF_HOST_MEMORY;
    status = clGetPlatformIDs(n, platforms, NULL);
    for (cl_uint p = 0; p < n && !stop && status == CL_SUCCESS; p++) {
        struct found f;
        memset(&f, 0, sizeof f);
        f.platform = platforms[p];
        f.p = p;
        platform_name(f.platform, f.platform_name, sizeof f.platform_name);
        status = visit_platform(&f, visit, user, &stop);
    }
    free(platforms);
    return status;
}

static void full_name(const struct found *f, char *text, size_t len)
{
    snprintf(text, len, "%s / %s", f->platform_name, f->device_name);
}

/* What opencl_open() looks for: a device, a text or two numbers. */
struct wanted {
    cl_device_id device;
    const char *text;
    int numbers;
    unsigned p, d;
    int there; /* found: */
    struct found found;
};

/* Without regard to case, of ASCII. */
static int lower(int c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }
static int contains(const char *text, const char *part)
{
    for (; *text; text++) {
        size_t n = 0;
        while (part[n] && lower(text[n]) == lower(part[n]))
            n++;
        if (!part[n])
            return 1;
    }
    return 0;
}

static int consider(const struct found *f, void *user)
{
    struct wanted *w = user;
    char name[sizeof f->platform_name + sizeof f->device_name + 4];
    full_name(f, name, sizeof name);
    w->there = w->device ? f->device == w->device
               : w->numbers ? f->p == w->p && f->d == w->d
                            : contains(name, w->text);
    if (w->there)
        w->found = *f;
    return w->there;
}

static int two_numbers(const char *text, unsigned *p, unsigned *d)
{
    char end;
    const size_t n = strspn(text, "0123456789:");
    return text[n] == '\0' && n < 16 && sscanf(text, "%9u:%9u%c", p, d, &end) == 2;
}

cl_int opencl_open(const char *text, struct opencl *out)
{
    struct wanted w;
    cl_int status;
    memset(out, 0, sizeof *out);
    memset(&w, 0, sizeof w);
    w.text = text && *text ? text : NULL;
    w.numbers = w.text && two_numbers(w.text, &w.p, &w.d);
    status = w.text ? CL_SUCCESS : clattn_default_device(NULL, &w.device);
    status = status ? status : walk(consider, &w);
    if (status != CL_SUCCESS)
        return status;
    if (!w.there)
        return CL_DEVICE_NOT_FOUND;
    const cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)w.found.platform, 0 };
    out->context = clCreateContext(properties, 1, &w.found.device, NULL, NULL, &status);
    if (status != CL_SUCCESS) {
        out->context = NULL;
        return status;
    }
    out->device = w.found.device;
    memcpy(out->platform_name, w.found.platform_name, sizeof out->platform_name);
    memcpy(out->device_name, w.found.device_name, sizeof out->device_name);
    return CL_SUCCESS;
}

void opencl_close(struct opencl *o)
{
    if (o->context)
        (void)clReleaseContext(o->context);
    memset(o, 0, sizeof *o);
}

struct numbered {
    unsigned left;
    int found;
    struct opencl_listed *out;
};

const char *opencl_kind(cl_device_type type)
{
    return type & CL_DEVICE_TYPE_GPU ? "GPU" : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
           : type & CL_DEVICE_TYPE_CPU ? "CPU" : "other";
}

static int count_down(const struct found *f, void *user)
{
    struct numbered *n = user;
    char text[1024] = "";
    if (n->left-- > 0)
        return 0;
    full_name(f, n->out->name, sizeof n->out->name);
    if (clGetDeviceInfo(f->device, CL_DRIVER_VERSION, sizeof text, text, NULL) != CL_SUCCESS)
        strcpy(text, "unknown");
    text[sizeof text - 1] = '\0';
    fit(n->out->driver, sizeof n->out->driver, text);
    n->out->device = f->device;
    n->out->p = f->p;
    n->out->d = f->d;
    n->out->kind = opencl_kind(f->type);
    n->found = 1;
    return 1;
}

cl_int opencl_at(unsigned n, struct opencl_listed *out)
{
    struct numbered at = { n, 0, out };
    const cl_int status = walk(count_down, &at);
    return status != CL_SUCCESS ? status : at.found ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

int opencl_is_named(const struct opencl_listed *at, const char *text)
{
    unsigned p, d;
    return two_numbers(text, &p, &d) ? at->p == p && at->d == d : contains(at->name, text);
}

cl_int opencl_name(unsigned n, char *text, size_t len)
{
    struct opencl_listed listed;
    const cl_int status = opencl_at(n, &listed);
    if (status == CL_SUCCESS)
        snprintf(text, len, "%s", listed.name);
    return status;
}

int opencl_missing(const char *text, struct fault *f)
{
    char list[4096] = "", name[520];
    size_t at = 0;
    for (unsigned n = 0; opencl_name(n, name, sizeof name) == CL_SUCCESS && at + sizeof name + 4 < sizeof list; n++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s\"%s\"", n ? ", " : "", name);
    cl_uint platforms = 0;
    if (!at && clGetPlatformIDs(0, NULL, &platforms) == CL_SUCCESS && platforms > 0)
        return fault_set(f, EXIT_NO_DEVICE, "there is no OpenCL device: of %u drivers that are installed none has one "
                         "that is available: look whether you may open its files (/dev/dri, groups render and video), "
                         "or install another driver (for a CPU PoCL, in Debian pocl-opencl-icd)", platforms);
    if (!at)
        return fault_set(f, EXIT_NO_DEVICE, "there is no OpenCL device: install a driver (for a CPU PoCL, in Debian "
                         "pocl-opencl-icd), or have OCL_ICD_VENDORS name the folder that its .icd file is in");
    return fault_set(f, EXIT_NO_DEVICE, "--device: no device is called \"%s\"; there is %s", text ? text : "",
                     list);
}
