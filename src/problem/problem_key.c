/* problem_key.c - what tells one problem from another. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/problem_key.h"

#include <inttypes.h>
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

static void write_all(struct text *to, const clattn_problem *p)
{
    const int32_t numbers[] = { p->type,        p->k_type,       p->v_type,    p->o_type,  p->d,       p->dv,
                                p->causal,      p->align,        p->bias_type, p->k_group, p->v_group, p->page,
                                p->window_left, p->window_right, p->splits,    p->n_mods,  p->n_aux };
    const int64_t sizes[] = { p->sizes.b,  p->sizes.h,      p->sizes.hk,      p->sizes.nq,
                              p->sizes.nk, p->sizes.offset, p->sizes.total_q, p->sizes.total_k };
    text_add(to, "%" PRIx32 " %a %a", p->flags, p->scale, p->softcap);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        text_add(to, " %" PRId32, numbers[i]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        text_add(to, " %" PRId64, sizes[i]);
    text_add(to, "\n");
    problem_key_write_mods(to, p);
    for (int i = 0; i < p->n_mods; i++)
        text_add(to, "%s\n", p->mods[i].name ? p->mods[i].name : ""); /* compilers' messages have it */
}

bool problem_key(unsigned char out[DIGEST_BYTES], const clattn_problem *p)
{
    return problem_key_digest(out, p, write_all);
}
