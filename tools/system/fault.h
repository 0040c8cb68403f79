/* fault.h - an error on its way to main(): one line of text and the exit status it leads to
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_H
#define FAULT_H

/* Exit statuses of the programs. */
enum { EXIT_OK = 0, EXIT_USAGE = 1, EXIT_NO_DEVICE = 2, EXIT_UNSUPPORTED = 3, EXIT_VERIFY = 4 };

struct fault {
    int status;      /* EXIT_*; 0 as long as nothing went wrong */
    char text[8192]; /* room for a path and a sentence */
};

/* Sets an error; the first one is kept. Always returns -1, so that a failing function can return it. */
int fault_set(struct fault *f, int status, const char *format, ...) PRINTF_LIKE(3, 4);

/* Prints "PROGRAM: TEXT" to standard error as one line, whatever bytes a file name contributed. */
void fault_print(const struct fault *f, const char *program);

#endif
