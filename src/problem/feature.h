/* feature.h - the features of attention: a row for each mask, change of scores or weights, bias and sink. Knows no
 * device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whatever the library has to know of a feature stands in its row: the program's text, the checks of a problem, the
 * words of problem strings, classes, packing and the answers in double are all made from it. Buffers and numbers that
 * a kernel is given at run time are engine/params_list.c and run/call.c. Members that a row does not mention are zero:
 * "no", or "none". */
#ifndef FEATURE_H
#define FEATURE_H

#include "base/text.h"
#include "problem/problem.h"

enum feature_kind { FEATURE_MASK, FEATURE_SCORE, FEATURE_BIAS, FEATURE_SINK, FEATURE_WEIGHT };

/* What is true of a feature, to be combined. */
enum feature_fact {
    FEATURE_HAS_HOLES = 1,          /* may drop keys elsewhere than at the ends of what the queries of a tile see */
    FEATURE_DIFFERS_BY_HEAD = 2,    /* query heads that share keys cannot be rows of one tile */
    FEATURE_KNOWS_DIAGONAL = 4,     /* asks where a query's diagonal lies: key q + offset */
    FEATURE_CHANGES_SCORES = 8,     /* needs scores in natural units */
    FEATURE_GATHERS = 16            /* needs the engine's gather_*.cl: CLA_GATHER */
};

/* A class has neighbours that lack its features up to one of these steps. No row has the steps that say what goes
 * there: class.c knows them. */
enum feature_step {
    FEATURE_STEP_NONE,
    FEATURE_STEP_DETAILS, /* O's own type, forced splits, groups and zero points of quantised storage */
    FEATURE_STEP_SCORES,
    FEATURE_STEP_ROWS, /* varlen, and pages */
    FEATURE_STEP_READS,
    FEATURE_STEP_MASKS,
    FEATURE_STEP_QUANTISED, /* quantised K and V become of Q's type */
    FEATURE_STEPS
};

/* A word of a problem string: its name alone, or its name and a value right behind it. */
struct feature_word {
    const char *name;
    bool has_value;
    cl_int (*read)(clattn_workload *to, const char *word, const char *value, struct why *why);
};
enum { FEATURE_WORDS = 2, FEATURE_PLACES = 12, FEATURES_MOST = 32 };

/* The tensors that features read, with a row each in judge/sample_feature.c. */
enum feature_tensor { FEATURE_READS_NONE, FEATURE_READS_BIAS, FEATURE_READS_MASK, FEATURE_READS_MAP,
                      FEATURE_READS_SLOPES, FEATURE_READS_SINKS, FEATURE_TENSORS };

/* An element of the scores: its query and key, its row's offset, and what the tensor that the feature reads has for
 * it. */
struct feature_at {
    const clattn_problem *p;
    int64_t q, k, offset;
    double read;
};

struct feature {
    const char *name;                               /* of its functions in kernels: cla_NAME.. */
    enum feature_kind kind;
    unsigned facts;                                 /* FEATURE_* */

    /* The problem. */
    uint32_t flag;                                  /* the bit of clattn_problem.flags that asks for it, or 0 */
    bool (*applies)(const clattn_problem *p);       /* only where flag is 0: whether the problem asks for it */
    cl_int (*check)(clattn_problem *p, struct why *why); /* called whether it applies or not */

    /* Kernels. */
    bool (*is_covered)(const clattn_problem *p);    /* another feature's fragment does what it asks; NULL: none does */
    const char *fragment;
    const char *(*needs)(const clattn_problem *p);  /* a fragment that goes before, or NULL */
    void (*write)(struct text *to, const clattn_problem *p);   /* text in the place of a fragment */
    void (*options)(struct text *to, const clattn_problem *p); /* " -DCLA_NAME=..": numbers to build the program with */
    const char *gradient;                           /* of a score: the fragment of its derivative */
    void (*write_gradient)(struct text *to, const clattn_problem *p); /* in its place; both NULL: that is 1 */
    const char *taken;                              /* what makes the gradient of the feature's own tensor, or NULL */
    bool (*takes)(const clattn_problem *p);         /* whether that is there; NULL: always */

    /* Problem strings. Words are printed in the order of `place`, from 0 to FEATURE_PLACES - 1, and then of rows. */
    int place;
    struct feature_word words[FEATURE_WORDS];
    bool (*is_said)(const clattn_workload *c);      /* whether its words are printed; NULL: where it applies */
    const char *(*unsaid)(const clattn_workload *c); /* what there are no words for then, or NULL */
    void (*print)(struct text *to, const clattn_workload *c, const clattn_problem *p);

    /* Classes. represent() adds to a class what stands for the feature. */
    enum feature_step step;
    void (*represent)(clattn_workload *class, const clattn_problem *p);

    /* The work. A row keeps the keys from its diagonal + *low to its diagonal + *high, which range() narrows.
     * share(): the part of those that is kept, where that is known without looking at them. */
    void (*range)(const clattn_problem *p, int64_t *low, int64_t *high);
    double (*share)(const clattn_problem *p);

    /* What it does, in double. */
    enum feature_tensor reads;
    bool (*keeps)(const struct feature_at *at);     /* of a mask */
    double (*change)(const struct feature_at *at, double x); /* a changed score; of a sink, its logit */
    double (*slope)(const struct feature_at *at, double x);  /* the derivative of that; NULL: 1 */
};

/* Rows in the order in which kernels apply them, each table ended by a row without a name. */
extern const struct feature feature_masks[], feature_scores[];

/* The row behind `f`, the first one for NULL; NULL behind the last. */
const struct feature *feature_next(const struct feature *f);
#define FEATURE_EACH(f) for (const struct feature *f = feature_next(NULL); f; f = feature_next(f))

/* Whether the problem asks for it. */
bool feature_applies(const struct feature *f, const clattn_problem *p);

/* Whether something that the problem asks for has one of the facts. */
bool feature_any(const clattn_problem *p, unsigned facts);

/* Whether kernels for the problem have the feature's functions. */
bool feature_is_compiled(const struct feature *f, const clattn_problem *p);
/* Whether they have some of this kind with one of the facts. */
bool feature_any_compiled(const clattn_problem *p, enum feature_kind kind, unsigned facts);

/* The keys that a row may keep by what the problem asks for, from its diagonal + *low to its diagonal + *high;
 * INT64_MIN and INT64_MAX are no bounds. */
void feature_range(const clattn_problem *p, int64_t *low, int64_t *high);

/* Axes of bias and mask: the letters bhqk, or 1 in the place of some, or in those of b and h a number of entries or
 * heads from 2 to 9 that repeat, as the flag of the problem says then. feature_read_axes() returns what follows, NULL
 * when it is something else; feature_unsaid_axes() what there are no words for in both, or NULL. */
const char *feature_read_axes(const char *value, clattn_problem *p, int32_t axes[4]);
void feature_print_axes(struct text *to, const char *name, const int32_t axes[4]);
const char *feature_unsaid_axes(const clattn_workload *c);

#endif
