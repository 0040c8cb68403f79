/* classes.c - the classes that clattn-tune is to go through
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/classes.h"

#include "tools/tune/named.h"

#include <clattn_tune.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_ROOM = 16384, WHY_ROOM = 1024 };

static int no_memory(struct fault *f)
{
    return fault_set(f, EXIT_USAGE, "there is no memory for the classes");
}

static int say(struct tuned *t, const char *words, struct fault *f)
{
    t->words = strdup(words);
    return t->words ? 0 : no_memory(f);
}

/* Writes the class of `text`, or why it has none on this device. */
static int name_class(struct tuned *t, clattn_handle handle, const struct named *p, struct fault *f)
{
    char words[1024] = "";
    const cl_int e = clattn_class_of(handle, &p->c.problem, t->class_text, sizeof t->class_text, NULL);
    if (e == CL_SUCCESS && p->c.problem.n_aux)
        return say(t, "captured buffers hold what only a program knows: tune it without its score_mods", f);
    if (e == CL_SUCCESS)
        return 0;
    (void)clattn_error_detail(handle, words, sizeof words, NULL);
    snprintf(t->class_text, sizeof t->class_text, "%s", t->problem);
    return say(t, words[0] ? words : clattn_status_string(e), f);
}

/* A class that the library wrote and that cannot be read as a problem string. */
static int name_unknown(struct tuned *t, const char *words, struct fault *f)
{
    snprintf(t->class_text, sizeof t->class_text, "%s", t->problem);
    return say(t, strstr(t->problem, "mod:#") ? "the texts of its score_mods are not known here" : words, f);
}

/* What a usual class stands for, by its problem. */
static void say_usual(char text[WHY_ROOM], const clattn_problem *p)
{
    static const struct { int64_t most; const char *words; } kinds[] = {
        { 1, "decoding, one query for each head" }, { 128, "short prompts" }, { 1024, "prompts" },
        { INT64_MAX, "long prompts" },
    };
    const clattn_sizes *const z = &p->sizes;
    int i = 0;
    while (z->nq > kinds[i].most)
        i++;
    snprintf(text, WHY_ROOM, "a usual one: %s%s%s",
             p->flags & CLATTN_BACKWARD ? "gradients, for training on " : "", kinds[i].words,
             z->hk && z->hk < z->h ? ", heads share keys" : "");
}

static struct tuned *append(struct classes *all, const char *problem)
{
    struct tuned *list = realloc(all->list, (all->n + 1) * sizeof *list);
    if (!list)
        return NULL;
    all->list = list;
    memset(&list[all->n], 0, sizeof *list);
    list[all->n].problem = strdup(problem);
    return list[all->n].problem ? &list[all->n++] : NULL;
}

static void drop_last(struct classes *all)
{
    struct tuned *t = &all->list[--all->n];
    free(t->problem);
    free(t->why);
    free(t->words);
}

/* Adds the class of a problem string unless it is in the list. why: who asked for it; NULL: it is a usual one.
 * `strict`: a string that cannot be read is an error; otherwise it is a class that cannot be tuned. */
static int add(struct classes *all, clattn_handle handle, const char *problem, const char *why, int strict,
               struct fault *f)
{
    char usual[WHY_ROOM] = "a usual one";
    struct fault own = { 0, "" };
    struct named p;
    struct tuned *t = append(all, problem);
    int result = 0;
    if (!t)
        return no_memory(f);
    if (named_open(&p, problem, &own) == 0) {
        result = name_class(t, handle, &p, f);
        say_usual(usual, &p.c.problem);
    } else {
        result = strict ? fault_set(f, own.status, "%s", own.text) : name_unknown(t, own.text, f);
    }
    named_close(&p);
    t->why = strdup(why ? why : usual);
    if (!t->why && result == 0)
        result = no_memory(f);
    for (size_t i = 0; i + 1 < all->n && result == 0; i++)
        if (strcmp(all->list[i].class_text, t->class_text) == 0) {
            drop_last(all);
            break;
        }
    return result;
}

/* Reads a line of --file: empty, a comment, or a problem string. */
static int add_line(struct classes *all, clattn_handle handle, char *line, const char *file, int number,
                    struct fault *f)
{
    struct fault own = { 0, "" };
    char why[WHY_ROOM];
    size_t n = 0; /* a # within a word begins no comment, because digests of score_mods contain one */
    while (line[n] && !strchr("\r\n", line[n]) && !(line[n] == '#' && (n == 0 || strchr(" \t", line[n - 1]))))
        n++;
    line[n] = '\0';
    while (n && strchr(" \t", line[n - 1]))
        line[--n] = '\0';
    line += strspn(line, " \t");
    snprintf(why, sizeof why, "asked for in line %d of %s: '%s'", number, file, line);
    if (!*line || add(all, handle, line, why, 1, &own) == 0)
        return 0;
    return fault_set(f, own.status, "--file: %s:%d: %s", file, number, own.text);
}

static int add_file(struct classes *all, clattn_handle handle, const char *file, struct fault *f)
{
    const int is_stdin = strcmp(file, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(file, "r");
    char *line = malloc(LINE_ROOM);
    int result = 0;
    if (!in)
        result = fault_set(f, EXIT_USAGE, "--file: %s: %s", file, strerror(errno));
    else if (!line)
        result = no_memory(f);
    for (int number = 1; result == 0 && fgets(line, LINE_ROOM, in); number++)
        result = strlen(line) + 1 == LINE_ROOM
            ? fault_set(f, EXIT_USAGE, "--file: %s:%d: the line is too long", file, number)
            : add_line(all, handle, line, file, number, f);
    if (result == 0 && ferror(in))
        result = fault_set(f, EXIT_USAGE, "--file: %s: it cannot be read", file);
    if (in && !is_stdin)
        (void)fclose(in);
    free(line);
    return result;
}

/* Adds everything that an indexed function of the library returns. */
static int add_all(struct classes *all, clattn_handle handle, cl_int (*at)(clattn_handle, size_t, char *, size_t),
                   const char *why, struct fault *f)
{
    char text[CLASS_TEXT];
    cl_int e = CL_SUCCESS;
    for (size_t i = 0; (e = at(handle, i, text, sizeof text)) == CL_SUCCESS; i++)
        if (add(all, handle, text, why, 0, f) != 0)
            return -1;
    return e == CL_INVALID_VALUE ? 0 : fault_set(f, EXIT_USAGE, "the classes: %s", clattn_status_string(e));
}

int classes_gather(struct classes *all, clattn_handle handle, const struct tune_options *o, struct fault *f)
{
    char why[WHY_ROOM];
    memset(all, 0, sizeof *all);
    for (int i = 0; i < o->n; i++) {
        snprintf(why, sizeof why, "asked for: '%s'", o->problems[i]);
        if (add(all, handle, o->problems[i], why, 1, f) != 0)
            return -1;
    }
    if (o->file && add_file(all, handle, o->file, f) != 0)
        return -1;
    if (o->recorded)
        return add_all(all, handle, clattn_class_recorded, "a program met it while CLATTN_TUNE was record", f);
    return o->n || o->file ? 0 : add_all(all, handle, clattn_class_at, NULL, f);
}

void classes_free(struct classes *all)
{
    while (all->n)
        drop_last(all);
    free(all->list);
    memset(all, 0, sizeof *all);
}
