/* What derivatives look up, where the items of a work-group share its cells: CLA_SHARERS of them a table, of which each
 * adds to every CLA_SHARERS-th cell what a part of the items say, in one order. Of half a tile at a time they say it
 * where P lies at other times: an item in its own places, of elements in the first half of these, of what those receive
 * in the other half. Texts are run for that once more, one look-up at a time.
 *
 * Barriers: LOOKED    look-ups are stored | all items read them
 *           COUNTED   they are read | others, or P, are stored over them */
#define CLA_BARRIER_LOOKED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_COUNTED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_SHARERS (CLA_LANES / CLA_TABLES)
#define CLA_HALF (CLA_S_N / 2)
#define CLA_RECEIVED (CLA_TN / 2 * CLA_TX * CLA_QP) /* from an element's place to that of what it receives */
#define CLA_AS_INTEGER(x) CLA_VECTOR(CLA_CAT(as_, CLA_INTEGER))(x)
#define CLA_AS_REAL(x) CLA_VECTOR(CLA_CAT(as_, CLA_SCALAR))(x)

CLA_FN void cla_look_up(const cla_env *e, int n, int j, int lane, cla_scalar ds, int index, cla_scalar grad)
{
    cla_looked *to = e->looked;
    if (!to || to->n != n || ds == 0 || index >= e->a->aux_n[j]) return;
    CLA_LANE(to->at, CLA_INTEGER, lane) = index;
    CLA_LANE(to->grad, cla_scalar, lane) = grad;
}
CLA_FN void cla_look_ups(const cla_env *e, int n, int j, real ds, integer index, real grad)
{
    cla_looked *to = e->looked;
    if (!to || to->n != n) return;
    to->at = ((ds == (real)(0)) | (index >= (integer)(e->a->aux_n[j]))) ? (integer)(-1) : index;
    to->grad = grad;
}

/* Those of half a tile. Four lanes that look the same element up are one. */
CLA_FN void cla_share_look_ups(const cla_tile *t, cla_env *e, const real *s, const real *raw, int k0, int part, int n)
{
    const real late = CLA_SCALES_LATE ? (real)(CLA_SCALE(e->a)) : (real)(1);
    cla_looked looked;
    looked.n = n;
    looked.grad = (real)(0);
    e->looked = &looked;
    CLA_NO_UNROLL for (int i = 0; i < CLA_HALF; i++) {
        const int element = part * CLA_HALF + i, j = element / CLA_R_N, r = element % CLA_R_N;
        real ds = (real)(0), score = (real)(0);
        CLA_UNROLL for (int x = 0; x < CLA_S_N; x++) {
            ds = CLA_ALL_IF(x == element) ? s[x] : ds;
            score = CLA_ALL_IF(x == element) ? raw[x] : score;
        }
        looked.at = (integer)(-1);
        cla_score_grad(e, score * late, ds, CLA_ELEMENT_Q, CLA_ELEMENT_K);
        if (all(looked.at == (integer)(looked.at.s0))) {
            looked.grad.s0 = cla_lane_sum(looked.grad);
            looked.at |= (integer)(0, -1, -1, -1);
        }
        __local cla_scalar *to = (__local cla_scalar *)cla_own_p(t, i / CLA_R_N, r);
        CLA_AT4(to) = CLA_AS_REAL(looked.at);
        CLA_AT4(to + CLA_RECEIVED) = looked.grad;
    }
    e->looked = 0;
}

CLA_FN void cla_add_to_cell(const cla_env *e, __global cla_scalar *cell, cla_scalar sum, cla_scalar lost)
{
    __global cla_scalar *loss = cell + cla_aux_losses(e->a);
    cla_add_kept_there(cell, loss, sum);
    *loss += lost;
}

/* Cells of this item. Neighbours often look the same one up: their sum goes there. There is none below 0. */
CLA_FN void cla_add_look_ups(const cla_tile *t, const cla_env *e, int buffer)
{
    const int table = t->lane / CLA_SHARERS, place = t->lane % CLA_SHARERS;
    __global cla_scalar *cells = cla_aux_table(e, table) + e->a->aux_at[buffer];
    CLA_INTEGER cell = -1;
    cla_scalar sum = 0, lost = 0;
    CLA_NO_UNROLL for (int item = table; item < CLA_LANES; item += CLA_TABLES)
        CLA_NO_UNROLL for (int i = 0; i < CLA_HALF; i++) {
            const __local cla_scalar *from = t->p + (i / CLA_R_N * CLA_TX + item % CLA_TX) * CLA_QP +
                                             item / CLA_TX * CLA_TM + i % CLA_R_N * 4;
            const integer at = CLA_AS_INTEGER(CLA_AT4(from)), mine = at % (integer)(CLA_SHARERS) == (integer)(place);
            if (!any(mine)) continue;
            const real grad = CLA_AT4(from + CLA_RECEIVED);
            CLA_UNROLL for (int l = 0; l < 4; l++)
                if (CLA_COMPONENT(mine, l)) {
                    if (CLA_COMPONENT(at, l) != cell) {
                        if (cell >= 0) cla_add_to_cell(e, cells + cell, sum, lost);
                        sum = lost = 0;
                        cell = CLA_COMPONENT(at, l);
                    }
                    sum = cla_add_kept_scalar(sum, CLA_COMPONENT(grad, l), &lost);
                }
        }
    if (cell >= 0) cla_add_to_cell(e, cells + cell, sum, lost);
}

#define CLA_TAKE_LOOK_UPS(t, e, s, raw, k0) \
    CLA_NO_UNROLL for (int x = 0; x < CLA_LOOK_UPS; x++) { \
        const int buffer = cla_look_up_buffers[x]; \
        CLA_NO_UNROLL for (int part = 0; part < 2 && (e)->a->aux_n[buffer]; part++) { \
            cla_share_look_ups(t, e, s, raw, k0, part, x); \
            CLA_BARRIER_LOOKED \
            cla_add_look_ups(t, e, buffer); \
            CLA_BARRIER_COUNTED \
        } \
    }
