/* nvcl.c - OpenCL C to PTX by the compiler of NVIDIA's driver, without a GPU: nvcl LIBRARY IN.cl OUT.ptx [OPTION]...
 * SPDX-License-Identifier: Apache-2.0
 *
 * LIBRARY is what setup-nvidia-compilers.sh calls compiler.so: libnvidia-compiler.so of drivers before 495, since then
 * libnvidia-nvvm.so. Its functions are not documented; other programs that use them agree on this prototype. A process
 * loads one of them: two would share the names of their LLVMs.
 *
 * Options are those of clBuildProgram() and what the driver adds to them:
 *     -nv-m64               pointers of 64 bits
 *     -cl-nv-arch sm_90     what to compile for; a compiler that does not know it says so
 *     -cl-nv-cstd=CL1.2     the language
 * Exit status: 0; 1: the compiler refuses the program; 2: no use, no compiler, no file. Its log goes to stderr. */
#include "files.h"

#include <dlfcn.h>

typedef int compile_program(const char *const *texts, unsigned count, const size_t *lengths, const char *options,
                            char **log, char **ptx);

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "nvcl: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    return 2;
}

/* POSIX lets an object pointer hold a function's address, ISO C has no cast for it. */
static compile_program *load(const char *library)
{
    compile_program *compile = NULL;
    void *const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *const symbol = handle ? dlsym(handle, "NvCliCompileProgram") : NULL;
    if (symbol)
        memcpy(&compile, &symbol, sizeof compile);
    else
        complain("cannot load the compiler", dlerror());
    return compile;
}

static char *read_text(const char *name, size_t *size)
{
    FILE *const f = fopen(name, "rb");
    char *const text = read_all(f, name, size);
    if (f)
        fclose(f);
    return text;
}

/* What is not whole is no file. */
static int write_text(const char *name, const char *text)
{
    FILE *const f = fopen(name, "wb");
    int ok = f && fputs(text, f) >= 0;
    if (f)
        ok = fclose(f) == 0 && ok;
    if (!ok) {
        perror(name);
        remove(name);
    }
    return ok ? 0 : 2;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return complain("usage: nvcl LIBRARY IN.cl OUT.ptx [OPTION]...", NULL);
    int result = 2;
    size_t size = 0;
    char *log = NULL, *ptx = NULL; /* the compiler's own: they end with the process */
    compile_program *const compile = load(argv[1]);
    char *const text = compile ? read_text(argv[2], &size) : NULL;
    char *const options = join(argv + 4, argc - 4);
    if (text && options) {
        const char *const texts[] = { text };
        const int status = compile(texts, 1, &size, options, &log, &ptx);
        if (log && *log)
            fprintf(stderr, "%s\n", log);
        if (status)
            fprintf(stderr, "nvcl: the compiler's status is %d\n", status);
        result = status ? 1 : ptx ? write_text(argv[3], ptx) : complain("no program came of it", NULL);
    }
    free(options);
    free(text);
    return result;
}
