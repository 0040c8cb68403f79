/* process_posix.c - who this process is, and whether another one is gone, by /proc where there is one
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/digest.h"
#include "cache/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_ROOM = 2048 };

/* Reads a small system file as text. Returns 0 or an errno. */
static int read_text(const char *path, char *text, size_t room)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    if (fd < 0)
        return errno;
    while ((n = read(fd, text, room - 1)) < 0 && errno == EINTR)
        ;
    const int status = n < 0 ? errno : n ? 0 : ENOENT;
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return status;
}

/* The file does not exist for this process, now and later. Any other failure may be temporary. */
static bool is_absent(int status)
{
    return status == ENOENT || status == ENOTDIR || status == EACCES || status == EPERM;
}

struct state {
    char letter;
    uint64_t id, threads, began;
};

/* Fields 1, 3, 20 and 22 of proc(5)'s stat; the second is in brackets and may hold anything. */
static bool read_state(struct state *p, const char *pid)
{
    char path[64], text[STAT_ROOM];
    const char *at;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    if (read_text(path, text, sizeof text) || !(at = strrchr(text, ')')))
        return false;
    p->id = strtoull(text, NULL, 10);
    p->letter = at[1] ? at[2] : '\0';
    for (int field = 2; field < 22; field++) {
        if (!(at = strchr(at + 1, ' ')))
            return false;
        if (field == 19)
            p->threads = strtoull(at, NULL, 10);
    }
    p->began = strtoull(at, NULL, 10);
    return true;
}

/* Identifies the machine, its boot and the container, as far as the system tells them; "" when they cannot be read
 * now. */
static void find_place(char place[PROCESS_PLACE + 1])
{
    char boot[STAT_ROOM] = "", text[2 * STAT_ROOM], hex[DIGEST_HEX];
    unsigned char digest[DIGEST_BYTES];
    struct stat st = { .st_ino = 0 };
    const int booted = read_text("/proc/sys/kernel/random/boot_id", boot, sizeof boot),
              contained = stat("/proc/self/ns/pid", &st) ? errno : 0;
    place[0] = '\0';
    if ((booted && !is_absent(booted)) || (contained && !is_absent(contained)))
        return;
    const int n = snprintf(text, sizeof text, "%s %ju", booted ? "" : boot, contained ? 0 : (uintmax_t)st.st_ino);
    digest_of(digest, text, n > 0 ? (size_t)n : 0);
    digest_hex(hex, digest);
    memcpy(place, hex, PROCESS_PLACE);
    place[PROCESS_PLACE] = '\0';
}

void process_self(struct process *p)
{
    struct state s;
    p->id = (uint64_t)getpid();
    /* /proc may be another container's, with other process numbers */
    p->began = read_state(&s, "self") && s.id == p->id ? s.began : 0;
    find_place(p->place);
}

bool process_is_there(const struct process *p, const struct process *self)
{
    struct state s;
    char id[24];
    if (p->id == self->id)
        return process_is_same_time(p->began, self->began);
    snprintf(id, sizeof id, "%ju", (uintmax_t)p->id);
    if (!self->began || !read_state(&s, id)) /* unknown, gone, or hidden */
        return !(getpgid((pid_t)p->id) < 0 && errno == ESRCH);
    if ((s.letter == 'Z' || s.letter == 'X') && s.threads <= 1)
        return false;
    return process_is_same_time(p->began, s.began);
}
