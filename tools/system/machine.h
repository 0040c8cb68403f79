/* machine.h - what kind of machine this is, and the names that it goes by
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stddef.h>

/* The processor's kind, as its maker names it; else that of its instructions. */
void machine_cpu(char *text, size_t len);

/* The operating system and its version, without the machine's name. */
void machine_os(char *text, size_t len);

/* How many processors a program may use; 0: not known. */
int machine_processors(void);

/* The n-th name of this machine, its user or the user's home, which nobody else has to know. Returns 0, or -1 past the
 * last; one that is not known is "". */
int machine_own_name(int n, char *text, size_t len);

#endif
