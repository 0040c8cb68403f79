/* settings.c - what options and environment say about tuning
 * SPDX-License-Identifier: Apache-2.0
 *
 * settings.t secure: what a program that is setuid sees; 0 when it sees nothing, 2 when it is none. */
#include "config.h"

#include "src/base/settings.h"
#include "src/base/text.h"
#include "src/device/driver_variables.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { LONG = 1 << 20 };
static char *endless; /* LONG times '1' */

/* ---- CLATTN_TUNE and CLATTN_TUNE_SECONDS ---- */

static void put(const char *name, const char *value)
{
    if (value ? setenv(name, value, 1) : unsetenv(name))
        bail("cannot set %s", name);
}

/* Reads with these variables (NULL: not set) and options. */
static cl_int read_with(struct settings *s, const char *tune, const char *seconds, const clattn_options *o,
                        struct why *why)
{
    const clattn_options init = CLATTN_OPTIONS_INIT;
    put("CLATTN_TUNE", tune);
    put("CLATTN_TUNE_SECONDS", seconds);
    memset(s, 0x5a, sizeof *s); /* whatever was there before */
    memset(why, 'x', sizeof *why);
    return settings_read(s, o ? o : &init, why);
}

/* Short, ended, and of the variable. */
static int has_words(const struct why *why, const char *name)
{
    return memchr(why->text, 0, sizeof why->text) && strstr(why->text, name) && strlen(why->text) < 200;
}

static const struct {
    const char *name;
    int tune;
} modes[] = {
    { "auto", CLATTN_TUNE_AUTO },   { "off", CLATTN_TUNE_OFF },   { "readonly", CLATTN_TUNE_READONLY },
    { "quick", CLATTN_TUNE_QUICK }, { "full", CLATTN_TUNE_FULL }, { "record", CLATTN_TUNE_RECORD },
};
enum { MODES = sizeof modes / sizeof *modes };

static void test_modes(void)
{
    struct settings s;
    struct why why;
    for (int i = 0; i < MODES; i++) {
        const cl_int status = read_with(&s, modes[i].name, NULL, NULL, &why);
        ok(!status && s.tune == modes[i].tune && s.seconds == 0 && !*why.text, "CLATTN_TUNE=%s", modes[i].name);
    }
    for (int i = 0; i < 2; i++) {
        const cl_int status = read_with(&s, i ? "" : NULL, i ? "" : NULL, NULL, &why);
        ok(!status && s.tune == CLATTN_TUNE_AUTO && s.seconds == 0 && !*why.text, "%s variables are none: auto",
           i ? "empty" : "no");
    }
}

static void test_unknown_modes(void)
{
    static const char *const unknown[] = { "Auto",    "AUTO",       "auto ",   " auto", "auto\n", "aut",  "autox",
                                           "a,b",     "exhaustive", "default", "1",     "0",      "\n\n", "\xff\xfe",
                                           "%s%n%s%n", "../../etc",  "off\noff", "full,quick" };
    struct settings s;
    struct why why;
    int good = 1;
    for (size_t i = 0; i <= sizeof unknown / sizeof *unknown; i++) {
        const char *const value = i < sizeof unknown / sizeof *unknown ? unknown[i] : endless;
        const cl_int status = read_with(&s, value, NULL, NULL, &why);
        if (status || s.tune != CLATTN_TUNE_AUTO || s.seconds != 0 || !has_words(&why, "CLATTN_TUNE is ")) {
            diag("CLATTN_TUNE=%.40s", value);
            good = 0;
        }
    }
    ok(good, "what is no mode counts for nothing, with words: %s", why.text);
}

static void test_seconds(void)
{
    static const struct {
        const char *text;
        double seconds;
    } limits[] = { { "2", 2 },     { "0.25", 0.25 }, { ".5", 0.5 }, { "5.", 5 },           { "1e3", 1000 },
                   { "1E-3", 1e-3 }, { "1e+2", 100 },  { "007", 7 },  { "1000000000", 1e9 }, { "0", 0 } };
    static const char *const unknown[] = { "2e309", "1e10", "1000000001", "nan", "NaN", "inf",   "-inf",  "-1",
                                           "-0.001", "0x10", "2 ",         " 2",  "2\n", "2\n3",  "2,5",   "2s",
                                           "+2",    "1e",   "1e+",        ".",   "-",   "e3",    "--1",   "two",
                                           "1/2",   "%d",   "0x1p3",      "1_000", "\xd9\xa3", "\n" };
    struct settings s;
    struct why why;
    int good = 1;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const cl_int status = read_with(&s, NULL, limits[i].text, NULL, &why);
        ok(!status && s.seconds == limits[i].seconds && s.tune == CLATTN_TUNE_AUTO && !*why.text,
           "CLATTN_TUNE_SECONDS=%s", limits[i].text);
    }
    for (size_t i = 0; i <= sizeof unknown / sizeof *unknown; i++) {
        const char *const value = i < sizeof unknown / sizeof *unknown ? unknown[i] : endless;
        const cl_int status = read_with(&s, NULL, value, NULL, &why);
        if (status || s.seconds != 0 || s.tune != CLATTN_TUNE_AUTO || !has_words(&why, "CLATTN_TUNE_SECONDS is ")) {
            diag("CLATTN_TUNE_SECONDS=%.40s gives %g", value, s.seconds);
            good = 0;
        }
    }
    ok(good, "what is no number of seconds counts for nothing, with words");
    ok(!read_with(&s, "full", "nonsense", NULL, &why) && s.tune == CLATTN_TUNE_FULL && *why.text &&
           !read_with(&s, "nonsense", "3", NULL, &why) && s.seconds == 3 && *why.text,
       "one that is understood counts beside one that is not");
    ok(!read_with(&s, "nonsense", "more", NULL, &why) && has_words(&why, "CLATTN_TUNE is nonsense") &&
           has_words(&why, "CLATTN_TUNE_SECONDS is more"),
       "two that are not are both named: %s", why.text);
}

/* A comma of the user's language is not one of ours. */
static void test_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8" };
    struct settings s;
    struct why why;
    size_t i = 0;
    while (i < sizeof names / sizeof *names && !setlocale(LC_ALL, names[i]))
        i++;
    if (i == sizeof names / sizeof *names) {
        skip("no locale with a decimal comma is installed");
        return;
    }
    const int point = !read_with(&s, NULL, "0.5", NULL, &why) && s.seconds == 0.5 && !*why.text;
    const int comma = !read_with(&s, NULL, "0,5", NULL, &why) && s.seconds == 0 && *why.text;
    setlocale(LC_ALL, "C");
    ok(point && comma, "a decimal comma (%s) changes nothing", names[i]);
}

static void test_limits(void)
{
    ok(settings_limit(CLATTN_TUNE_AUTO) == 2 && settings_limit(CLATTN_TUNE_QUICK) == 2 &&
           settings_limit(CLATTN_TUNE_FULL) == 60 && settings_limit(CLATTN_TUNE_EXHAUSTIVE) == 0,
       "2 s for auto and quick, 60 s for full, no limit for exhaustive");
}

/* ---- Options ---- */

static void test_options(void)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    struct settings s;
    struct why why;
    int good = 1;
    for (int i = 0; i < MODES; i++)
        for (int j = 0; j < MODES; j++) {
            o.tune = modes[i].tune;
            good = good && !read_with(&s, modes[j].name, "7", &o, &why) && s.tune == modes[i].tune && s.seconds == 7 &&
                   !*why.text;
        }
    ok(good, "options.tune wins over CLATTN_TUNE");
    o.tune = CLATTN_TUNE_OFF;
    ok(!read_with(&s, "nonsense", NULL, &o, &why) && s.tune == CLATTN_TUNE_OFF, "and over nonsense there");
    o.tune = 0;
    o.tune_seconds = 3.5;
    ok(!read_with(&s, "full", "7", &o, &why) && s.seconds == 3.5 && s.tune == CLATTN_TUNE_FULL && !*why.text,
       "options.tune_seconds wins over CLATTN_TUNE_SECONDS");
    ok(!read_with(&s, NULL, "nonsense", &o, &why) && s.seconds == 3.5, "and over nonsense there");
    o.tune_seconds = 0;
    ok(!read_with(&s, NULL, "7", &o, &why) && s.seconds == 7, "0 does not");
    o.tune_seconds = 1e-300;
    ok(!read_with(&s, NULL, "7", &o, &why) && s.seconds == 1e-300, "as little as there is does");
    o.tune_seconds = 1e9;
    ok(!read_with(&s, NULL, "7", &o, &why) && s.seconds == 1e9, "and so does as much");
}

static void test_wrong_options(void)
{
    static const int32_t tunes[] = { -1, 7, 8, INT32_MAX, INT32_MIN }, reserved[] = { 1, -1, INT32_MAX, INT32_MIN };
    const double seconds[] = { -1, -1e-300, -(double)INFINITY, (double)INFINITY, (double)NAN, 1.1e9, 1e300 };
    struct settings s;
    struct why why;
    int good = 1;
    for (size_t i = 0; i < sizeof tunes / sizeof *tunes; i++) {
        clattn_options o = CLATTN_OPTIONS_INIT;
        o.tune = tunes[i];
        good = good && read_with(&s, "full", NULL, &o, &why) == CLATTN_ERROR_INVALID_ARGUMENT &&
               has_words(&why, "clattn_options.tune ");
    }
    ok(good, "a tune that is none is refused: %s", why.text);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        clattn_options o = CLATTN_OPTIONS_INIT;
        o.tune_seconds = seconds[i];
        good = good && read_with(&s, "full", "7", &o, &why) == CLATTN_ERROR_INVALID_ARGUMENT &&
               has_words(&why, "clattn_options.tune_seconds ");
    }
    ok(good, "and so are seconds: %s", why.text);
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        clattn_options o = CLATTN_OPTIONS_INIT;
        o.reserved = reserved[i];
        good = good && read_with(&s, NULL, NULL, &o, &why) == CLATTN_ERROR_INVALID_ARGUMENT &&
               has_words(&why, "clattn_options.reserved ");
    }
    ok(good, "and what is reserved: %s", why.text);
}

/* ---- Variables that change what drivers compile ---- */

/* The text of driver_variables_print() when these are all there are; the caller frees it. */
static char *codegen(const char *const *variables)
{
    char **const before = environ;
    struct text measure = { NULL, 0, 0 };
    environ = (char **)(uintptr_t)variables;
    driver_variables_print(&measure);
    struct text to = { malloc(measure.length + 1), measure.length + 1, 0 };
    if (!to.to)
        bail("no memory");
    *to.to = '\0';
    driver_variables_print(&to);
    environ = before;
    if (to.length != measure.length || strlen(to.to) != to.length)
        bail("driver_variables_print() says %zu, then %zu, and writes %zu", measure.length, to.length, strlen(to.to));
    return to.to;
}

static int same_codegen(const char *const *a, const char *const *b)
{
    char *const x = codegen(a), *const y = codegen(b);
    const int same = !strcmp(x, y);
    free(x);
    free(y);
    return same;
}

static const char *const counted[] = { "IGC_ShaderDumpEnable=1",        "IGC_=",
                                       "AMD_OCL_BUILD_OPTIONS=-O0",     "AMD_OCL_BUILD_OPTIONS_APPEND=-g",
                                       "POCL_WORK_GROUP_METHOD=loopvec", "POCL_VECTORIZER_REMARKS=1",
                                       "CL_CONFIG_CPU_TARGET_ARCH=skx",
                                       "POCL_LLVM_CPU_NAME=haswell",    "POCL_KERNELLIB_NAME=avx2",
                                       "POCL_LLVM_ALWAYS_INLINE=1",     "POCL_EXTRA_BUILD_FLAGS=-O0",
                                       "POCL_WORK_GROUP_SPECIALIZATION=0", "POCL_BINARY_SPECIALIZE_WG=0-0-0",
                                       "POCL_BITCODE_FINALIZER=/x",     "POCL_FORCE_PARALLEL_OUTER_LOOP=1",
                                       "POCL_FULL_REPLICATION_THRESHOLD=2", "POCL_IGNORE_CL_STD=1",
                                       "POCL_PREGION_VALUE_REMAT=1",    "POCL_WILOOPS_MAX_UNROLL_COUNT=4",
                                       "CL_CONFIG_LLVM_OPTIONS=-x",     "CL_CONFIG_USE_VECTORIZER=0",
                                       "CL_CONFIG_USE_FAST_RELAXED_MATH=1", "CL_CONFIG_REPLACE_IR_BEFORE_OPTIMIZER=x",
                                       "GALLIVM_PERF=nopt",             "LP_NATIVE_VECTOR_WIDTH=128",
                                       "AMD_OCL_LINK_OPTIONS=-x" };
enum { COUNTED = sizeof counted / sizeof *counted };

static const char *const ignored[] = { "PATH=/bin:IGC_x=1", "HOME=/IGC_", "IGC=1", "igc_x=1", "XIGC_x=1", "_IGC_x=1",
                                       "AMD_OCL_BUILD=-O0", "CLATTN_TUNE=full", "POCL_CACHE_DIR=/x", "POCL_DEBUG=1",
                                       "POCL_=1", "CL_CONFIG_=1", "x=IGC_x=1", "=", "", "=IGC_x=1",
                                       "LC_ALL=de_DE.UTF-8", "POCL_MAX_PTHREAD_COUNT=2", "POCL_KERNEL_CACHE=0",
                                       "CL_CONFIG_DUMP_ASM=1", "LP_NUM_THREADS=2", "POCL_AFFINITY=1" };
enum { IGNORED = sizeof ignored / sizeof *ignored };

static void test_listed(void)
{
    const char *const none[] = { NULL };
    const char *all[COUNTED + IGNORED + 1] = { NULL }, *one[2] = { NULL };
    char *text;
    int good = 1, n = 0;
    ok(same_codegen(none, NULL), "no environment at all is an empty one");
    text = codegen(none);
    is_str(text, "", "and there is nothing to say of it");
    free(text);
    for (int i = 0; i < COUNTED; i++) {
        *one = all[n++] = counted[i];
        text = codegen(one);
        if (!strstr(text, counted[i])) {
            diag("%s is left out", counted[i]);
            good = 0;
        }
        free(text);
    }
    ok(good, "what changes code is there, name and value");
    for (int i = 0; i < IGNORED; i++) {
        *one = all[n++] = ignored[i];
        if (!same_codegen(one, none)) {
            diag("%s is there", ignored[i]);
            good = 0;
        }
    }
    ok(good, "nothing else is");
    text = codegen(all);
    for (int i = 0; i < COUNTED; i++)
        good = good && strstr(text, counted[i]);
    all[COUNTED] = NULL;
    char *const without = codegen(all);
    ok(good && !strcmp(text, without), "nor beside them");
    free(text);
    free(without);
}

/* The same variables are the same program to a driver, in whatever order a shell or a launcher put them. */
static void test_order(void)
{
    const char *orders[3][COUNTED + IGNORED + 1] = { { NULL } };
    int n = 0;
    for (int i = 0; i < COUNTED + IGNORED; i++, n++) {
        const char *const x = i < COUNTED ? counted[i] : ignored[i - COUNTED];
        orders[0][n] = x;
        orders[1][COUNTED + IGNORED - 1 - n] = x;
        orders[2][(n * 7 + 3) % (COUNTED + IGNORED)] = x; /* 7 and the number of all have no common divisor */
    }
    ok(same_codegen(orders[0], orders[1]) && same_codegen(orders[0], orders[2]),
       "the order of the environment counts for nothing");
    const char *const two[][3] = { { "IGC_A=1", "IGC_B=2", NULL }, { "IGC_B=2", "IGC_A=1", NULL } };
    ok(same_codegen(two[0], two[1]), "not even that of two of the same driver's");
}

/* None of these is another, so none may have another's binaries. */
static void test_distinct(void)
{
    static char a[LONG + 16], b[LONG + 16];
    const char *const lists[][3] = {
        { NULL }, { "IGC_A=1", NULL }, { "IGC_A=2", NULL }, { "IGC_A=", NULL }, { "IGC_A=1 ", NULL },
        { "IGC_B=1", NULL }, { "IGC_A=1", "IGC_B=1", NULL }, { "IGC_A=1\nIGC_B=1", NULL }, { "IGC_A=1\n", NULL },
        { "IGC_A=1IGC_B=1", NULL }, { a, NULL }, { b, NULL },
    };
    enum { N = sizeof lists / sizeof *lists };
    snprintf(a, sizeof a, "IGC_A=%s1", endless);
    snprintf(b, sizeof b, "IGC_A=%s2", endless);
    int good = 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            if (same_codegen(lists[i], lists[j])) {
                diag("%.40s is as %.40s", lists[i][0], lists[j][0] ? lists[j][0] : "nothing");
                good = 0;
            }
    ok(good, "other variables and other values are another text, newlines or not");
}

static void test_room(void)
{
    char **const before = environ, part[2048];
    const char *all[COUNTED + 1] = { NULL };
    int bad = 0;
    for (int i = 0; i < COUNTED; i++)
        all[i] = counted[i];
    char *const whole = codegen(all);
    const size_t n = strlen(whole);
    environ = (char **)(uintptr_t)all;
    for (size_t room = 1; room < sizeof part; room++) {
        struct text to = { part, room, 0 };
        memset(part, 'x', sizeof part);
        driver_variables_print(&to);
        const size_t fits = n < room ? n : room - 1;
        bad += to.length != n || strlen(part) != fits || strncmp(part, whole, fits) || part[room] != 'x';
    }
    environ = before;
    free(whole);
    ok(n > 100 && n < sizeof part && !bad, "what does not fit is cut, and counted");
}

/* ---- A setuid program ---- */

static int secure_child(void)
{
    const clattn_options o = CLATTN_OPTIONS_INIT;
    struct settings s;
    struct why why;
    if (!getauxval(AT_SECURE))
        return 2;
    return settings_read(&s, &o, &why) || s.tune != CLATTN_TUNE_AUTO || s.seconds != 0 || *why.text;
}

static bool copy_self(const char *path)
{
    static char bytes[1 << 16];
    const int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    ssize_t n = -1;
    while (from >= 0 && to >= 0 && (n = read(from, bytes, sizeof bytes)) > 0)
        if (write(to, bytes, (size_t)n) != n)
            break;
    if (from >= 0)
        close(from);
    return (to < 0 || close(to) == 0) && n == 0;
}

/* Another user's for root, another of his groups' for everybody else. */
static bool make_secure(const char *path)
{
    enum { NOBODY = 65534 };
    gid_t groups[64];
    const int n = getgroups(64, groups);
    if (!getuid())
        return !chown(path, NOBODY, NOBODY) && !chmod(path, 04755);
    for (int i = 0; i < n; i++)
        if (groups[i] != getegid())
            return !chown(path, (uid_t)-1, groups[i]) && !chmod(path, 02755);
    return false;
}

/* -1: it could not be run. */
static int run_secure(const char *path)
{
    int status = 0;
    const pid_t pid = fork();
    if (!pid) {
        execl(path, path, "secure", (char *)NULL);
        _exit(2);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_secure(void)
{
    const char *const home = getenv("TMPDIR") ? getenv("TMPDIR") : getenv("HOME");
    char folder[4096], path[4096 + 16];
    snprintf(folder, sizeof folder, "%s/settings.XXXXXX", home ? home : "/tmp");
    if (!mkdtemp(folder))
        bail("cannot make %s", folder);
    snprintf(path, sizeof path, "%s/copy", folder);
    put("CLATTN_TUNE", "full");
    put("CLATTN_TUNE_SECONDS", "7");
    fflush(stdout);
    const int result = copy_self(path) && make_secure(path) ? run_secure(path) : 2;
    unlink(path);
    rmdir(folder);
    if (result == 2)
        skip("no program here can be setuid: nosuid, noexec, no_new_privs, or neither root nor in a second group");
    else
        ok(!result, "a setuid program has no environment");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "secure"))
        _exit(secure_child());
    endless = malloc(LONG + 1);
    if (!endless)
        bail("no memory");
    memset(endless, '1', LONG);
    endless[LONG] = '\0';
    test_modes();
    test_unknown_modes();
    test_seconds();
    test_locale();
    test_limits();
    test_options();
    test_wrong_options();
    test_listed();
    test_order();
    test_distinct();
    test_room();
    test_secure();
    free(endless);
    return done_testing();
}
