/* environment.c - a call leaves the process as it was, and does not care for its locale
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static const char text[] = "f32 b1 h2/1 q5 k7 d8 causal scale0.5 lse seed3";

/* What a library has no business with. */
struct state {
    sigset_t signals;
    int rounding;
    char locale[256], cwd[4096];
    mode_t mask;
    off_t out, err;
    struct sigaction actions[NSIG];
};

static void look(struct state *s, int out, int err)
{
    int i;
    memset(s, 0, sizeof *s);
    sigprocmask(SIG_BLOCK, NULL, &s->signals);
    s->rounding = fegetround();
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    if (!getcwd(s->cwd, sizeof s->cwd))
        s->cwd[0] = 0;
    s->mask = umask(0);
    umask(s->mask);
    s->out = lseek(out, 0, SEEK_END);
    s->err = lseek(err, 0, SEEK_END);
    for (i = 1; i < NSIG; i++)
        sigaction(i, NULL, &s->actions[i]);
}

static int same_actions(const struct state *a, const struct state *b)
{
    int i;
    for (i = 1; i < NSIG; i++)
        if (a->actions[i].sa_handler != b->actions[i].sa_handler || a->actions[i].sa_flags != b->actions[i].sa_flags)
            return 0;
    return 1;
}

/* What differs, in words; NULL when nothing does. */
static const char *difference(const struct state *a, const struct state *b)
{
    if (memcmp(&a->signals, &b->signals, sizeof a->signals))
        return "the signal mask";
    if (a->rounding != b->rounding)
        return "the rounding mode";
    if (strcmp(a->locale, b->locale))
        return "the locale";
    if (strcmp(a->cwd, b->cwd))
        return "the working directory";
    if (a->mask != b->mask)
        return "the umask";
    if (a->out != b->out)
        return "standard output";
    if (a->err != b->err)
        return "standard error";
    return same_actions(a, b) ? NULL : "a signal's action";
}

/* Standard output and error as files while calls run, so that a line printed shows. */
struct streams {
    int out, err, file_out, file_err;
};

static int temporary(void)
{
    FILE *f = tmpfile();
    int fd = f ? dup(fileno(f)) : -1;
    if (f)
        fclose(f);
    if (fd < 0)
        bail("no temporary file");
    return fd;
}

static void redirect(struct streams *s)
{
    fflush(stdout);
    s->out = dup(1);
    s->err = dup(2);
    s->file_out = temporary();
    s->file_err = temporary();
    dup2(s->file_out, 1);
    dup2(s->file_err, 2);
}

static void restore(struct streams *s)
{
    fflush(stdout);
    dup2(s->out, 1);
    dup2(s->err, 2);
    close(s->out);
    close(s->err);
    close(s->file_out);
    close(s->file_err);
}

/* ---- Calls ---- */

static cl_int call_parse(struct fixture *f)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char why[64];
    (void)f;
    return clattn_workload_parse("f32 b1 h2 q3 k4 nonsense", &c, why, sizeof why) == CLATTN_ERROR_SYNTAX &&
                   !clattn_workload_parse(text, &c, why, sizeof why)
               ? CL_SUCCESS
               : CLATTN_ERROR_SYNTAX;
}

static cl_int call_print(struct fixture *f)
{
    char line[256];
    return clattn_workload_print(&f->t.c, line, sizeof line, NULL);
}

static cl_int call_create(struct fixture *f)
{
    clattn_handle h = NULL;
    cl_int e = clattn_create(&h, f->d->cl.context, f->d->cl.device, NULL);
    return e ? e : clattn_release(h);
}

static cl_int call_supports(struct fixture *f)
{
    char why[64];
    return clattn_supports(f->d->handle, &f->t.c.problem, why, sizeof why);
}

static cl_int call_source(struct fixture *f)
{
    size_t n;
    return clattn_emit_source(NULL, &f->t.c.problem, NULL, NULL, 0, &n);
}

/* Built before: this finds the program, and the compiler's own output cannot be taken for the library's. */
static cl_int call_plan(struct fixture *f)
{
    clattn_plan p = NULL;
    cl_int e = clattn_plan_create(&p, f->d->handle, &f->t.c.problem, NULL);
    return e ? e : clattn_plan_release(p);
}

static cl_int call_failing_plan(struct fixture *f)
{
    clattn_problem bad = f->t.c.problem;
    clattn_plan p = NULL;
    bad.d = 0;
    return clattn_plan_create(&p, f->d->handle, &bad, NULL) < 0 ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_int call_forward(struct fixture *f)
{
    return clattn_enqueue_forward(f->plan, f->d->queue, &f->t.args, 0, NULL, NULL);
}

static const struct {
    const char *name;
    cl_int (*run)(struct fixture *);
    int driver; /* the driver works inside: its errno is not the library's */
} calls[] = {
    { "workload_parse", call_parse, 0 },
    { "workload_print", call_print, 0 },
    { "create", call_create, 1 },
    { "supports", call_supports, 0 },
    { "emit_source", call_source, 0 },
    { "plan_create", call_plan, 1 },
    { "a plan_create that fails", call_failing_plan, 0 },
    { "enqueue_forward", call_forward, 1 },
};

static void test_call(struct fixture *f, size_t i)
{
    struct state before, after;
    struct streams s;
    const char *what;
    cl_int e;
    int kept;
    redirect(&s);
    umask(027);
    fesetround(FE_TOWARDZERO); /* not the usual one: setting the usual one back would show */
    look(&before, s.file_out, s.file_err);
    errno = 4242;
    e = calls[i].run(f);
    kept = errno == 4242;
    fflush(stdout);
    clFinish(f->d->queue);
    look(&after, s.file_out, s.file_err);
    fesetround(FE_TONEAREST);
    restore(&s);
    what = difference(&before, &after);
    ok(!e && !what, "%s leaves %s as it was (%s)", calls[i].name, what ? what : "everything", clattn_status_string(e));
    if (!calls[i].driver)
        ok(kept, "%s leaves errno", calls[i].name);
}

/* ---- Modes of the caller ---- */

static void test_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8" };
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char line[128] = "";
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]))
            break;
    if (i == sizeof names / sizeof *names) {
        skip("no locale with a decimal comma is installed");
        return;
    }
    ok(!clattn_workload_parse("f32 b1 h2 q3 k4 d5 scale0.5", &c, NULL, 0) && c.problem.scale == 0.5 &&
           !clattn_workload_print(&c, line, sizeof line, NULL) && !strcmp(line, "f32 b1 h2 q3 k4 d5 scale0.5"),
       "a decimal comma (%s) changes no problem string: '%s'", names[i], line);
    ok(clattn_workload_parse("f32 b1 h2 q3 k4 d5 scale0,5", &c, NULL, 0) == CLATTN_ERROR_SYNTAX,
       "nor is it read as one");
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct device *devices;
    const char *why;
    unsigned n = harness_open(&devices, &why), i;
    size_t j;
    test_locale();
    if (!n) {
        skip("%s", why);
        return done_testing();
    }
    for (i = 0; i < n; i++) {
        struct fixture f;
        each_open(&f, &devices[i], text, PADDED);
        diag("%s", devices[i].name);
        for (j = 0; j < sizeof calls / sizeof *calls; j++)
            test_call(&f, j);
        fixture_close(&f);
    }
    harness_close();
    return done_testing();
}
