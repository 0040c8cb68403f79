/* decode-reads.c - how fast two threads of C read what a step of decoding reads: decode-reads [BYTES [HUGE [ROUNDS]]]
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cc -O3 -march=native -o decode-reads bench/decode-reads.c -lpthread && chrt -f 50 ./decode-reads 33554432
 *
 * Evidence beside bench/results, not a part of the library: x86 with AVX-512, Linux. Each of two threads, bound to CPUs
 * 0 and 1, adds up half of a buffer, 64 bytes at a time: as 1 to 16 streams side by side, each read in rows of 512
 * bytes, which are as far apart as heads, or K and V, are; without requests ahead, or with those of three kinds at
 * distances of 512 bytes to 16 KiB. HUGE 1: in pages of 2 MiB. Prints the least and the median milliseconds of ROUNDS
 * [40] rounds for each way, those that read the buffer fastest first. */
#define _GNU_SOURCE
#include <immintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { NONE, T0, T1, NTA, HINTS, ROW = 512, LINE = 64, HUGE_PAGE = 2 << 20, STREAMS = 5, WAYS = 128 };
static const char *const hints[] = { "none", "t0", "t1", "nta" };

static inline __attribute__((always_inline)) void ask(const char *p, int hint)
{
    if (hint == T0)
        _mm_prefetch(p, _MM_HINT_T0);
    if (hint == T1)
        _mm_prefetch(p, _MM_HINT_T1);
    if (hint == NTA)
        _mm_prefetch(p, _MM_HINT_NTA);
}

static inline __attribute__((always_inline)) float add_up(const char *from, size_t bytes, size_t ahead, int streams,
                                                          int hint)
{
    const size_t each = bytes / streams;
    __m512 sum[ROW / LINE];
    for (int i = 0; i < ROW / LINE; i++)
        sum[i] = _mm512_setzero_ps();
    for (size_t at = 0; at < each; at += ROW)
        for (int s = 0; s < streams; s++) {
            const char *row = from + s * each + at;
#pragma GCC unroll 8
            for (int i = 0; i < ROW / LINE; i++) {
                ask(row + ahead + i * LINE, hint);
                sum[i] = _mm512_add_ps(sum[i], _mm512_load_ps(row + i * LINE));
            }
        }
    for (int i = 1; i < ROW / LINE; i++)
        sum[0] = _mm512_add_ps(sum[0], sum[i]);
    return _mm512_reduce_add_ps(sum[0]);
}

typedef float reader(const char *from, size_t bytes, size_t ahead);
#define READER(n, hint) \
    static __attribute__((noinline)) float read_##n##_##hint(const char *from, size_t bytes, size_t ahead) \
    { \
        return add_up(from, bytes, ahead, n, hint); \
    }
#define READERS(n) READER(n, NONE) READER(n, T0) READER(n, T1) READER(n, NTA)
READERS(1)
READERS(2)
READERS(4)
READERS(8)
READERS(16)
#define ROW_OF(n) { read_##n##_NONE, read_##n##_T0, read_##n##_T1, read_##n##_NTA }
static reader *const readers[STREAMS][HINTS] = { ROW_OF(1), ROW_OF(2), ROW_OF(4), ROW_OF(8), ROW_OF(16) };

struct way {
    int streams, hint; /* 1 << streams of them */
    size_t ahead;
    double least, median;
};

/* What both threads know; `round` begins one, negative ones end the thread. */
static struct {
    const char *buffer;
    size_t bytes;
    struct way way;
    float sums[2][LINE / 4];
    atomic_int round, done;
} shared;

static void work(int half)
{
    const struct way *w = &shared.way;
    shared.sums[half][0] = readers[w->streams][w->hint](shared.buffer + half * (shared.bytes / 2), shared.bytes / 2,
                                                        w->ahead);
}

static void *second_thread(void *unused)
{
    int seen = 0, round;
    while ((round = atomic_load(&shared.round)) >= 0)
        if (round == seen)
            _mm_pause();
        else {
            work(1);
            atomic_store(&shared.done, seen = round);
        }
    return unused;
}

static void bind(pthread_t thread, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (pthread_setaffinity_np(thread, sizeof set, &set))
        exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static int by_median(const void *a, const void *b)
{
    return by_number(&((const struct way *)a)->median, &((const struct way *)b)->median);
}

static void measure(struct way *w, double *ms, int rounds)
{
    static int round;
    shared.way = *w;
    for (int i = -3; i < rounds; i++) {
        const double begin = now();
        atomic_store(&shared.round, ++round);
        work(0);
        while (atomic_load(&shared.done) != round)
            _mm_pause();
        if (i >= 0)
            ms[i] = now() - begin;
    }
    qsort(ms, (size_t)rounds, sizeof *ms, by_number);
    w->least = ms[0];
    w->median = ms[rounds / 2];
}

int main(int n, char **words)
{
    static struct way ways[WAYS];
    const int huge = n > 2 && atoi(words[2]), rounds = n > 3 ? atoi(words[3]) : 40;
    int count = 0;
    shared.bytes = (n > 1 ? strtoull(words[1], NULL, 10) : 32 << 20) / (2 * 16 * ROW) * (2 * 16 * ROW);
    const size_t spare = HUGE_PAGE, all = shared.bytes + 2 * spare;
    char *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double *ms = malloc((size_t)rounds * sizeof *ms);
    pthread_t other;
    if (p == MAP_FAILED || !ms)
        return 1;
    p += spare - (size_t)p % spare;
    if (madvise(p, shared.bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
        return 1;
    memset(p, 0, shared.bytes);
    shared.buffer = p;
    if (pthread_create(&other, NULL, second_thread, NULL))
        return 1;
    bind(pthread_self(), 0);
    bind(other, 1);
    for (int s = 0; s < STREAMS; s++)
        for (int h = 0; h < HINTS; h++)
            for (size_t ahead = ROW; ahead <= (h ? 16384 : ROW); ahead *= 2) {
                ways[count] = (struct way){ s, h, h ? ahead : 0, 0, 0 };
                measure(&ways[count++], ms, rounds);
            }
    atomic_store(&shared.round, -1);
    pthread_join(other, NULL);
    qsort(ways, (size_t)count, sizeof *ways, by_median);
    for (int i = 0; i < count; i++)
        printf("streams %2d  hint %-4s ahead %5zu  least %.4f ms  median %.4f ms  %.2f GB/s\n", 1 << ways[i].streams,
               hints[ways[i].hint], ways[i].ahead, ways[i].least, ways[i].median,
               (double)shared.bytes / ways[i].median * 1e-6);
    return 0;
}
