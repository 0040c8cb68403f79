/* child.h - a process that answers when it is asked, and that may hang or crash without harm
 * SPDX-License-Identifier: Apache-2.0
 *
 * The child is this program once more, started anew instead of forked, because OpenCL does not survive a fork(). It
 * answers once when it is ready, and then whenever it is asked. It ends when its socket is closed, and with its
 * parent. child.c has what is alike everywhere, child_NAME.c the steps of child_steps.h for each system. */
#ifndef CHILD_H
#define CHILD_H

#include <stddef.h>
#include <stdint.h>

enum { CHILD_WORDS = 512 };

struct answer {
    uint32_t mark;            /* set by child_answer() */
    int32_t status;           /* a status of the library; CL_SUCCESS: ready, or timed */
    double seconds;
    char words[CHILD_WORDS];  /* why it failed, else "" */
};

/* ---- The parent's side ---- */

struct child {
    intptr_t process;         /* its number, or on Windows a handle; 0: there is no child, or it is dead */
    int open;                 /* the descriptors or handles below are open: */
    intptr_t talk, log;       /* its socket or pipe; its output, -1 once nobody can write there any more */
    void *more;               /* Windows: its job, and a read of its pipe that is under way */
    char line[CHILD_WORDS];   /* the last line of its output, not ended by NUL */
    size_t length;
    int ended;                /* that line is complete, and the next byte begins another */
};

/* How long to wait, and a function that is called several times a second: a value other than 0 ends the wait. */
struct patience {
    double seconds;
    int (*stop)(void *user);
    void *user;
};

/* Called first by a program that starts children, so that it learns how they end. */
void child_expect(void);

/* Starts this program again with `argv`; argv[0] is its path where the system does not know it. Returns 0, or an
 * errno. */
int child_start(struct child *c, char *const argv[]);

/* Asks for an answer; the one before must have arrived. */
void child_ask(struct child *c);

/* Waits for an answer. Returns 0 when there is one. Otherwise the child is gone, and `words` says how it ended, or is
 * "" when patience.stop() ended it. */
int child_wait(struct child *c, const struct patience *p, struct answer *a, char words[CHILD_WORDS]);

/* Ends the child, if any. */
void child_close(struct child *c);

/* ---- The child's side ---- */

/* Must be called first. Returns a descriptor of the socket, or -1 when this process is not such a child. From then on
 * drivers that print or read standard input do no harm. */
int child_begin(void);

/* Returns 0, or -1 when the parent is gone. */
int child_answer(int fd, int32_t status, double seconds, const char *words);

/* Waits to be asked. Returns 0, or -1 when the parent is gone. */
int child_asked(int fd);

#endif
