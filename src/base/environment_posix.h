/* environment_posix.h - whose rights a process has, on POSIX
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENVIRONMENT_POSIX_H
#define ENVIRONMENT_POSIX_H

#include <stdbool.h>
#include <sys/types.h>

struct environment_identity {
    bool at_secure; /* what the kernel says: set-user-ID or capabilities */
    uid_t uid, euid;
    gid_t gid, egid;
};

/* Whether these are other rights than the user's. */
bool environment_is_lent(const struct environment_identity *who);

#endif
