/* Dropout: which weights are left out, by Philox4x32 of seven rounds (Salmon et al., "Parallel random numbers: as easy
 * as 1, 2, 3"), so that it depends on the element alone, not on engines and tiles. A block of four words is for four
 * neighbouring keys, the first of which is a multiple of four. Products have 64 bits, since mul_hi() of vectors is
 * scalar code on PoCL: a call takes 0.4 of the time so. */
#define CLA_DROPOUT_FACTOR(a) CLA_DROPOUT_SCALE(a)

/* A block for each lane of T, from its counter in x: block of keys, query, head and offset. */
#define CLA_PHILOX_OF(name, T, N) \
    CLA_FN void cla_philox_##name(const cla_env *e, T x[4]) \
    { \
        uint key0 = e->a->dropout_seed_low, key1 = e->a->dropout_seed_high; \
        x[2] = (T)((uint)(e->b * e->a->h + e->h)); \
        x[3] = (T)((uint)e->a->dropout_offset); \
        CLA_UNROLL for (int i = 0; i < 7; i++) { \
            const CLA_CAT(ulong, N) y0 = CLA_CAT(convert_ulong, N)(x[0]) * 0xD2511F53u; \
            const CLA_CAT(ulong, N) y2 = CLA_CAT(convert_ulong, N)(x[2]) * 0xCD9E8D57u; \
            x[0] = CLA_CAT(convert_uint, N)(y2 >> 32) ^ x[1] ^ (T)(key0); \
            x[1] = CLA_CAT(convert_uint, N)(y2); \
            x[2] = CLA_CAT(convert_uint, N)(y0 >> 32) ^ x[3] ^ (T)(key1); \
            x[3] = CLA_CAT(convert_uint, N)(y0); \
            key0 += 0x9E3779B9u; \
            key1 += 0xBB67AE85u; \
        } \
    }
typedef CLA_VECTOR(uint) cla_words;
#define cla_words_(x) CLA_CAT(convert_uint, CLA_SUFFIX)(x)
CLA_PHILOX_OF(lanes, cla_words, CLA_SUFFIX)

CLA_FN integer cla_is_left_out(const cla_env *e, cla_words word)
{
    return CLA_VECTOR(CLA_CAT(convert_, CLA_INTEGER))(word < (cla_words)((uint)e->a->dropout_threshold));
}
/* Word i of four. */
CLA_FN cla_words cla_word_of(const cla_words x[4], cla_words i)
{
    const cla_words low = i == 0 ? x[0] : x[1], high = i == 2 ? x[2] : x[3];
    return i < 2 ? low : high;
}
CLA_FN cla_words cla_word(const cla_env *e, integer q, integer k)
{
    cla_words x[4] = { cla_words_(k) >> 2, cla_words_(q) };
    cla_philox_lanes(e, x);
    return cla_word_of(x, cla_words_(k) & 3);
}

/* Where lanes are keys from a multiple of four on, four of them share a block. */
#define CLA_QUARTER_OF_1 1
#define CLA_QUARTER_OF_2 1
#define CLA_QUARTER_OF_4 1
#define CLA_QUARTER_OF_8 2
#define CLA_QUARTER_OF_16 4
#define CLA_QUARTER CLA_CAT(CLA_QUARTER_OF_, CLA_WIDTH)
#define CLA_DEALT_1(x) 0
#define CLA_DEALT_2(x) 0
#define CLA_DEALT_4(x) x[0], x[1], x[2], x[3]
#define CLA_DEALT_BLOCK(x, b) x[0].s##b, x[1].s##b, x[2].s##b, x[3].s##b
#define CLA_DEALT_8(x) CLA_DEALT_BLOCK(x, 0), CLA_DEALT_BLOCK(x, 1)
#define CLA_DEALT_16(x) CLA_DEALT_8(x), CLA_DEALT_BLOCK(x, 2), CLA_DEALT_BLOCK(x, 3)
typedef CLA_CAT(uint, CLA_CAT(CLA_SUFFIX_, CLA_QUARTER)) cla_quarter;
CLA_PHILOX_OF(quarter, cla_quarter, CLA_CAT(CLA_SUFFIX_, CLA_QUARTER))
CLA_FN cla_words cla_words_of_lanes(const cla_env *e, int q, int k)
{
    const cla_quarter in_vector = (cla_quarter)(CLA_CAT(CLA_COUNT_, CLA_QUARTER));
    cla_quarter x[4] = { (cla_quarter)((uint)k >> 2) + in_vector, (cla_quarter)((uint)q) };
    cla_philox_quarter(e, x);
    return (cla_words)(CLA_CAT(CLA_DEALT_, CLA_WIDTH)(x));
}

/* Where four neighbouring keys are columns of an item, they share one block, or two. */
CLA_FN void cla_words_of_columns(const cla_env *e, cla_words to[4], integer q, integer k)
{
    const int first = CLA_LANE(k, const CLA_INTEGER, 0);
    cla_words x[4] = { cla_words_(k) >> 2, cla_words_(q) };
    cla_philox_lanes(e, x);
    CLA_UNROLL for (int i = 0; i < 4; i++) to[i] = x[i];
    if (first % 4) {
        cla_words y[4] = { (cla_words_(k) >> 2) + 1, cla_words_(q) };
        cla_philox_lanes(e, y);
        CLA_UNROLL for (int i = 0; i < 4; i++) {
            const int at = first % 4 + i;
            to[i] = at < 4 ? cla_word_of(x, (cla_words)(at)) : cla_word_of(y, (cla_words)(at - 4));
        }
    }
}

/* Makes the elements of a tile that are left out what `value` says. Keys that a work-group owns begin with a multiple
 * of four. */
#define CLA_HAS_COLUMNS (CLA_OWNS_QUERIES && !CLA_KEY_STEP)
#define CLA_HAS_BLOCKS(k) (CLA_KEY_STEP && CLA_WIDTH >= 4 && (!CLA_OWNS_QUERIES || (k) % 4 == 0))
#define CLA_SET_LEFT_OUT(value) \
    if (CLA_HAS_COLUMNS) { \
        CLA_UNROLL_COLS for (int j0 = 0; j0 < CLA_COLS(n); j0 += 4) \
            CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) { \
                cla_words words[4]; \
                int j = j0; \
                cla_words_of_columns(e, words, CLA_ELEMENT_Q, CLA_ELEMENT_K); \
                CLA_UNROLL for (; j < j0 + 4; j++) \
                    if (j < CLA_COLS(n)) CLA_ELEMENT = cla_is_left_out(e, words[j - j0]) ? (value) : CLA_ELEMENT; \
            } \
    } else { \
        CLA_EACH_ELEMENT(t, k0, n) \
            const cla_words word = CLA_HAS_BLOCKS(CLA_SQUARE_K) ? cla_words_of_lanes(e, CLA_SQUARE_Q, CLA_SQUARE_K) \
                                                                : cla_word(e, CLA_ELEMENT_Q, CLA_ELEMENT_K); \
            CLA_ELEMENT = cla_is_left_out(e, word) ? (value) : CLA_ELEMENT; \
        CLA_END_ELEMENT \
    }

/* Forward: these weights become 0, and O is scaled behind the last tile. */
CLA_FN void cla_dropout_zero(const cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    CLA_SET_LEFT_OUT((real)(0))
}

/* Backward: they become negative, because dS needs them too. */
CLA_FN void cla_dropout_mark(const cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    CLA_SET_LEFT_OUT(-CLA_ELEMENT)
}
