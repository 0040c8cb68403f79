/* faulty_results.c - results that are wrong
 * SPDX-License-Identifier: Apache-2.0
 *
 * Works on bytes: what a call changed is what it wrote, and the largest number is the one with the largest bits. It
 * waits for the kernel, so it is nothing for callers who wait with user events. */
#include "config.h"

#include "tests/fault/faulty_driver.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Positions among the buffers of a forward kernel. */
enum { SLOT_Q = 0, SLOT_O = 3, SLOT_LSE = 4, SLOTS = 5 };

static cl_mem slot(const struct evil_kernel *k, int n)
{
    for (int i = 0; i < EVIL_ARGS; i++)
        if (k->is_mem[i] && !n--)
            return k->mem[i];
    return NULL;
}

/* Of passes that sum a gradient, and of the one over keys where there is a bias, that is the result. */
static cl_mem last_slot(const struct evil_kernel *k)
{
    cl_mem last = NULL;
    for (int i = 0; i < EVIL_ARGS; i++)
        last = k->is_mem[i] ? k->mem[i] : last;
    return last;
}

static size_t element_size(const char *options)
{
    return evil_matches(options, " -DCLA_TQ=f64 ") ? 8 : evil_matches(options, " -DCLA_TQ=f32 ") ? 4 : 2;
}

/* What is to happen to the kernel; "" for nothing. */
static void find_how(char how[16], const struct evil_kernel *k)
{
    char text[EVIL_VALUE_MAX], options[4096];
    how[0] = '\0';
    snprintf(options, sizeof options, "%s %s", k->name, k->program->options ? k->program->options : "");
    for (const char *at = NULL; !how[0] && evil_next(&at, "result", text);) {
        char *const colon = strrchr(text, ':');
        if (!colon || strlen(colon) > 15)
            continue;
        *colon = '\0';
        if (evil_matches(options, text))
            strcpy(how, colon + 1);
    }
}

bool evil_aim(struct evil_shot *s, const struct evil_kernel *k, cl_command_queue queue)
{
    memset(s, 0, sizeof *s);
    find_how(s->how, k);
    const bool lse = !strcmp(s->how, "lse"), last = !strcmp(s->how, "last");
    if (!s->how[0] || !strcmp(s->how, "right") ||
        !(s->out = last ? last_slot(k) : slot(k, lse ? SLOT_LSE : SLOT_O)))
        return false;
    s->program = k->program;
    s->q = slot(k, SLOT_Q);
    s->element = lse || last ? 4 : element_size(k->program->options);
    s->size = evil_size(s->out) / s->element * s->element;
    s->hash = k->hash[0];
    s->before = malloc(s->size + 1);
    s->after = malloc(s->size + 1);
    return s->before && s->after && !evil_transfer(queue, s->out, 0, s->size, s->before, NULL);
}

/* ---- Elements ---- */

static uint64_t bits_of(const unsigned char *at, size_t size)
{
    uint64_t x = 0;
    memcpy(&x, at, size); /* little-endian, as every device here */
    return x;
}

static void put(struct evil_shot *s, cl_command_queue queue, cl_mem mem, size_t at, uint64_t x)
{
    (void)evil_transfer(queue, mem, at, s->element, NULL, &x);
}

static bool changed(const struct evil_shot *s, size_t at)
{
    return memcmp(s->before + at, s->after + at, s->element) != 0;
}

/* What the call wrote: where something differs, and where it did in the last call that computed the same. */
static const struct evil_written *written(const struct evil_shot *s)
{
    const uint64_t sign = (uint64_t)1 << (8 * s->element - 1);
    struct evil_written *const w = &s->program->written;
    if (w->out != s->out || w->hash != s->hash)
        *w = (struct evil_written){ s->out, s->hash, s->size, 0, s->size };
    uint64_t most = w->largest < s->size ? bits_of(s->after + w->largest, s->element) & ~sign : 0;
    for (size_t at = 0; at < s->size; at += s->element)
        if (changed(s, at)) {
            const uint64_t x = bits_of(s->after + at, s->element) & ~sign;
            if (w->largest == s->size || x > most) {
                w->largest = at;
                most = x;
            }
            w->first = at < w->first ? at : w->first;
            w->last = at + s->element > w->last ? at + s->element : w->last;
        }
    return w;
}

/* ---- Runs with the same sizes ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const struct evil_program *program;
    uint64_t hash;
} seen[1024];
static unsigned n_seen;

static bool seen_before(const struct evil_shot *s)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n_seen && !found; i++)
        found = seen[i].program == s->program && seen[i].hash == s->hash;
    if (!found && n_seen < sizeof seen / sizeof *seen) {
        seen[n_seen].program = s->program;
        seen[n_seen++].hash = s->hash;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- Damage ---- */

static void spoil(struct evil_shot *s, cl_command_queue queue, const struct evil_written *w)
{
    const uint64_t sign = (uint64_t)1 << (8 * s->element - 1), ones = sign | (sign - 1);
    const uint64_t x = bits_of(s->after + w->largest, s->element);
    const size_t middle = (w->first + w->last) / 2 / s->element * s->element;
    if (!strcmp(s->how, "nan"))
        put(s, queue, s->out, w->largest, ones & ~sign);
    else if (!strcmp(s->how, "half"))
        (void)evil_transfer(queue, s->out, middle, w->last - middle, NULL, s->before + middle);
    else if (!strcmp(s->how, "overrun") && w->last < s->size)
        put(s, queue, s->out, w->last, x);
    else if (!strcmp(s->how, "wrong") || !strcmp(s->how, "lse") || !strcmp(s->how, "last") ||
             (!strcmp(s->how, "second") && seen_before(s)))
        put(s, queue, s->out, w->largest, x & ~sign ? x ^ sign : (uint64_t)0x3f << (8 * s->element - 8));
}

static void spoil_input(struct evil_shot *s, cl_command_queue queue)
{
    const size_t at = evil_size(s->q) / 2 / s->element * s->element;
    uint64_t x = 0;
    if (!evil_transfer(queue, s->q, at, s->element, &x, NULL))
        put(s, queue, s->q, at, x + 1);
}

void evil_damage(struct evil_shot *s, cl_command_queue queue)
{
    if (!strcmp(s->how, "inputs")) {
        spoil_input(s, queue);
    } else if (!evil_transfer(queue, s->out, 0, s->size, s->after, NULL)) {
        const struct evil_written *const w = written(s);
        if (w->last)
            spoil(s, queue, w);
    }
    evil_lower(s);
}

void evil_lower(struct evil_shot *s)
{
    free(s->before);
    free(s->after);
    s->before = s->after = NULL;
}
