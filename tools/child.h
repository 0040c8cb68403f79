/* child.h - a process that answers when it is asked, and that may hang or crash without harm
 * SPDX-License-Identifier: Apache-2.0
 *
 * It is this program once more, started afresh and not forked off: OpenCL does not survive a fork(). It answers once
 * when it is ready, and then whenever it is asked. It ends when its socket is closed, and with its parent. */
#ifndef CHILD_H
#define CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_WORDS = 512 };

struct answer {
    uint32_t mark;            /* set by child_answer() */
    int32_t status;           /* of the library; CL_SUCCESS: ready, or timed */
    double seconds;
    char words[CHILD_WORDS];  /* why not, else "" */
};

/* ---- The parent's side ---- */

struct child {
    pid_t pid;                /* 0: there is none, or it is dead */
    int open;                 /* these two are: */
    int fd, log;              /* its socket; what it prints, -1 once nobody can print there any more */
    char line[CHILD_WORDS];   /* the last line of that, not ended by NUL */
    size_t length;
    int ended;                /* that line is complete: the next byte begins another */
};

/* How long to wait, and whom to ask, several times a second, whether to go on waiting (not 0: no). */
struct patience {
    double seconds;
    int (*stop)(void *user);
    void *user;
};

/* Starts this program again with `argv`; argv[0] says where it is unless the system knows. Returns 0, or an errno. */
int child_start(struct child *c, char *const argv[]);

/* Asks for an answer: one has come before. */
void child_ask(struct child *c);

/* Waits for one. Returns 0 when there is one. Else the child is gone, and `words` says how it ended, or is "" when
 * patience.stop() ended it. */
int child_wait(struct child *c, const struct patience *p, struct answer *a, char words[CHILD_WORDS]);

/* Ends the child, if there is one. */
void child_close(struct child *c);

/* ---- The child's side ---- */

/* To be called first. Returns the socket, or -1 when this is nobody's child. From then on drivers that print, and that
 * read standard input, do no harm. */
int child_begin(void);

/* Returns 0, or -1 when nobody listens any more. */
int child_answer(int fd, int32_t status, double seconds, const char *words);

/* Waits to be asked. Returns 0, or -1 when that is over. */
int child_asked(int fd);

#endif
