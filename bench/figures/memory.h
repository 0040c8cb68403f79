/* memory.h - how many bytes a problem needs, and whether they are there; needs no device
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Sums and products that do not fit are UINT64_MAX, which fits nowhere. */
uint64_t memory_add(uint64_t a, uint64_t b);
uint64_t memory_times(uint64_t a, uint64_t b);
uint64_t memory_size(int64_t a, int64_t b, int64_t c, int64_t d); /* their product; 0 where one is negative */

struct memory_need {
    uint64_t host, device; /* at the same time */
    uint64_t largest;      /* of the device's buffers */
};

/* Adds a buffer of the device. */
void memory_buffer(struct memory_need *n, uint64_t bytes);

/* 0: not known, and then no limit. */
struct memory_limits {
    uint64_t host, device, largest;
    int unified; /* the device's buffers lie in the host's memory */
};

/* "16G", "1.5GiB", "512M", "100000": a number, and K, M, G or T for powers of 1024. 0, or -1 where it is none. */
int memory_read(const char *text, uint64_t *bytes);

/* "20.3 GiB", "512 MiB", "too much to count". Returns text. */
enum { MEMORY_TEXT = 32 };
const char *memory_words(char text[MEMORY_TEXT], uint64_t bytes);

/* 0 where it fits; else -1, and why not in words. */
int memory_check(const struct memory_need *n, const struct memory_limits *l, char *why, size_t len);

#endif
