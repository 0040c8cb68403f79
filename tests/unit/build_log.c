/* build_log.c - what a compiler said, told in the order of what helps
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/device/build_log.h"
#include "tests/lib/tap.h"

static void told(const char *log, const char *want, const char *what)
{
    char got[512];
    struct text to = { got, sizeof got, 0 };
    build_log_add_errors(&to, log);
    is_str(got, want, "%s", what);
}

int main(void)
{
    char cut[16];
    struct text to = { cut, sizeof cut, 0 };
    told("error: mine:1:5: no such name", "error: mine:1:5: no such name", "an error alone");
    told("mine:1:5: error: no such name\n s = t;\n     ^", "mine:1:5: error: no such name\n s = t;\n     ^",
         "an error with its line");
    told("Compilation started\nwarning: args.h:1: odd\nmine:1:5: error: no such name\nmine:2:1: error: nor this\n"
         "failed",
         "mine:1:5: error: no such name\nmine:2:1: error: nor this\nfailed\nCompilation started\n"
         "warning: args.h:1: odd",
         "what comes before the first error is told last");
    told("out of registers\nptxas died", "out of registers\nptxas died", "a log that names no error");
    told("", "", "an empty one");
    build_log_add_errors(&to, "started\nmine:1:5: error: no such name");
    is_str(cut, "mine:1:5: error", "and the beginning of one for which there is no room");
    return done_testing();
}
