/* random_posix.c - bytes that nobody can guess, of the kernel
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/random.h"

#include <errno.h>
#include <unistd.h>
#ifdef HAVE_SYS_RANDOM_H
#include <sys/random.h>
#endif

#ifdef HAVE_GETRANDOM
int random_bytes(unsigned char *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        const ssize_t k = getrandom(to + got, n - got, 0);
        if (k < 0 && errno != EINTR)
            return errno;
        got += k > 0 ? (size_t)k : 0;
    }
    return 0;
}
#else /* macOS, BSDs */
int random_bytes(unsigned char *to, size_t n)
{
    return getentropy(to, n) ? errno : 0;
}
#endif
