/* isolated.c - candidates measured in children, for clattn_tune()
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/isolated.h"

#include "tools/system/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds: the smallest limit of a candidate, and that of the first one, of which nothing is known; and how many times
 * slower than the first one a candidate may be. */
enum { PATIENCE = 10, FIRST_PATIENCE = 60, TIMES = 20 };

void isolated_begin(struct isolated *m, const char *problem)
{
    m->problem = problem;
    m->built = m->ran = 0;
    m->config[0] = m->words[0] = '\0';
}

void isolated_end(struct isolated *m)
{
    for (size_t i = 0; i < m->n; i++)
        child_close(&m->seats[i].child);
    free(m->seats);
    m->seats = NULL;
    m->n = 0;
}

const char *isolated_words(const struct isolated *m, const char *config)
{
    return m->words[0] && config && strcmp(config, m->config) == 0 ? m->words : NULL;
}

static double limit(const struct isolated *m, double took)
{
    if (m->kill > 0)
        return m->kill;
    if (took <= 0)
        return FIRST_PATIENCE;
    return took * TIMES > PATIENCE ? took * TIMES : PATIENCE;
}

static cl_int put_out(struct isolated *m, const char *config, cl_int e, const char *words)
{
    snprintf(m->config, sizeof m->config, "%s", config);
    snprintf(m->words, sizeof m->words, "%s", words);
    return e;
}

/* Waits for the child's answer, within the limit. */
static cl_int hear(struct isolated *m, struct seat *s, double seconds, double *time)
{
    const struct patience patience = { seconds, m->stop, m->user };
    struct answer a;
    char words[CHILD_WORDS];
    memset(&a, 0, sizeof a);
    if (child_wait(&s->child, &patience, &a, words) != 0)
        return words[0] ? put_out(m, s->config, CLATTN_ERROR_CRASHED, words) : CLATTN_ERROR_CANCELLED;
    if (a.status != CL_SUCCESS)
        return put_out(m, s->config, a.status, a.words);
    *time = a.seconds;
    return CL_SUCCESS;
}

static struct seat *find(struct isolated *m, const char *config)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->seats[i].config, config) == 0)
            return &m->seats[i];
    return NULL;
}

static struct seat *add(struct isolated *m, const char *config)
{
    struct seat *seats = realloc(m->seats, (m->n + 1) * sizeof *seats);
    if (!seats)
        return NULL;
    m->seats = seats;
    memset(&seats[m->n], 0, sizeof *seats);
    snprintf(seats[m->n].config, sizeof seats->config, "%s", config);
    return &seats[m->n++];
}

static int start(struct isolated *m, struct seat *s)
{
    char *argv[8];
    int n = 0;
    argv[n++] = (char *)m->program; /* they are not written to */
    argv[n++] = (char *)"--child";
    argv[n++] = s->config;
    if (m->device) {
        argv[n++] = (char *)"--device";
        argv[n++] = (char *)m->device;
    }
    argv[n++] = (char *)"--";
    argv[n++] = (char *)m->problem;
    argv[n] = NULL;
    return child_start(&s->child, argv);
}

cl_int isolated_open(void *user, const char *config)
{
    struct isolated *m = user;
    struct seat *s = strlen(config) < CONFIG_TEXT ? add(m, config) : NULL;
    const double begin = clock_ms();
    double none;
    if (!s)
        return CL_OUT_OF_HOST_MEMORY;
    const int error = start(m, s);
    if (error) {
        char words[CHILD_WORDS];
        snprintf(words, sizeof words, "no process for it: %s", strerror(error));
        return put_out(m, config, CL_OUT_OF_RESOURCES, words);
    }
    const cl_int e = hear(m, s, limit(m, m->built), &none);
    if (e == CL_SUCCESS && m->built <= 0)
        m->built = (clock_ms() - begin) * 1e-3;
    return e;
}

cl_int isolated_run(void *user, const char *config, double *seconds)
{
    struct isolated *m = user;
    struct seat *s = find(m, config);
    const double begin = clock_ms();
    if (!s || !s->child.open)
        return CL_INVALID_VALUE;
    child_ask(&s->child);
    const cl_int e = hear(m, s, limit(m, m->ran), seconds);
    if (e == CL_SUCCESS && m->ran <= 0)
        m->ran = (clock_ms() - begin) * 1e-3;
    return e;
}

void isolated_close(void *user, const char *config)
{
    struct isolated *m = user;
    struct seat *s = find(m, config);
    if (!s)
        return;
    child_close(&s->child);
    *s = m->seats[--m->n];
}
