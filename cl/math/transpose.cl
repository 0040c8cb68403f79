/* Squares of CLA_WIDTH vectors turned in registers, rows into columns: what lies row by row becomes what has a row in
 * each lane, and back. Fixed, not a slot. */
#define CLA_EACH_LANE CLA_UNROLL for (int i = 0; i < CLA_WIDTH; i++)
#define CLA_WIDE_1(loadn, load, p) load(p)
#define CLA_WIDE_2(loadn, load, p) loadn(2, p)
#define CLA_WIDE_4(loadn, load, p) loadn(4, p)
#define CLA_WIDE_8(loadn, load, p) loadn(8, p)
#define CLA_WIDE_16(loadn, load, p) loadn(16, p)
#define CLA_WIDE CLA_CAT(CLA_WIDE_, CLA_WIDTH)
/* The same of a row of operand x, from a column on. */
#define CLA_GET_1(x, e, row, column) cla_get_##x(e, row, column)
#define CLA_GET_2(x, e, row, column) cla_getn_##x(2, e, row, column)
#define CLA_GET_4(x, e, row, column) cla_getn_##x(4, e, row, column)
#define CLA_GET_8(x, e, row, column) cla_getn_##x(8, e, row, column)
#define CLA_GET_16(x, e, row, column) cla_getn_##x(16, e, row, column)
#define CLA_GET CLA_CAT(CLA_GET_, CLA_WIDTH)
#define CLA_STORE_WIDE_1(storen, store, x, p) store(x, p)
#define CLA_STORE_WIDE_2(storen, store, x, p) storen(2, x, p)
#define CLA_STORE_WIDE_4(storen, store, x, p) storen(4, x, p)
#define CLA_STORE_WIDE_8(storen, store, x, p) storen(8, x, p)
#define CLA_STORE_WIDE_16(storen, store, x, p) storen(16, x, p)
#define CLA_STORE_WIDE CLA_CAT(CLA_STORE_WIDE_, CLA_WIDTH)
CLA_FN cla_scalar cla_lane_sum(real x)
{
    cla_scalar sum = 0;
    CLA_EACH_LANE sum += CLA_LANE(x, cla_scalar, i);
    return sum;
}
/* What is stored as it is computed with. */
#define CLA_PLAIN_1(p) (*(p))
#define CLA_PLAIN_N(n, p) vload##n(0, p)
#define CLA_LOAD_PLAIN(p) CLA_WIDE(CLA_PLAIN_N, CLA_PLAIN_1, p)
#define CLA_KEEP_1(x, p) (*(p) = (x))
#define CLA_KEEP_N(n, x, p) vstore##n(x, 0, p)
#define CLA_STORE_PLAIN(x, p) CLA_STORE_WIDE(CLA_KEEP_N, CLA_KEEP_1, x, p)

/* Turning in place: a round of distance g exchanges, between rows i and i + g, the upper lanes of the one with the
 * lower lanes of the other, in every group of 2 g lanes. Lane by lane: Oclgrind 21.10 crashes on what a.lo compiles
 * to. */
#define CLA_LOWER_2_1 a.s0, b.s0
#define CLA_UPPER_2_1 a.s1, b.s1
#define CLA_LOWER_4_2 a.s0, a.s1, b.s0, b.s1
#define CLA_UPPER_4_2 a.s2, a.s3, b.s2, b.s3
#define CLA_LOWER_4_1 a.s0, b.s0, a.s2, b.s2
#define CLA_UPPER_4_1 a.s1, b.s1, a.s3, b.s3
#define CLA_LOWER_8_4 a.s0, a.s1, a.s2, a.s3, b.s0, b.s1, b.s2, b.s3
#define CLA_UPPER_8_4 a.s4, a.s5, a.s6, a.s7, b.s4, b.s5, b.s6, b.s7
#define CLA_LOWER_8_2 a.s0, a.s1, b.s0, b.s1, a.s4, a.s5, b.s4, b.s5
#define CLA_UPPER_8_2 a.s2, a.s3, b.s2, b.s3, a.s6, a.s7, b.s6, b.s7
#define CLA_LOWER_8_1 a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6
#define CLA_UPPER_8_1 a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7
#define CLA_LOWER_16_8 a.s0, a.s1, a.s2, a.s3, a.s4, a.s5, a.s6, a.s7, b.s0, b.s1, b.s2, b.s3, b.s4, b.s5, b.s6, b.s7
#define CLA_UPPER_16_8 a.s8, a.s9, a.sa, a.sb, a.sc, a.sd, a.se, a.sf, b.s8, b.s9, b.sa, b.sb, b.sc, b.sd, b.se, b.sf
#define CLA_LOWER_16_4 a.s0, a.s1, a.s2, a.s3, b.s0, b.s1, b.s2, b.s3, a.s8, a.s9, a.sa, a.sb, b.s8, b.s9, b.sa, b.sb
#define CLA_UPPER_16_4 a.s4, a.s5, a.s6, a.s7, b.s4, b.s5, b.s6, b.s7, a.sc, a.sd, a.se, a.sf, b.sc, b.sd, b.se, b.sf
#define CLA_LOWER_16_2 a.s0, a.s1, b.s0, b.s1, a.s4, a.s5, b.s4, b.s5, a.s8, a.s9, b.s8, b.s9, a.sc, a.sd, b.sc, b.sd
#define CLA_UPPER_16_2 a.s2, a.s3, b.s2, b.s3, a.s6, a.s7, b.s6, b.s7, a.sa, a.sb, b.sa, b.sb, a.se, a.sf, b.se, b.sf
#define CLA_LOWER_16_1 a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6, a.s8, b.s8, a.sa, b.sa, a.sc, b.sc, a.se, b.se
#define CLA_UPPER_16_1 a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7, a.s9, b.s9, a.sb, b.sb, a.sd, b.sd, a.sf, b.sf

#define CLA_LOWER(g) CLA_CAT(CLA_CAT(CLA_LOWER_, CLA_WIDTH), _##g)
#define CLA_UPPER(g) CLA_CAT(CLA_CAT(CLA_UPPER_, CLA_WIDTH), _##g)
#define CLA_TURN_BY(V, x, g) \
    CLA_UNROLL for (int i = 0; i < CLA_WIDTH; i++) \
        if (!(i & g)) { \
            const V a = x[i], b = x[i + g]; \
            x[i] = (V)(CLA_LOWER(g)); \
            x[i + g] = (V)(CLA_UPPER(g)); \
        }
#define CLA_TURN_1(V, x)
#define CLA_TURN_2(V, x) CLA_TURN_BY(V, x, 1)
#define CLA_TURN_4(V, x) CLA_TURN_BY(V, x, 2) CLA_TURN_2(V, x)
#define CLA_TURN_8(V, x) CLA_TURN_BY(V, x, 4) CLA_TURN_4(V, x)
#define CLA_TURN_16(V, x) CLA_TURN_BY(V, x, 8) CLA_TURN_8(V, x)
#define CLA_TRANSPOSE(V, x) CLA_CAT(CLA_TURN_, CLA_WIDTH)(V, x)
