/* clbuild.c - builds a kernel with whatever OpenCL device is there: clbuild FILE KERNEL OPTIONS [OUT]
 * SPDX-License-Identifier: Apache-2.0
 *
 * Prints `built LOCAL PRIVATE LARGEST-GROUP`, `no device` (status 4) or what the compiler says (status 1). OUT becomes
 * the program's binary; with one, KERNEL may be "-", and then `built` is all that is said. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 22], words[1 << 16];

static size_t read_text(const char *name)
{
    FILE *f = fopen(name, "rb");
    if (!f) return 0;
    const size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    return n;
}

static int refused(cl_program p, cl_device_id d, cl_int status)
{
    clGetProgramBuildInfo(p, d, CL_PROGRAM_BUILD_LOG, sizeof words, words, NULL);
    printf("error: build status %d: %s\n", status, words);
    return 1;
}

/* Of the only device of its context. */
static int write_binary(cl_program p, const char *name)
{
    size_t n = 0;
    unsigned char *binary = NULL;
    int ok = !clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL) && n && (binary = malloc(n)) &&
             !clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
    FILE *const f = ok ? fopen(name, "wb") : NULL;
    ok = f && fwrite(binary, 1, n, f) == n;
    if (f) ok = !fclose(f) && ok;
    free(binary);
    if (!ok) printf("error: no binary in %s\n", name);
    return ok ? 0 : 1;
}

static int built(void)
{
    fflush(stdout);
    _Exit(0); /* not every pretended driver survives its own end */
}

static int facts(cl_kernel k, cl_device_id d)
{
    cl_ulong local = 0, priv = 0;
    size_t group = 0;
    clGetKernelWorkGroupInfo(k, d, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    clGetKernelWorkGroupInfo(k, d, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof priv, &priv, NULL);
    clGetKernelWorkGroupInfo(k, d, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    printf("built %llu %llu %zu\n", (unsigned long long)local, (unsigned long long)priv, group);
    return built();
}

int main(int argc, char **argv)
{
    const char *source = text;
    const size_t n = argc == 4 || argc == 5 ? read_text(argv[1]) : 0;
    cl_platform_id platform;
    cl_device_id d;
    cl_uint count = 0;
    cl_int status;
    if (n == 0) return 2;
    if (clGetPlatformIDs(1, &platform, &count) || !count ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d, &count) || !count) {
        puts("no device");
        return 4;
    }
    cl_context context = clCreateContext(NULL, 1, &d, NULL, NULL, &status);
    if (status) {
        puts("no device");
        return 4;
    }
    cl_program p = clCreateProgramWithSource(context, 1, &source, &n, &status);
    if (!status) status = clBuildProgram(p, 1, &d, argv[3], NULL, NULL);
    if (status) return refused(p, d, status);
    if (argc == 5 && write_binary(p, argv[4])) return 1;
    if (argc == 5 && !strcmp(argv[2], "-")) {
        puts("built");
        return built();
    }
    cl_kernel k = clCreateKernel(p, argv[2], &status);
    if (status) {
        printf("error: no kernel %s: status %d\n", argv[2], status);
        return 1;
    }
    return facts(k, d);
}
