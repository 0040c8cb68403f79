/* suites.h - problems that are measured together, by name
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUITES_H
#define SUITES_H

struct suite {
    const char *name, *what;
    const char *const *problems; /* ends with NULL */
};

/* All suites; ends with one without a name. */
extern const struct suite suites[];

const struct suite *suite_find(const char *name); /* NULL: there is none */

#endif
