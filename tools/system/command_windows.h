/* command_windows.h - the command line of a program, as Windows has it: one text
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMAND_WINDOWS_H
#define COMMAND_WINDOWS_H

/* Returns the words as a text that the C runtime takes apart into the same words, allocated, or NULL. */
char *command_line(char *const argv[]);

#endif
