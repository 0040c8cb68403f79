/* environment_posix.c - what surrounds the process, on POSIX
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/environment.h"
#include "base/environment_posix.h"

#include <stdlib.h>
#include <unistd.h>
#ifdef HAVE_GETAUXVAL
#include <sys/auxv.h>
#endif
#ifdef __APPLE__
#include <crt_externs.h>
#define environ (*_NSGetEnviron()) /* its shared libraries have no other */
#else
extern char **environ;
#endif

const struct environment_home environment_homes[ENVIRONMENT_HOMES] = { { "XDG_CACHE_HOME", "/clattn" },
                                                                       { "HOME", "/.cache/clattn" } };

/* What only the kernel knows, as far as it can be asked. */
static bool is_secure(void)
{
#if defined HAVE_GETAUXVAL
    return getauxval(AT_SECURE) != 0;
#elif defined HAVE_ISSETUGID
    return issetugid() != 0;
#else
    return false;
#endif
}

bool environment_is_lent(const struct environment_identity *who)
{
    return who->at_secure || who->uid != who->euid || who->gid != who->egid;
}

bool environment_is_borrowed(void)
{
    const struct environment_identity who = { is_secure(), getuid(), geteuid(), getgid(), getegid() };
    return environment_is_lent(&who);
}

const char *environment_get(const char *name)
{
#ifdef HAVE_SECURE_GETENV
    return secure_getenv(name);
#else
    return environment_is_borrowed() ? NULL : getenv(name);
#endif
}

char *const *environment_all(void)
{
    return environ;
}
