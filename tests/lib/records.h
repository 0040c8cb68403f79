/* records.h - records of tuning as the tests write them: without the library
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORDS_H
#define RECORDS_H

#include "tests/lib/tap.h"

#include <sys/types.h>

#include <sha256.h>

#define DEVICE "b9ae17b7543ad24385cca73117ca954ebb4648de8fd93bc79d947b8314a36166"
#define DEVICE_HALF "b9ae17b7543ad24385cca73117ca954e"
#define NAME "Portable Computing Language / cpu-haswell"
#define CLASS "f16 b1 h8/2 q1024 k1024 d128 causal mod:#0123abcd"
#define CLASS_HALF "a9e80094dcda47f6268d77b17ee1bf51" /* by sha256sum */

enum { LINES = 12 }; /* of a record, the sum aside */

/* The sum is by sha256sum. */
static const char golden[] = "clattn-tune 1\n"
                             "device " DEVICE "\n"
                             "name " NAME "\n"
                             "driver 3.1+debian\n"
                             "family 7\n"
                             "class " CLASS "\n"
                             "config simt bq64,bk32,r4\n"
                             "time_ns 1234567 mad 8910 control 2345678 rounds 11 trials 8\n"
                             "effort full\n"
                             "tries 0\n"
                             "date 2025-11-21T20:15:42Z\n"
                             "lib 0.1.0\n"
                             "sum 3a75b880e12ac554e0f51cdaa6f572690dc9dc968a1527d78d1132f8dfa33572\n";

/* Writes the line with the sum of n bytes behind them; the length of all. */
TAP_UNUSED static size_t sign(char *text, size_t n)
{
    SHA256_CTX c;
    unsigned char digest[32];
    size_t length;
    SHA256_Init(&c);
    SHA256_Update(&c, (const unsigned char *)text, n);
    SHA256_Final(digest, &c);
    length = n + (size_t)sprintf(text + n, "sum ");
    for (int i = 0; i < 32; i++)
        length += (size_t)sprintf(text + length, "%02x", digest[i]);
    text[length++] = '\n';
    text[length] = '\0';
    return length;
}

/* The n-th line of the golden record, from 0. */
TAP_UNUSED static const char *golden_line(int n)
{
    const char *at = golden;
    while (n--)
        at = strchr(at, '\n') + 1;
    return at;
}

/* The golden record with its line `n` (from 0) replaced by `line` of `length` bytes, newline and all; signed. */
TAP_UNUSED static size_t compose(char *to, int n, const char *line, size_t length)
{
    const size_t before = (size_t)(golden_line(n) - golden),
                 after = (size_t)(golden_line(LINES) - golden_line(n + 1));
    memcpy(to, golden, before);
    memcpy(to + before, line, length);
    memcpy(to + before + length, golden_line(n + 1), after);
    return sign(to, before + length + after);
}

#endif
