/* exp2.c - which 2^x a device computes well
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "device/exp2.h"

#include "base/digest.h"
#include "base/text.h"
#include "device/driver_variables.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The points ---- */

/* Tests on random inputs grant weights 8 u, of which half go to 2^x: that is the 2 ulp that instructions of GPUs
 * promise. A weight that may count as 0 is at most twice what it should be (doc/semantics). */
static const double error_most = 0x1p-22;
enum { POINTS = 4096, WIDTH = 4, SPECIAL = 8, HIGHEST = 16, LOWEST = -126 }; /* below LOWEST devices may flush to 0 */

/* Half of the points lie where weights are large, half over the whole range that engines use; the first are what is
 * dropped or far below. */
static void fill_points(float *x)
{
    static const float special[SPECIAL] = { -INFINITY, NAN, -FLT_MAX, -1e10f, -1000, -150, 0, 1 };
    for (int i = 0; i < POINTS; i++) {
        const double at = (double)i / POINTS, from = i % 2 ? LOWEST : -2, to = i % 2 ? HIGHEST : 0;
        x[i] = i < SPECIAL ? special[i] : (float)(from + (to - from) * at);
    }
}

static bool is_right(double x, double y)
{
    const double want = exp2(x);
    if (isnan(x))
        return isnan(y);
    if (x == -(double)INFINITY)
        return y == 0;
    return x < LOWEST ? y >= 0 && y <= 2 * want : fabs(y - want) <= error_most * want;
}

/* ---- On the device ---- */

static cl_int compute(struct programs *p, cl_program program, float *x, float *y, struct why *why)
{
    const size_t bytes = POINTS * sizeof *x, items = POINTS / WIDTH;
    cl_mem from = NULL, to = NULL;
    cl_command_queue queue = NULL;
    cl_kernel kernel = NULL;
    cl_int status;
    if ((from = clCreateBuffer(p->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, x, &status)) && !status &&
        (to = clCreateBuffer(p->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, x, &status)) && !status &&
        (queue = clCreateCommandQueue(p->context, p->device, 0, &status)) && !status &&
        (kernel = clCreateKernel(program, pass_at(PASS_EXP2)->kernel, &status)) && !status &&
        !(status = clSetKernelArg(kernel, 0, sizeof from, &from)) &&
        !(status = clSetKernelArg(kernel, 1, sizeof to, &to)) &&
        !(status = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL)))
        status = clEnqueueReadBuffer(queue, to, CL_TRUE, 0, bytes, y, 0, NULL, NULL);
    if (!kernel && !status)
        status = CL_OUT_OF_RESOURCES; /* an object is missing although every status was success */
    if (kernel)
        clReleaseKernel(kernel);
    if (queue)
        clReleaseCommandQueue(queue);
    if (to)
        clReleaseMemObject(to);
    if (from)
        clReleaseMemObject(from);
    return status ? why_cl(why, status, "2^x") : CL_SUCCESS;
}

/* Tests whether a fragment computes accurately: CLATTN_ERROR_WRONG_RESULT where it does not. */
static cl_int try(struct programs *p, int which, struct why *why)
{
    struct source source = { NULL, NULL };
    struct built built;
    float *const x = malloc(2 * POINTS * sizeof *x), *const y = x ? x + POINTS : NULL;
    const struct target target = { .pass = PASS_EXP2, .caps = p->caps, .exp2 = which };
    cl_int status = x ? source_compose(&source, &target, why)
                      : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    if (!status && !(status = program_look_up(&built, p, &source, true, why))) {
        fill_points(x);
        if (!(status = program_compile(&built, p, &source, true, why)))
            status = compute(p, built.program, x, y, why);
        program_judge(&built, p, PROGRAM_BAD); /* it is needed once only */
        program_release(&built, p);
    }
    for (int i = 0; i < POINTS && !status; i++)
        if (!is_right((double)x[i], (double)y[i]))
            status = why_set(why, CLATTN_ERROR_WRONG_RESULT, "2^%.9g is %.9g", (double)x[i], (double)y[i]);
    source_free(&source);
    free(x);
    return status;
}

/* ---- The verdict ---- */

enum { VERDICT_MAX = 128 };

struct verdict {
    char name[STORE_NAME_MAX]; /* of the blob */
    char key[DIGEST_HEX];
};

/* Everything that the verdict depends on: device, driver, what changes its compiler, and the programs. */
static cl_int name_verdict(struct verdict *v, const struct programs *p, struct why *why)
{
    unsigned char digest[DIGEST_BYTES];
    char all[4096], digits[DIGEST_HEX];
    struct text text = { all, sizeof all, 0 }, name = { v->name, sizeof v->name, 0 };
    digest_of(digest, p->caps->identity, strlen(p->caps->identity));
    digest_hex(digits, digest);
    text_add(&name, "test/%.32s/", digits);
    text_add(&text, "%s\n%s\n", digits, p->caps->driver);
    driver_variables_print(&text);
    for (int which = CAPS_EXP2_NATIVE; which <= CAPS_EXP2_BUILTIN; which++) {
        struct source source;
        const struct target target = { .pass = PASS_EXP2, .caps = p->caps, .exp2 = which };
        const cl_int status = source_compose(&source, &target, why);
        if (status)
            return status;
        digest_of(digest, source.text, strlen(source.text));
        digest_hex(digits, digest);
        text_add(&text, "%s %s\n", digits, source.options);
        source_free(&source);
    }
    if (text.length >= sizeof all)
        return why_set(why, CL_INVALID_VALUE, "the key of the verdict is longer than %zu", sizeof all);
    digest_of(digest, all, strlen(all));
    digest_hex(v->key, digest);
    text_add(&name, "%.32s", v->key);
    return CL_SUCCESS;
}

/* Prints a verdict as it is kept; returns its length. */
static size_t print_verdict(char line[VERDICT_MAX], const struct verdict *v, int which)
{
    struct text to = { line, VERDICT_MAX, 0 };
    text_add(&to, "%s %s\n", source_exp2(which), v->key);
    return to.length;
}

static int read_verdict(const struct verdict *v, struct store *store)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    int found = CAPS_EXP2_UNTESTED;
    if (!store_read(store, v->name, VERDICT_MAX, &bytes, &n))
        return found;
    for (int which = CAPS_EXP2_NATIVE; which <= CAPS_EXP2_BUILTIN; which++) {
        char line[VERDICT_MAX];
        if (n == print_verdict(line, v, which) && !memcmp(bytes, line, n))
            found = which;
    }
    free(bytes);
    return found;
}

/* Returns the first fragment that computes accurately. Where none does, it is the built-in one: the trial of the
 * program will decide. A failure for lack of memory and the like is not final. */
static int measure(struct programs *p, bool *final, struct why *why)
{
    struct why words, *to = why;
    *final = true;
    for (int which = CAPS_EXP2_NATIVE; which <= CAPS_EXP2_BUILTIN; which++) {
        const cl_int status = try(p, which, to);
        to = &words; /* the words of the first one are kept */
        if (!status)
            return which;
        *final = *final && (status == CLATTN_ERROR_WRONG_RESULT || status == CLATTN_ERROR_BUILD);
    }
    return CAPS_EXP2_BUILTIN;
}

static int known(const struct caps *caps)
{
    return __atomic_load_n(&caps->exp2, __ATOMIC_ACQUIRE);
}

/* Of threads that want to know at the same time one measures, and the others learn it from caps. Returns whether this
 * was the one. */
static bool find_out(struct programs *p, struct caps *caps, bool *final, struct why *why)
{
    struct flight flight;
    struct found found;
    const bool leads = programs_begin(p, &flight, "2^x", true, &found);
    const bool measures = known(caps) == CAPS_EXP2_UNTESTED;
    if (measures)
        __atomic_store_n(&caps->exp2, measure(p, final, why), __ATOMIC_RELEASE);
    if (leads)
        programs_land(p, &flight);
    return measures;
}

void exp2_find(struct programs *p, struct caps *caps, const struct engine *engine, struct why *why)
{
    struct verdict v;
    struct why words = { "" };
    bool final = false;
    why->text[0] = '\0';
    if (known(caps) != CAPS_EXP2_UNTESTED || strcmp(engine->exp, source_exp2(CAPS_EXP2_NATIVE)))
        return;
    const bool named = !name_verdict(&v, p, &words);
    const int kept = named ? read_verdict(&v, p->store) : CAPS_EXP2_UNTESTED;
    if (kept != CAPS_EXP2_UNTESTED) {
        __atomic_store_n(&caps->exp2, kept, __ATOMIC_RELEASE);
    } else if (find_out(p, caps, &final, &words)) {
        const int which = known(caps);
        char line[VERDICT_MAX];
        if (named && final)
            (void)store_write(p->store, v.name, line, print_verdict(line, &v, which), false);
        if (which != CAPS_EXP2_NATIVE)
            why_set(why, CL_SUCCESS,
                    "%s computes 2^x in place of the device's own, which is not accurate enough: %.*s",
                    source_exp2(which), (int)strcspn(words.text, "\n"), words.text);
    }
}
