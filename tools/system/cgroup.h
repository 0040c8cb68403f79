/* cgroup.h - what a control group of Linux leaves a process of memory
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdint.h>

/* Bytes that may still be allocated: the least over the process's group and those above it of memory.max less what is
 * used and is no cache of files (version 2), or of memory.limit_in_bytes (version 1). `self` is the file with the
 * process's groups, /proc/self/cgroup, and `root` where they are mounted, /sys/fs/cgroup. 0: there is no limit, or it
 * is not known. */
uint64_t cgroup_memory(const char *self, const char *root);

#endif
