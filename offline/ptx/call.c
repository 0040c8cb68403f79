/* call.c - calls of device functions: the function's body is read once more in place of the call
 * SPDX-License-Identifier: Apache-2.0
 *
 * Parameters and results lie in .param variables of the caller, which here are its local memory; the function's names
 * for them become other names of the same bytes. So there is no stack, and recursion is refused. */
#include <string.h>

#include "reader.h"

enum { MAX_PARAMS = 64 };
struct list {
    struct symbol items[MAX_PARAMS];
    int n;
};

static const struct function *function_named(const struct reader *r, struct word name)
{
    const struct function *found = NULL;
    for (size_t i = 0; i < r->n_functions; i++)
        if (words_equal(r->functions[i].name, name) && (!found || r->functions[i].body.p))
            found = &r->functions[i];
    return found;
}

/* (a, b, ..): variables of the caller. */
static void take_arguments(struct reader *r, struct list *to)
{
    to->n = 0;
    if (!take(r, '(') || take(r, ')'))
        return;
    do {
        const struct word w = take_word(r);
        const struct symbol *s = find_symbol(r, w);
        if (to->n == MAX_PARAMS)
            fail(r, "a call has more than %d arguments", MAX_PARAMS);
        if (!s || s->kind != SYMBOL_VARIABLE || s->space != SPACE_LOCAL)
            fail(r, "a call with %.*s, which is no .param of the caller, is not executed here", WORD(w));
        to->items[to->n++] = *s;
    } while (take(r, ','));
    expect(r, ')');
}

/* The function's own list, read where it stands: its names for the caller's variables. */
static void bind(struct reader *r, struct place at, const struct list *actual)
{
    int n = 0;
    r->at = at;
    if (at.p && take(r, '(') && !take(r, ')')) {
        do {
            struct declaration d;
            const struct word w = take_word(r);
            if (!word_is(w, ".param"))
                fail(r, "a parameter of a function that is %.*s is not executed here", WORD(w));
            read_declaration(r, &d);
            if (n >= actual->n || actual->items[n].size < d.size)
                fail(r, "a call does not fit the function's parameter %.*s", WORD(d.name));
            struct symbol *s = add_symbol(r, d.name, SYMBOL_VARIABLE);
            s->space = SPACE_LOCAL;
            s->address = actual->items[n].address;
            s->size = d.size;
            n++;
        } while (take(r, ','));
        expect(r, ')');
    }
    if (n != actual->n)
        fail(r, "a call has %d arguments where the function has %d", actual->n, n);
}

/* A guarded call is a branch around it. */
static struct op *branch_around(struct reader *r)
{
    struct op o;
    memset(&o, 0, sizeof o);
    if (!r->guarded)
        return NULL;
    r->guard_not = !r->guard_not;
    o.kind = OP_BRANCH;
    struct op *branch = emit(r, &o);
    r->guarded = 0;
    return branch;
}

void read_call(struct reader *r)
{
    struct list results, arguments;
    struct body body, *caller = r->body;
    memset(&body, 0, sizeof body);
    take_arguments(r, &results);
    if (results.n)
        expect(r, ',');
    const struct word name = take_word(r);
    const struct function *found = function_named(r, name);
    arguments.n = 0;
    if (take(r, ','))
        take_arguments(r, &arguments);
    expect(r, ';');
    if (!found || !found->body.p)
        fail(r, "a call of %.*s, which has no body here, is not executed", WORD(name));
    if (r->calls == MAX_CALLS || r->n_calls++ == MAX_ALL_CALLS)
        fail(r, "there are too many calls, or %.*s calls itself", WORD(name));
    const struct function f = *found;
    const struct place after = r->at;
    const size_t n_symbols = r->n_symbols;
    const struct op *around = branch_around(r);
    const size_t branch = around ? around->index : 0;

    body.first_symbol = r->n_symbols;
    r->calls++;
    bind(r, f.results, &results);
    bind(r, f.params, &arguments);
    r->at = f.body;
    r->body = &body;
    read_body(r, &body);
    r->body = caller;
    r->calls--;
    r->n_symbols = n_symbols;
    r->at = after;
    if (around)
        r->kernel->ops[branch].target = (uint32_t)r->kernel->n_ops;
}
