/* one_process.c - the process that uses OpenCL: what is forked from it must not
 * SPDX-License-Identifier: Apache-2.0
 *
 * This is the library's only data that calls change and that no object holds: a child has to learn of its parent's use
 * when it has no object yet. A number of a process is the least that says it, and it needs no lock that a fork could
 * leave locked. pthread_atfork() is no better: its handlers outlive a library that is unloaded, on some systems. As
 * with handles, a descendant that happens to have the number of the ancestor (in a process namespace of its own, or
 * once the ancestor is gone) is taken for it. */
#include "config.h"

#include "api/one_process.h"

#include <sys/types.h>
#include <unistd.h>

static pid_t one_process_user; /* atomic; 0: none yet */

cl_int one_process_enter(struct why *why)
{
    const pid_t self = getpid();
    pid_t user = 0; /* receives the number that is there, unless it is 0 */
    if (__atomic_compare_exchange_n(&one_process_user, &user, self, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
        user == self)
        return CL_SUCCESS;
    return why_set(why, CLATTN_ERROR_FORKED,
                   "this process was forked from process %ld, which had used OpenCL through clattn; a driver does not "
                   "survive that. Start the process by exec, as posix_spawn() does and multiprocessing of Python with "
                   "the start method spawn or forkserver; or fork before the first use",
                   (long)user);
}
