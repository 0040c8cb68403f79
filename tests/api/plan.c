/* plan.c - plans, their options, configurations and source
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has scales in f32 and one width; CLATTN_PART=1: in others as well. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/sound.h"

#include <stddef.h>
#include <stdint.h>

static void *const garbage = (void *)1; /* never read: an output that must be overwritten */

/* Options of a newer header: more fields behind what this library knows. */
struct long_plan_options {
    clattn_plan_options o;
    char more[40];
};

static void test_plan_options(const struct device *d)
{
    clattn_problem p = sound();
    struct long_plan_options o;
    clattn_plan plan = garbage;
    memset(&o, 0, sizeof o);
    is_int(clattn_plan_create(&plan, d->handle, &p, &o.o), CLATTN_ERROR_INVALID_ARGUMENT,
           "plan: struct_size 0 is refused");
    o.o.struct_size = sizeof o;
    o.more[3] = 9;
    is_int(clattn_plan_create(&plan, d->handle, &p, &o.o), CLATTN_ERROR_UNKNOWN_FIELD,
           "plan: unknown options are refused");
    ok(!plan, "and *out is NULL");
    o.more[3] = 0;
    is_int(clattn_plan_create(&plan, d->handle, &p, &o.o), CL_SUCCESS, "plan: a tail of zeros is fine");
    clattn_plan_release(plan);
    o.o.struct_size = offsetof(clattn_plan_options, max_workspace);
    plan = garbage;
    ok(clattn_plan_create(&plan, d->handle, &p, &o.o) == CLATTN_ERROR_INVALID_ARGUMENT && !plan,
       "plan: options of a size that there never was are refused");
    is_int(clattn_plan_create(&plan, d->handle, &p, NULL), CL_SUCCESS, "plan: none are fine");
    is_int(clattn_plan_retain(plan), CL_SUCCESS, "plan: retain");
    ok(clattn_plan_release(plan) == CL_SUCCESS && clattn_plan_release(plan) == CL_SUCCESS, "plan: release twice");
    plan = garbage;
    ok(clattn_plan_create(&plan, NULL, &p, NULL) < 0 && !plan, "plan: handle NULL is refused");
    plan = garbage;
    ok(clattn_plan_create(&plan, d->handle, NULL, NULL) < 0 && !plan, "plan: problem NULL is refused");
    ok(clattn_plan_create(NULL, d->handle, &p, NULL) < 0, "plan: out NULL is refused");
}

static const char *const nonsense[] = { "nonsense",    "cpu nonsense", "simt 99999999999999999999",
                                        "simt w",      "cpu ,,,,",     " ",
                                        "cpu  ",       "simt -1",      "naive x",
                                        "cpu w16,w16", "%s%n",         "simt bq0,bk0" };

static void test_configs(const struct device *d)
{
    clattn_problem p = sound();
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    char first[128] = "", used[128] = "", engine[128];
    size_t i, needed = 0;
    for (i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        plan = garbage;
        o.config = nonsense[i];
        ok(ours(clattn_plan_create(&plan, d->handle, &p, &o)) && !plan, "configuration '%s' is refused", nonsense[i]);
    }
    is_int(clattn_config_at(d->handle, &p, 0, first, sizeof first), CL_SUCCESS, "there is a default configuration");
    is_int(clattn_config_at(d->handle, &p, SIZE_MAX, engine, sizeof engine), CL_INVALID_VALUE, "there is no last one");
    clattn_error_detail(d->handle, used, sizeof used, NULL);
    ok(strstr(used, "out of range") != NULL, "in words: %s", used);
    is_int(clattn_config_at(d->handle, &p, 1000000, engine, sizeof engine), CL_INVALID_VALUE, "nor a millionth");
    is_int(clattn_plan_create(&plan, d->handle, &p, NULL), CL_SUCCESS, "a plan without options");
    is_int(clattn_plan_config(plan, used, sizeof used, &needed), CL_SUCCESS, "tells its configuration");
    is_str(used, first, "which is the first one");
    is_int((long long)needed, (long long)strlen(first) + 1, "and its room");
    ok(clattn_plan_config(NULL, used, sizeof used, NULL) < 0, "plan_config: NULL is refused");
    clattn_plan_release(plan);
    snprintf(engine, sizeof engine, "%.*s", (int)strcspn(first, " "), first);
    o.config = engine;
    is_int(clattn_plan_create(&plan, d->handle, &p, &o), CL_SUCCESS, "'%s' alone is a configuration", engine);
    clattn_plan_release(plan);
    ok(clattn_config_at(NULL, &p, 0, used, sizeof used) < 0 &&
           clattn_config_at(d->handle, NULL, 0, used, sizeof used) < 0,
       "config_at: NULL is refused");
}

static void test_source(const struct device *d)
{
    clattn_problem p = sound();
    size_t n = 0, again = 0;
    char *text, cut[16];
    is_int(clattn_emit_source(d->handle, &p, NULL, NULL, 0, &n), CL_SUCCESS, "source: the room can be asked");
    text = malloc(n + 1);
    if (!text || !n)
        bail("no source");
    is_int(clattn_emit_source(d->handle, &p, NULL, text, n, &again), CL_SUCCESS, "source: fits into it");
    ok(again == n && strlen(text) == n - 1 && strstr(text, "__kernel"), "source: is all there (%zu bytes)", n);
    ok(!strncmp(text, "//", 2) || !strncmp(text, "/*", 2), "source: the first line is a comment");
    clattn_emit_source(d->handle, &p, NULL, cut, sizeof cut, NULL);
    is_int((long long)strlen(cut), 15, "source: is cut to its room");
    free(text);
    is_int(clattn_emit_source(NULL, &p, NULL, NULL, 0, &n), CL_SUCCESS, "source: no device is needed");
    *cut = 0;
    ok(ours(clattn_emit_source(NULL, &p, "nonsense", cut, sizeof cut, &n)) && *cut,
       "source: a configuration of nonsense is refused: %s", cut);
    ok(clattn_emit_source(NULL, NULL, NULL, NULL, 0, &n) < 0, "source: problem NULL is refused");
}

/* What is compiled is tried with scores that it can compute, and serves small scales behind large ones. */
static void test_scales(const struct device *d)
{
    static const struct {
        int type, width;
        double scale;
    } rows[] = { { CLATTN_F32, 64, 9e37 }, { CLATTN_F32, 64, -9e37 }, { CLATTN_F32, 64, 2 }, { CLATTN_F32, 256, 1e37 },
                 { CLATTN_F64, 64, 1e37 }, { CLATTN_F32, 64, 1e-37 }, { CLATTN_BF16, 64, 9e37 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_problem p = CLATTN_PROBLEM_INIT;
        clattn_plan plan = NULL;
        p.type = rows[i].type;
        p.d = rows[i].width;
        p.scale = rows[i].scale;
        if (!harness_turn((unsigned)i, p.type == CLATTN_F32 && p.d == 64) || harness_may_refuse(d, &p, NULL))
            continue;
        is_int(clattn_plan_create(&plan, d->handle, &p, NULL), CL_SUCCESS, "plan: d %d, scale %g", p.d, p.scale);
        clattn_plan_release(plan);
    }
}

/* A caller's text that is wrong: the words begin with its name and line, and options come last. */
static void test_wrong_text(const struct device *d)
{
    const clattn_score_mod mod = { "s = s + 1;\ns = nowhere;", "mine.cl", 0 };
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_plan plan = garbage;
    char why[4096] = "";
    p.d = 8;
    p.mods = &mod;
    p.n_mods = 1;
    is_int(clattn_plan_create(&plan, d->handle, &p, NULL), CLATTN_ERROR_BUILD, "a text that is no OpenCL C");
    clattn_error_detail(d->handle, why, sizeof why, NULL);
    const char *const line = strstr(why, "mine.cl:2"), *const options = strstr(why, "-DCLA_D=8");
    ok(!plan && line && options && line < strchr(why, '\n') && options > line &&
           strstr(why, "CL_BUILD_PROGRAM_FAILURE"),
       "its line comes first: %.60s", why);
}

static void test_device(const struct device *d)
{
    test_plan_options(d);
    test_configs(d);
    test_source(d);
    test_scales(d);
    test_wrong_text(d);
}

int main(void)
{
    return each_device(test_device);
}
