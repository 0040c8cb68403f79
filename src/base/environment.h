/* environment.h - what surrounds the process; one file for each system
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdbool.h>

/* The value of a variable, which the environment owns; NULL where it is not set, and in a program that has other rights
 * than its user. */
const char *environment_get(const char *name);

/* Whether a value is there and not empty. */
bool environment_is_set(const char *value);

/* All variables, "NAME=value" each, ended by NULL; NULL for none. The environment owns them. */
char *const *environment_all(void);

/* Whether the process has other rights than its user. */
bool environment_is_borrowed(void);

/* Variables that name a folder in which caches may lie, the best first, and where in it that of this library is. */
enum { ENVIRONMENT_HOMES = 2 };
struct environment_home {
    const char *variable, *below; /* NULL: there is no more */
};
extern const struct environment_home environment_homes[ENVIRONMENT_HOMES];

#endif
