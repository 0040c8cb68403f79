/* json.h - numbers and strings as JSON, whatever the locale
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef JSON_H
#define JSON_H

#include <stdio.h>

enum { JSON_NUMBER = 40 };
/* `x` in up to `digits` digits with a point, as "%g" in the C locale; "null" when it is not finite. */
const char *json_number(char text[JSON_NUMBER], double x, int digits);

/* `x` in quotes; NULL gives null. Bytes that are not UTF-8 come out as U+FFFD. */
void json_string(FILE *f, const char *x);

#endif
