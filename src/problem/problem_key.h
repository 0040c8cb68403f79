/* problem_key.h - what tells one problem from another. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROBLEM_KEY_H
#define PROBLEM_KEY_H

#include "base/digest.h"
#include "base/text.h"

/* Writes the texts that decide about a program, with their lengths, and what they capture. */
void problem_key_write_mods(struct text *to, const clattn_problem *p);

/* The digest of what `write` writes of a checked problem. Without memory for that, of its length: false. */
bool problem_key_digest(unsigned char out[DIGEST_BYTES], const clattn_problem *p,
                        void (*write)(struct text *, const clattn_problem *));

/* The digest of every member of a checked problem. false: no memory. */
bool problem_key(unsigned char out[DIGEST_BYTES], const clattn_problem *p);

#endif
