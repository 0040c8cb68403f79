/* problem_key.c - what tells one problem from another. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/problem_key.h"

#include "problem/members.h"

#include <stdlib.h>
#include <string.h>

void problem_key_write_mods(struct text *to, const clattn_problem *p)
{
    for (int i = 0; i < p->n_mods; i++)
        text_add(to, "%zu %u\n%s\n", strlen(p->mods[i].text), (unsigned)p->mods[i].flags, p->mods[i].text);
    for (int i = 0; i < p->n_aux; i++)
        text_add(to, "%s %d\n", p->aux[i].name, (int)p->aux[i].type);
    for (int i = 0; i < p->n_mods && p->flags & CLATTN_BACKWARD; i++)
        text_add(to, "%zu\n%s\n", strlen(p->mod_grads[i]), p->mod_grads[i]);
    if (p->aux_grads)
        text_add(to, "%x\n", (unsigned)p->aux_grads);
}

bool problem_key_digest(unsigned char out[DIGEST_BYTES], const clattn_problem *p,
                        void (*write)(struct text *, const clattn_problem *))
{
    struct text all = { NULL, 0, 0 };
    write(&all, p); /* for its length */
    if ((all.to = malloc(all.length + 1)))
        all.room = all.length + 1;
    const bool there = all.to;
    if (there) {
        all.length = 0;
        write(&all, p);
        digest_of(out, all.to, all.length);
    } else {
        digest_of(out, &all.length, sizeof all.length);
    }
    free(all.to);
    return there;
}

static void write_texts(struct text *to, const clattn_problem *p)
{
    problem_key_write_mods(to, p);
    for (int i = 0; i < p->n_mods; i++)
        text_add(to, "%s\n", p->mods[i].name ? p->mods[i].name : ""); /* compilers' messages have it */
}

/* The members as they lie in memory, so that none can be forgotten, and for those that are pointers the texts. Where
 * there are gaps between members, compilers clear those with CLATTN_PROBLEM_INIT; a caller that leaves anything else
 * there gets a plan for each such content. */
#define KEEP(member, ...)
#define CLEAR(member, ...) all.members.member = NULL;
bool problem_key(unsigned char out[DIGEST_BYTES], const clattn_problem *p)
{
    struct {
        clattn_problem members;
        unsigned char texts[DIGEST_BYTES];
    } all;
    memset(&all, 0, sizeof all);
    all.members = *p;
    PROBLEM_MEMBERS(KEEP, CLEAR)
    const bool there = !p->n_mods || problem_key_digest(all.texts, p, write_texts);
    digest_of(out, &all, sizeof all);
    return there;
}
