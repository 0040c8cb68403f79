/* child.c - a process that answers when it is asked, and that may hang or crash without harm
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/child.h"
#include "tools/system/child_steps.h"

#include "tools/system/clock.h"

#include <stdio.h>
#include <string.h>

enum { MARK = 0x636c6174 };

void child_keep(struct child *c, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r') {
            c->ended = 1;
            continue;
        }
        if (c->ended)
            c->length = 0;
        c->ended = 0;
        if (c->length < sizeof c->line)
            c->line[c->length++] = bytes[i];
    }
}

/* ---- Ending ---- */

void child_close(struct child *c)
{
    char how[CHILD_HOW];
    if (!c->open)
        return;
    child_hang_up(c);
    if (c->process && !child_reap(c, CHILD_PARTING_MS, how))
        child_kill(c);
    child_release(c);
    c->open = 0;
}

/* "died of SIGABRT: its last line". */
static void put_in_words(const struct child *c, const char *how, char words[CHILD_WORDS])
{
    if (c->length)
        snprintf(words, CHILD_WORDS, "%s: %.*s", how, (int)c->length, c->line);
    else
        snprintf(words, CHILD_WORDS, "%s", how);
}

/* ---- Waiting ---- */

/* Returns 1 when the answer is complete, -1 when there will be none. */
static int receive(struct child *c, struct answer *a, size_t *have)
{
    const int n = child_receive(c, (char *)a + *have, sizeof *a - *have);
    if (n <= 0)
        return n;
    *have += (size_t)n;
    if (*have < sizeof *a)
        return 0;
    a->words[sizeof a->words - 1] = '\0';
    return a->mark == MARK ? 1 : -1;
}

int child_wait(struct child *c, const struct patience *p, struct answer *a, char words[CHILD_WORDS])
{
    const double start = clock_ms();
    size_t have = 0;
    char how[CHILD_HOW];
    int got = 0, dead = 0, late = 0, stop = 0;
    words[0] = '\0';
    while ((got = receive(c, a, &have)) == 0) {
        if (dead) { /* although processes that it left behind still hold the socket */
            got = -1;
            break;
        }
        late = !(clock_ms() - start < p->seconds * 1e3);
        stop = p->stop && p->stop(p->user);
        if (late || stop)
            break;
        child_wait_a_little(c);
        dead = child_is_dead(c);
    }
    if (got > 0)
        return 0;
    if (got < 0 && child_reap(c, CHILD_PARTING_MS, how))
        put_in_words(c, how, words);
    else if (got < 0)
        snprintf(words, CHILD_WORDS, "answered what cannot be read");
    else if (!stop)
        snprintf(words, CHILD_WORDS, "killed after %.3g s", p->seconds);
    if (c->process)
        child_kill(c);
    child_close(c);
    return -1;
}

/* ---- The child's side ---- */

int child_answer(int fd, int32_t status, double seconds, const char *words)
{
    struct answer a;
    memset(&a, 0, sizeof a);
    a.mark = MARK;
    a.status = status;
    a.seconds = seconds;
    snprintf(a.words, sizeof a.words, "%s", words);
    return child_send(fd, &a, sizeof a);
}
