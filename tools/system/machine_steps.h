/* machine_steps.h - what machine.c does by the means of each system
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_STEPS_H
#define MACHINE_STEPS_H

#include <stddef.h>

/* The processor's kind, where the processor does not say it. */
void machine_cpu_elsewhere(char *text, size_t len);

#endif
