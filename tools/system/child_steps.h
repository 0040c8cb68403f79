/* child_steps.h - what child.c does by the means of each system
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CHILD_STEPS_H
#define CHILD_STEPS_H

#include "tools/system/child.h"

enum { CHILD_TICK_MS = 200, CHILD_PARTING_MS = 1000, CHILD_DEAD_MS = 5000, CHILD_HOW = 64 };

/* In child.c: keeps the last line that is not empty. */
void child_keep(struct child *c, const char *bytes, size_t n);

/* Reads what has arrived of up to n bytes. Returns how many these were, 0 for none yet, -1 when there will be none. */
int child_receive(struct child *c, void *to, size_t n);

/* Waits until something may have changed, for CHILD_TICK_MS at most, and reads its output. */
void child_wait_a_little(struct child *c);
int child_is_dead(const struct child *c);

/* Waits up to `ms` for it to die, and reads its output meanwhile, so that it does not block. Returns whether it did,
 * with how it ended in words; then c->process is 0, and nothing runs any more that it started. */
int child_reap(struct child *c, int ms, char how[CHILD_HOW]);

/* Kills it and everything that it started. A process that is stuck in a driver dies when the driver releases it; that
 * is not waited for. */
void child_kill(struct child *c);

/* Closes its socket, by which it is told to end; closes everything else that is open. */
void child_hang_up(struct child *c);
void child_release(struct child *c);

/* The child's side: sends all bytes. Returns 0, or -1 when the parent is gone. */
int child_send(int fd, const void *bytes, size_t n);

#endif
