/* isolated.c - candidates in children: each is asked itself, and what becomes of it is said
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "tools/tune/isolated.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char *self;

/* ---- A candidate: its configuration says what it does, a number how long it "takes" ---- */

static int be_candidate(int argc, char **argv)
{
    const char *config = argc > 2 ? argv[2] : "";
    char words[CHILD_WORDS] = "";
    const int fd = child_begin();
    double seconds = strtod(config, NULL);
    if (fd < 0)
        return 1;
    for (int i = 3; i < argc; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s|", argv[i]);
    if (!strcmp(config, "crashes"))
        raise(SIGSEGV);
    while (!strcmp(config, "hangs"))
        pause();
    if (child_answer(fd, strcmp(config, "refuses") ? 0 : CLATTN_ERROR_WRONG_RESULT, 0, words) != 0)
        return 1;
    while (child_asked(fd) == 0 && child_answer(fd, seconds > 3 ? CL_OUT_OF_RESOURCES : 0, seconds, "slow") == 0)
        seconds++;
    return 0;
}

/* ---- What is asked of them ---- */

static int stopping;
static int stop(void *user)
{
    (void)user;
    return stopping;
}

static struct isolated begin(const char *device, double kill)
{
    struct isolated m;
    memset(&m, 0, sizeof m);
    m.program = self;
    m.device = device;
    m.kill = kill;
    m.stop = stop;
    isolated_begin(&m, "a problem");
    return m;
}

static int runs(struct isolated *m, const char *config, double want)
{
    double seconds = 0;
    return isolated_run(m, config, &seconds) == CL_SUCCESS && seconds == want;
}

static void test_several(void)
{
    struct isolated m = begin(NULL, 20);
    double seconds;
    ok(isolated_open(&m, "1") == 0 && isolated_open(&m, "2") == 0 && isolated_open(&m, "3") == 0, "three are open");
    ok(runs(&m, "2", 2) && runs(&m, "1", 1) && runs(&m, "3", 3) && runs(&m, "1", 2), "each is asked itself");
    isolated_close(&m, "1");
    ok(runs(&m, "3", 4) == 0 && !strcmp(isolated_words(&m, "3"), "slow"), "one fails later, with its words");
    ok(runs(&m, "2", 3), "another goes on, though one was closed");
    ok(isolated_run(&m, "1", &seconds) == CL_INVALID_VALUE, "one that was closed is not there");
    ok(!isolated_words(&m, "2"), "of another there are no words");
    isolated_end(&m);
    ok(m.n == 0 && !m.seats && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "all end");
}

/* How a candidate fails to open. */
static void fails(const char *config, double kill, cl_int status, const char *words)
{
    struct isolated m = begin("a device", kill);
    is_int(isolated_open(&m, config), status, "one that %s", config);
    is_str(isolated_words(&m, config) ? isolated_words(&m, config) : "", words, "in words: %s", words);
    isolated_close(&m, config);
    isolated_begin(&m, "another problem");
    ok(!isolated_words(&m, config), "which are gone with the problem");
    isolated_end(&m);
}

static void test_stop(void)
{
    struct isolated m = begin(NULL, 600);
    stopping = 1;
    is_int(isolated_open(&m, "hangs"), CLATTN_ERROR_CANCELLED, "stopping is no fault of the candidate");
    ok(!isolated_words(&m, "hangs"), "and there are no words for it");
    stopping = 0;
    isolated_end(&m);
}

static void test_control(void)
{
    struct isolated m = begin(NULL, 0);
    ok(isolated_open(&m, "1") == 0 && m.built > 0 && m.ran == 0, "what the first one takes to get ready is kept");
    const double built = m.built;
    ok(isolated_open(&m, "2") == 0 && m.built == built, "that of the second is not");
    ok(runs(&m, "1", 1) && m.ran > 0, "likewise for runs");
    if (getenv("CLATTN_FULL") && *getenv("CLATTN_FULL") != '0') {
        m.built = 0.001;
        ok(isolated_open(&m, "hangs") == CLATTN_ERROR_CRASHED, "one that hangs");
        is_str(isolated_words(&m, "hangs"), "killed after 10 s", "has 10 s");
        isolated_close(&m, "hangs");
        m.built = 0.6;
        ok(isolated_open(&m, "hangs") == CLATTN_ERROR_CRASHED, "beside a slow one");
        is_str(isolated_words(&m, "hangs"), "killed after 12 s", "20 times as much");
    }
    isolated_end(&m);
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1 && !strcmp(argv[1], "--child"))
        return be_candidate(argc, argv);
    test_several();
    fails("refuses", 20, CLATTN_ERROR_WRONG_RESULT, "--device|a device|--|a problem|");
    fails("crashes", 20, CLATTN_ERROR_CRASHED, "died of SIGSEGV");
    fails("hangs", 0.5, CLATTN_ERROR_CRASHED, "killed after 0.5 s");
    test_stop();
    test_control();
    return done_testing();
}
