/* print.h - figures as a line of text, or as a JSON object
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PRINT_H
#define PRINT_H

#include "bench/figures/figures.h"

#include <stdio.h>

void print_text(FILE *to, const struct figures *g);
void print_json(FILE *to, const struct figures *g);

#endif
