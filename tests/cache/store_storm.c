/* store_storm.c - many processes and threads on one cache: killed, stopped, evicted from, with the ground taken away
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has short storms; CLATTN_PART=1: all of them longer, CLATTN_FULL=1: for minutes. */
#include "config.h"

#include "src/cache/binary_cache.h"
#include "tests/lib/deals.h"
#include "tests/lib/scratch.h"
#include "tests/lib/forget_crashes.h"

#include <pthread.h>
#include <sys/mman.h>

enum { KEYS = 32, PROCESSES = 16, THREADS = 8, CRASHING = 4, BINARY_MAX = 80000 };

/* What all processes count in. */
struct counts {
    long hits, misses, saves, failed, rejected, wrong;
    int stop;
};
static struct counts *counts;

static void add(long *n)
{
    __atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(double usual, double when_full)
{
    return full() ? when_full : harness_rest() ? usual : usual / 5;
}

/* ---- What a process does ---- */

static const char *key_of(int k, char *to)
{
    snprintf(to, 64, "storm key %d", k);
    return to;
}

/* Every byte follows from the key, and the size does. */
static size_t binary_of(int k, unsigned char *to)
{
    const size_t n = 1000 + (size_t)k * 2500;
    uint32_t x = (uint32_t)k * 2654435761u + 1;
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)((x = x * 1664525u + 1013904223u) >> 24);
    return n;
}

static void load_or_save(struct store *s, int k, bool anew, unsigned char *want)
{
    char key[64];
    unsigned char *got;
    bool rejected;
    size_t n;
    const size_t size = binary_of(k, want);
    key_of(k, key);
    if (k < CRASHING)
        binary_cache_enter(s, key);
    if (binary_cache_load(s, key, &got, &n, &rejected)) {
        add(n == size && !memcmp(got, want, n) ? &counts->hits : &counts->wrong);
        free(got);
    } else {
        add(rejected ? &counts->rejected : &counts->misses);
        anew = true;
    }
    if (anew)
        add(binary_cache_save(s, key, want, size) ? &counts->saves : &counts->failed);
    if (k < CRASHING)
        binary_cache_leave(s, key);
}

static uint64_t max_bytes;

static void *work(void *user)
{
    unsigned char *const want = malloc(BINARY_MAX);
    unsigned x = (unsigned)(size_t)user * 7919u + (unsigned)getpid();
    struct store s = { 0 };
    if (!want)
        return user;
    open_in(&s, root);
    if (max_bytes)
        s.max_bytes = max_bytes;
    for (long i = 0; !__atomic_load_n(&counts->stop, __ATOMIC_RELAXED); i++) {
        x = x * 1103515245u + 12345u;
        load_or_save(&s, (int)(x >> 16) % KEYS, x >> 30 == 0, want);
        s.given_up = 0; /* not a matter of one handle here */
    }
    store_clear(&s);
    free(want);
    return NULL;
}

static void be_worker(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 1; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            _exit(1);
    work(NULL);
    for (size_t i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    _exit(0);
}

static pid_t start(void (*body)(void))
{
    const pid_t pid = fork();
    if (pid < 0)
        bail("no process: %s", strerror(errno));
    if (!pid) {
        end_with_parent();
        body();
        _exit(0);
    }
    return pid;
}

/* ---- What is done to them ---- */

static void kill_one(pid_t *pids, unsigned x)
{
    pid_t *const p = &pids[x % PROCESSES];
    kill(*p, SIGKILL);
    waitpid(*p, NULL, 0);
    *p = start(be_worker);
}

/* Returns how many ended in a way that was not ours. */
static int end_all(pid_t *pids, int n)
{
    int status, odd = 0;
    __atomic_store_n(&counts->stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < n; i++) {
        kill(pids[i], SIGCONT);
        if (waitpid(pids[i], &status, 0) != pids[i] || !WIFEXITED(status) || WEXITSTATUS(status))
            odd++;
    }
    return odd;
}

/* The storm itself; odd: processes that ended by themselves. */
static int storm(double length, void (*harm)(pid_t *, unsigned), void (*rival)(void))
{
    pid_t pids[PROCESSES + 1];
    const double end = now() + length;
    unsigned x = 12345;
    memset(counts, 0, sizeof *counts);
    remove_tree(root);
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++)
        pids[i] = start(be_worker);
    if (rival)
        pids[PROCESSES] = start(rival);
    while (now() < end) {
        const struct timespec pause = { 0, (long)(x >> 8) % 100 * 1000000 };
        x = x * 1103515245u + 12345u;
        if (harm)
            harm(pids, x >> 16);
        nanosleep(&pause, NULL);
    }
    return end_all(pids, PROCESSES + (rival != NULL));
}

static void report(int odd, const char *what)
{
    ok(!odd, "%s: nobody crashes", what);
    ok(!counts->wrong && !counts->rejected && counts->misses, "%s: nothing damaged is accepted, or even there", what);
    diag("%ld hits, %ld misses, %ld saves, %ld not, %ld rejected, %ld wrong", counts->hits, counts->misses,
         counts->saves, counts->failed, counts->rejected, counts->wrong);
}

/* Afterwards all keys can be kept and found, but those that are known to crash. */
static void check_after(const char *what)
{
    unsigned char *const want = malloc(BINARY_MAX);
    struct store s;
    int kept = 0, right = 0;
    open_store(&s, root);
    counts->stop = 0;
    forget_crashes(&s);
    for (int k = 0; k < KEYS && want; k++) {
        memset(counts, 0, sizeof *counts);
        load_or_save(&s, k, false, want);
        kept += counts->hits + counts->saves;
        load_or_save(&s, k, false, want);
        right += counts->hits > 0 && !counts->wrong && !counts->rejected;
    }
    ok(kept == KEYS && right == KEYS && !s.faults, "%s: then every key works", what);
    count_below(root, 2 * HOUR);
    const long left = below.temps;
    store_trim(&s, true);
    count_below(root, 0);
    ok(!below.temps && below.files >= KEYS, "%s: no leftovers an hour later (%ld there were)", what, left);
    store_clear(&s);
    free(want);
}

/* Poison comes from those that were killed between enter and leave, and from no other key. */
static void check_poison(void)
{
    struct store s;
    char key[64];
    unsigned char *got;
    bool rejected;
    size_t n;
    int lost = 0;
    open_store(&s, root);
    for (int k = CRASHING; k < KEYS; k++) {
        if (binary_cache_load(&s, key_of(k, key), &got, &n, &rejected))
            free(got);
        else
            lost += rejected;
    }
    count_below(root, 0);
    ok(!lost && below.poisoned <= CRASHING, "only what was being tried is known to crash (%ld)", below.poisoned);
    store_clear(&s);
}

/* ---- Storms ---- */

static void check_killed(void)
{
    const int odd = storm(seconds(5, 600), kill_one, NULL);
    report(odd, "killed");
    check_poison();
    check_after("killed");
}

static void evict(void)
{
    struct store s;
    open_store(&s, root);
    s.max_bytes = max_bytes;
    while (!__atomic_load_n(&counts->stop, __ATOMIC_RELAXED))
        store_trim(&s, true);
}

static bool add_size(void *user, const char *name, uint64_t bytes)
{
    *(uint64_t *)user += bytes;
    return *name;
}

static void check_evicted(void)
{
    struct store s;
    uint64_t bytes = 0;
    max_bytes = 1 << 20;
    const int odd = storm(seconds(3, 120), kill_one, evict);
    report(odd, "evicted");
    open_store(&s, root);
    s.max_bytes = max_bytes;
    store_trim(&s, true);
    store_walk(&s, "bin", add_size, &bytes);
    ok(bytes <= max_bytes, "evicted: the limit holds (%llu bytes)", (unsigned long long)bytes);
    store_clear(&s);
    max_bytes = 0;
    check_after("evicted");
}

static void take_away(void)
{
    const struct timespec pause = { 0, 50000000 };
    while (!__atomic_load_n(&counts->stop, __ATOMIC_RELAXED)) {
        remove_tree(root);
        nanosleep(&pause, NULL);
    }
}

static void check_taken_away(void)
{
    const int odd = storm(seconds(3, 120), NULL, take_away);
    report(odd, "taken away");
    check_after("taken away");
}

/* Whoever is stopped in the middle of what it does stops nobody: were there a lock, this would never end. */
static void check_stopped(void)
{
    pid_t pids[PROCESSES];
    const double end = now() + seconds(2, 60);
    unsigned x = 4711;
    int odd = 0;
    long rounds = 0;
    memset(counts, 0, sizeof *counts);
    remove_tree(root);
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++)
        pids[i] = start(be_worker);
    unsigned char *const want = malloc(BINARY_MAX);
    struct store s;
    open_store(&s, root);
    while (want && (!rounds || now() < end)) { /* a slow machine takes all the time to start them */
        for (int i = 0; i < PROCESSES; i++, x = x * 1103515245u + 12345u)
            kill(pids[i], x >> 30 ? SIGSTOP : SIGCONT);
        for (int k = CRASHING; k < KEYS; k++) {
            char key[64];
            load_or_save(&s, k, true, want);
            binary_cache_enter(&s, key_of(k, key));
            binary_cache_leave(&s, key);
        }
        store_trim(&s, true);
        rounds++;
    }
    store_clear(&s);
    free(want);
    odd = end_all(pids, PROCESSES);
    ok(rounds > 0, "stopped: others go on (%ld times all keys)", rounds);
    report(odd, "stopped");
    check_after("stopped");
}

int main(void)
{
    static void (*const storms[])(void) = { check_killed, check_evicted, check_taken_away, check_stopped };
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED)
        return skip_all("no memory that processes share");
    scratch_begin("storm");
    for (unsigned i = 0; i < sizeof storms / sizeof *storms; i++)
        if (harness_turn(i, 1))
            storms[i]();
    if (!tap_run)
        skip("this share has none");
    munmap(counts, sizeof *counts);
    return scratch_end();
}
