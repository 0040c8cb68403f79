/* Elements of a row as it is given: nothing turns it. */
typedef struct {
    int unused; /* see args.h */
    const __global cla_q_elem *row;
} cla_source;

CLA_FN cla_scalar cla_take(const cla_source *x, int c) { return cla_load_q(x->row + c); }

CLA_FN void cla_source_init(cla_source *x, const __global cla_q_elem *row) { x->row = row; }
CLA_FN void cla_turn_source(cla_source *x, const cla_args *a, const cla_pointers *at, int b, int i, int length) {}
