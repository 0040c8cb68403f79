/* dlopen.c - the shared library comes and goes at run time; a process may end with everything still open
 * SPDX-License-Identifier: Apache-2.0
 *
 * Links nothing of the library. With an argument it is the child that ends with live handles. */
#include "config.h"

#include "tools/system/opencl.h"
#include "tests/lib/tap.h"

#include <clattn.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHEAP = 1000, USES = 8 };

/* The calls of one loaded copy. */
struct library {
    void *so;
    const char *(*version)(void);
    cl_int (*create)(clattn_handle *, cl_context, cl_device_id, const clattn_options *);
    cl_int (*release)(clattn_handle);
    cl_int (*plan_create)(clattn_plan *, clattn_handle, const clattn_problem *, const clattn_plan_options *);
    cl_int (*plan_release)(clattn_plan);
    cl_int (*forward)(clattn_plan, cl_command_queue, const clattn_forward_args *, cl_uint, const cl_event *,
                      cl_event *);
};

struct setting {
    struct opencl cl;
    cl_command_queue queue;
    cl_mem in, out;
};

static const char *path(void)
{
    static char text[4096];
    const char *given = getenv("CLATTN_LIBRARY"), *top = getenv("top_builddir");
    snprintf(text, sizeof text, "%s", given ? given : ".libs/libclattn.so");
    if (!given && top)
        snprintf(text, sizeof text, "%s/.libs/libclattn.so", top);
    return text;
}

static void symbol(const struct library *l, const char *name, void *to)
{
    void *p = dlsym(l->so, name);
    if (!p)
        bail("%s lacks %s", path(), name);
    memcpy(to, &p, sizeof p); /* a function pointer by the one way that C99 allows */
}

static void load(struct library *l)
{
    l->so = dlopen(path(), RTLD_NOW | RTLD_LOCAL);
    if (!l->so)
        bail("%s", dlerror());
    symbol(l, "clattn_version", &l->version);
    symbol(l, "clattn_create", &l->create);
    symbol(l, "clattn_release", &l->release);
    symbol(l, "clattn_plan_create", &l->plan_create);
    symbol(l, "clattn_plan_release", &l->plan_release);
    symbol(l, "clattn_enqueue_forward", &l->forward);
}

static int gone(void)
{
    void *p = dlopen(path(), RTLD_NOW | RTLD_NOLOAD);
    if (p)
        dlclose(p);
    return !p;
}

static void test_cheap(void)
{
    int i, good = 1;
    for (i = 0; i < CHEAP && good; i++) {
        struct library l;
        load(&l);
        good = *l.version() == '0' + CLATTN_VERSION_MAJOR && !dlclose(l.so) && gone();
    }
    is_int(i, CHEAP, "loaded, asked for its version and unloaded %d times", CHEAP);
}

/* ---- With a device ---- */

/* For opencl.c, which asks it where no device is named: the library must not be here yet. */
cl_int clattn_default_device(cl_platform_id *platform, cl_device_id *device)
{
    (void)platform;
    (void)device;
    return CL_DEVICE_NOT_FOUND;
}

static int set_up(struct setting *s)
{
    const float v = 42;
    const char *list = getenv("CLATTN_TEST_DEVICES");
    char first[512] = "0:0";
    cl_int e;
    if (list)
        snprintf(first, sizeof first, "%.*s", (int)strcspn(list, ";"), list);
    if (opencl_open(first, &s->cl))
        return 0;
    s->queue = clCreateCommandQueue(s->cl.context, s->cl.device, 0, &e);
    s->in = clCreateBuffer(s->cl.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof v, (void *)&v, &e);
    s->out = clCreateBuffer(s->cl.context, CL_MEM_READ_WRITE, sizeof v, NULL, &e);
    return s->queue && s->in && s->out;
}

/* One query over one key: O is V, 42. */
static cl_int use(const struct library *l, struct setting *s, clattn_handle *h, clattn_plan *p, float *o)
{
    clattn_problem problem = CLATTN_PROBLEM_INIT;
    clattn_forward_args a;
    cl_int e;
    memset(&a, 0, sizeof a);
    a.struct_size = sizeof a;
    a.q.mem = a.k.mem = a.v.mem = s->in;
    a.o.mem = s->out;
    problem.d = 1;
    problem.sizes.b = problem.sizes.h = problem.sizes.nq = problem.sizes.nk = 1;
    *p = NULL;
    e = l->create(h, s->cl.context, s->cl.device, NULL);
    e = e ? e : l->plan_create(p, *h, &problem, NULL);
    e = e ? e : l->forward(*p, s->queue, &a, 0, NULL, NULL);
    return e ? e : clEnqueueReadBuffer(s->queue, s->out, CL_TRUE, 0, sizeof *o, o, 0, NULL, NULL);
}

static void test_uses(struct setting *s)
{
    int i, good = 1;
    for (i = 0; i < USES && good; i++) {
        struct library l;
        clattn_handle h;
        clattn_plan p;
        float o = 0;
        cl_int e;
        load(&l);
        e = use(&l, s, &h, &p, &o);
        good = !e && o == 42 && !l.plan_release(p) && !l.release(h) && !dlclose(l.so) && gone();
        if (!good)
            diag("status %d, O is %g, %s", (int)e, (double)o, gone() ? "unloaded" : "still loaded");
    }
    is_int(i, USES, "loaded, used on a device and unloaded %d times", USES);
}

/* Ends without releasing anything, the library still loaded or not. */
static int end_alive(const char *how)
{
    static struct setting s;
    static struct library l;
    clattn_handle h;
    clattn_plan p;
    float o = 0;
    if (!set_up(&s))
        return 3;
    load(&l);
    if (use(&l, &s, &h, &p, &o) || o != 42)
        return 4;
    if (!strcmp(how, "unloaded"))
        dlclose(l.so);
    return 0;
}

static void test_end(const char *how)
{
    char command[512];
    int status;
    const ssize_t n = readlink("/proc/self/exe", command + 1, sizeof command - 64);
    if (n <= 0) {
        skip("cannot find this program itself");
        return;
    }
    command[0] = '\'';
    snprintf(command + 1 + n, sizeof command - (size_t)n - 1, "' %s", how);
    status = system(command);
    ok(status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "a process may end with live handles, library %s (0x%x)", how, (unsigned)status);
}

int main(int argc, char **argv)
{
    struct setting s;
    setenv("CLATTN_TUNE", "off", 1);
    if (argc > 1)
        return end_alive(argv[1]);
    if (access(path(), R_OK))
        return skip_all("no shared library at %s", path());
    test_cheap();
    memset(&s, 0, sizeof s);
    if (!set_up(&s)) {
        const char *const need = getenv("CLATTN_NEED_DEVICE");
        if (need && *need && strcmp(need, "0"))
            bail("CLATTN_NEED_DEVICE is set: no OpenCL device");
        skip("no OpenCL device");
        return done_testing();
    }
    test_uses(&s);
    test_end("loaded");
    test_end("unloaded");
    clReleaseMemObject(s.in);
    clReleaseMemObject(s.out);
    clReleaseCommandQueue(s.queue);
    opencl_close(&s.cl);
    return done_testing();
}
