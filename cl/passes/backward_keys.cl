/* The pass of a backward call that owns keys: dK and dV of a tile of them, over all queries of the heads that share
 * them, and of all batch entries where these share them too. Where the engine does all in one pass, it adds up dQ as
 * well. A work-group has every parts-th tile of keys of a key/value head: its stripe. */
/* A tile of queries, of which some may see keys of [k0, k1). */
CLA_FN void cla_take_queries(cla_tile *t, cla_env *e, int q0, int n, int k0, int k1)
{
    real p[CLA_S_N], ds[CLA_S_N], raw[CLA_CURVED ? CLA_S_N : 1];
    const int behind = t->first + CLA_OWN, first = max(t->first, e->k_begin), last = min(behind, e->k_end);
    cla_begin_queries(t, e, q0, n);
    cla_weigh(t, e, p, ds, raw, q0, n, q0, q0 + n, first, last, first == t->first && last == behind);
    cla_take_gradients(t, e, ds, raw, q0, n);
    cla_go_back(t, e, ds, raw, q0, n);
    cla_add_gradients(t, e, p, ds, q0, n, k0, k1);
}

/* A segment of the queries of a head. */
CLA_FN void cla_take_segment(cla_tile *t, cla_env *e, int begin)
{
    const int low = max(t->first, e->k_begin), high = min(t->first + CLA_OWN, e->k_end);
    const int end = low < high ? min(begin + CLA_SEGMENT, e->q_len) : 0;
    CLA_NO_UNROLL for (int q0 = begin; q0 < end; q0 += CLA_BK) {
        const int n = min(CLA_BK, end - q0), q1 = q0 + n;
        const int k0 = max(low, cla_mask_begin(e, q0, q1)), k1 = min(high, cla_mask_end(e, q0, q1));
        if (k0 < k1 && cla_mask_next(e, q0, q1, k0, k1) < k1) cla_take_queries(t, e, q0, n, k0, k1);
    }
}

/* Tile i of a stripe: dealt to and fro, so that stripes of a causal problem have equal work. */
CLA_FN int cla_tile_of_stripe(int i, int stripe, int stripes)
{
    return i * stripes + (i & 1 ? stripes - 1 - stripe : stripe);
}

/* The heads of an entry that share the keys of a tile. One loop over all segments: GPUs lack registers for two. */
CLA_FN void cla_take_heads(cla_tile *t, cla_env *e, const cla_args *a, int b, int hk, int stripe)
{
    int h = hk * a->heads_per_kv, q0 = 0;
    CLA_NO_UNROLL while (h < (hk + 1) * a->heads_per_kv) {
        cla_enter(e, a, b, h, stripe);
        cla_begin_head(t, e);
        cla_open_gradients(t, e, q0);
        if (t->first < e->nk) cla_take_segment(t, e, q0);
        cla_close_gradients(t, e, q0);
        if (t->first < e->nk && cla_has_segments(a)) cla_close_segment(t, e);
        h += cla_next_segment(a, &q0);
    }
}

/* The sums that begin or end with an entry: all of them with the first or last one, else those that are not shared. */
CLA_FN int cla_sums_of(const cla_args *a, int all) { return all ? CLA_ALL_SUMS : CLA_ALL_SUMS & ~a->shared; }

/* The entries and heads whose keys a work-group has. */
#define CLA_EACH_HEAD \
    CLA_NO_UNROLL for (int b = b0; b < b1; b++) \
        CLA_NO_UNROLL for (int h = hk0 * a.heads_per_kv; h < hk1 * a.heads_per_kv; h++)

__kernel CLA_KERNEL_OF_ENGINE __attribute__((reqd_work_group_size(CLA_LANES, 1, 1)))
void cla_backward_keys(const cla_args a, CLA_PARAMS)
{
    cla_tile t;
    cla_env e;
    CLA_LOCAL(t)
    CLA_TAKE_PARAMS(e.at)
    /* A unit is the key/value heads and entries whose keys one work-group has: mostly one of each. */
    const int spare = CLA_GROUP >= (uint)a.groups, across = a.h / a.heads_per_kv / a.unit_hk;
    const uint units = max(a.groups / a.parts, 1), unit = CLA_GROUP % units;
    const int stripe = CLA_GROUP / units, tiles = spare ? 0 : a.tiles;
    const int hk0 = unit % across * a.unit_hk, hk1 = hk0 + a.unit_hk, b0 = unit / across * a.unit_b;
    const int b1 = spare ? b0 : b0 + a.unit_b;
    const int has_dq_totals = CLA_DQ_IN_STRIPES && a.wanted & CLA_DQ_WANTED && CLA_DQ_HAS_TOTALS(&a);

    cla_begin_group(&t, CLA_Q_SCALE(&a));
    CLA_EACH_HEAD {
        cla_enter(&e, &a, b, h, stripe);
        if (a.wanted & CLA_DQ_WANTED) cla_clear_queries(&e);
        cla_begin_gradients(&e);
    }
    if (CLA_TAKES) { CLA_SYNC_GLOBAL }
    CLA_NO_UNROLL for (int i = 0; i * a.parts < tiles; i++) {
        const int tile = cla_tile_of_stripe(i, stripe, a.parts);
        if (has_dq_totals && i && i % CLA_CHAIN == 0)
            CLA_EACH_HEAD {
                cla_enter(&e, &a, b, h, stripe);
                cla_close_queries(&e);
            }
        if (tile >= tiles) continue;
        t.first = tile * CLA_OWN;
        if (CLA_TAKES) {
            CLA_EACH_HEAD {
                cla_enter(&e, &a, b, h, stripe);
                cla_clear_gradients(&t, &e);
            }
            CLA_SYNC_GLOBAL
        }
        /* Written so that ptxas needs no more than its 255 registers: offline/table.py, d128. */
        CLA_NO_UNROLL for (int x = 0; x < a.unit_hk; x++)
            CLA_NO_UNROLL for (int b = b0; b < b1; b++) {
                const int hk = hk0 + x, begun = cla_sums_of(&a, b == b0);
                cla_enter(&e, &a, b, hk * a.heads_per_kv, stripe);
                if (begun && t.first < e.nk) {
                    cla_begin_keys(&t, &e, t.first, CLA_Q_SCALE(&a));
                    cla_clear_keys(&t, begun);
                    if (cla_has_segments(&a)) cla_open_total(&e, begun);
                }
                cla_take_heads(&t, &e, &a, b, hk, stripe);
                const int done = cla_sums_of(&a, b == b1 - 1);
                if (done && t.first < e.nk) {
                    if (cla_has_segments(&a)) cla_close_total(&t, &e, done);
                    cla_write_keys(&t, &e, done & a.wanted);
                }
            }
    }
    if (has_dq_totals)
        CLA_EACH_HEAD {
            cla_enter(&e, &a, b, h, stripe);
            cla_finish_queries(&e);
        }
}
