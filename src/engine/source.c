/* source.c - the slots of a pass to program text and build options. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/source.h"

#include <stdlib.h>
#include <string.h>

/* ---- Fragments ---- */

static const char *fragment_text(const char *name)
{
    const struct fragment *f = fragments;
    while (f->name && strcmp(f->name, name))
        f++;
    return f->text;
}

void source_write_fragment(struct text *to, const char *name)
{
    if (!name)
        return;
    const char *body = fragment_text(name);
    text_add(to, "#line 1 \"%s\"\n", name);
    text_add_n(to, body, strlen(body));
}

const char *source_exp2(int which)
{
    static const char *const names[] = { [CAPS_EXP2_UNTESTED] = "exp_native.cl",
                                         [CAPS_EXP2_NATIVE] = "exp_native.cl",
                                         [CAPS_EXP2_POLY] = "exp_poly.cl",
                                         [CAPS_EXP2_BUILTIN] = "exp_builtin.cl" };
    return names[which];
}

/* ---- Composing ---- */

static void write_all(struct text *text, struct text *options, const struct target *t)
{
    const struct pass *const pass = pass_at(t->pass);
    for (const struct slot *s = pass->slots; s->fragment || s->choose || s->write; s++)
        if (s->write)
            s->write(text, t);
        else
            source_write_fragment(text, s->fragment ? s->fragment : s->choose(t));
    text_add(options, "-cl-std=CL1.2");
    if (pass->options)
        pass->options(options, t);
    text_add(options, "%s", t->caps->quirk->options);
}

/* Writes twice: first to see how much room it takes. */
cl_int source_compose(struct source *out, const struct target *t, struct why *why)
{
    struct text text = { NULL, 0, 0 }, options = { NULL, 0, 0 };
    write_all(&text, &options, t);
    text.room = text.length + 1;
    options.room = options.length + 1;
    out->text = text.to = malloc(text.room);
    out->options = options.to = malloc(options.room);
    if (!out->text || !out->options) {
        source_free(out);
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a program of %zu bytes", text.room);
    }
    text.length = options.length = 0;
    write_all(&text, &options, t);
    return CL_SUCCESS;
}

void source_free(struct source *s)
{
    free(s->text);
    free(s->options);
    s->text = s->options = NULL;
}
