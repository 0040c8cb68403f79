/* sample_value.c - the elements of a sample's Q, K, V, O and dO, which may be kept. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/sample.h"

#include "judge/sample_cache.h"

#include <string.h>

/* Rows of Q are of three sizes, so that some softmaxes are sharp. */
static double value_of(const struct sample *s, enum sample_what what, int64_t at)
{
    switch (what) {
    case SAMPLE_Q: return sample_number(s->seed, at) * (1 << (at / s->p.d % 3));
    case SAMPLE_O: return sample_number(s->seed + 8, at);
    case SAMPLE_DOUT: return sample_number(s->seed + 9, at);
    default: return sample_cache_value(s, what, at);
    }
}

const double *sample_value_piece(const struct sample *s, enum sample_what what, int64_t at, int64_t n,
                           double room[SAMPLE_PIECE])
{
    if (s->values[what])
        return s->values[what] + at;
    for (int64_t i = 0; i < n; i++)
        room[i] = value_of(s, what, at + i);
    return room;
}

double sample_value(const struct sample *s, enum sample_what what, int64_t at)
{
    return s->values[what] ? s->values[what][at] : value_of(s, what, at);
}

double sample_value_dlse(const struct sample *s, int64_t at)
{
    return sample_shapes[s->shape].dlse ? sample_number(s->seed + 10, at) : 0;
}

static const enum sample_what kept[] = { SAMPLE_Q, SAMPLE_K, SAMPLE_V, SAMPLE_O, SAMPLE_DOUT };
enum { KEPT = sizeof kept / sizeof *kept };

static int64_t count_values(const struct sample *s, enum sample_what what)
{
    return what == SAMPLE_K || what == SAMPLE_V ? sample_cache_values(s, what) : sample_count(s, what);
}

size_t sample_value_count(const struct sample *s)
{
    enum { MOST = 1 << 21 };
    int64_t all = 0;
    for (int i = 0; i < KEPT && all <= MOST; i++) {
        const int64_t n = count_values(s, kept[i]);
        all += n > MOST ? MOST + 1 : n;
    }
    return all > MOST ? 0 : (size_t)all;
}

void sample_value_compute(struct sample *s, double *room)
{
    memset(s->values, 0, sizeof s->values);
    for (int i = 0; i < KEPT; i++) {
        const int64_t n = count_values(s, kept[i]);
        for (int64_t at = 0; at < n; at++)
            room[at] = value_of(s, kept[i], at);
        s->values[kept[i]] = room;
        room += n;
    }
}
