/* Engine `simt`: any GPU, plain OpenCL C 1.2. A work-group of TX * TY items makes a BQ x DV block of O, going over the
 * keys in tiles of BK. Item (tx, ty) holds TM rows x TN keys of S and TM rows x DV / TX columns of O in registers.
 * Both products are the same register GEMM: per step, one vector of 4 from local memory per 4 rows and per 4 columns.
 *
 *     row of slot r       = r0 + ty * TM + r                            s[j * R_N + g] holds rows 4g .. 4g + 3 of key j
 *     key of slot j       = k0 + (j / 4) * 4 * TX + 4 * tx + j % 4
 *     column of slot c, i = (c * TX + tx) * 4 + i                       o[r * GD + c] holds columns i = 0 .. 3 of row r
 *
 * All of Q lies in local memory (QRES 1) or is streamed beside K (0). K comes in chunks of CH dims, transposed; V in
 * chunks of CV keys. Every chunk is double-buffered: the next one is on its way in registers while this one is used,
 * and one barrier per chunk suffices. Pitches of + 4 keep transposing stores off each other's banks.
 * P of a tile lies in local memory as a whole, so that S is out of the registers when P V begins, and the tile's own
 * part of O takes its place: sums stay short. Rows of P are in the order of slots, key j of item tx at row j * TX + tx,
 * and an item keeps there what the first dims of Q K^T came to, where they are more than one chain.
 *
 * Barriers, each of which separates what all items did before it | from what any of them does behind it:
 *     1 CLEARED    no key is marked as seen | items mark those that a row of theirs sees (only where keys are dropped)
 *     2 STAGED     chunk i of Q and K is stored, chunk i - 1 is read | chunk i is read, chunk i + 1 is stored over
 *                  chunk i - 1
 *     3 COLLECTED  each item's maximum or sum of its rows lies in P, the last chunk of Q and K is read | owners of rows
 *                  read the former, V and P are stored over the latter
 *     4 RAISED     owners have written maxima, pivots and factors and are done with P, all marks are set | all read the
 *                  former, marks are read where V is stored, P is stored
 *     5 WEIGHTS    P and chunk 0 of V are stored | both are read
 *     6 CHUNK      chunk v of V is read, chunk v + 1 is stored | chunk v + 1 is read, chunk v + 2 is stored over chunk
 *                  v. Behind the last one P, the marks and both buffers are free for the next tile
 *     7 SUMMED     owners have written sums, at the end | all read them */
#define CLA_BARRIER_CLEARED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_STAGED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_COLLECTED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_RAISED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_WEIGHTS barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_CHUNK barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_SUMMED barrier(CLK_LOCAL_MEM_FENCE);

#define CLA_LANES (CLA_TX * CLA_TY)
#define CLA_BQ (CLA_TM * CLA_TY)
#define CLA_BK (CLA_TN * CLA_TX)
#define CLA_R_N (CLA_TM / 4)
#define CLA_S_N (CLA_TN * CLA_R_N)
#define CLA_GD ((CLA_DV + 4 * CLA_TX - 1) / (4 * CLA_TX))
#define CLA_DVP (CLA_GD * 4 * CLA_TX)
#define CLA_O_N (CLA_TM * CLA_GD)
#define CLA_COLS(n) CLA_TN
#define CLA_COVERED(n) CLA_BK
#define CLA_UNROLL_COLS CLA_UNROLL
#define CLA_UNROLL_ROWS CLA_UNROLL
#define CLA_UNROLL_O CLA_UNROLL

#define CLA_CHUNKS ((CLA_D + CLA_CH - 1) / CLA_CH)
#define CLA_KP (CLA_BK + 4)
#define CLA_QP (CLA_BQ + 4)
#define CLA_QSTEP (CLA_QRES ? 0 : CLA_CH * CLA_QP)
#define CLA_QBUF ((CLA_QRES ? CLA_CHUNKS : 2) * CLA_CH * CLA_QP)
/* Q on its way lies where P will be, if no sums of parts do. What CLA_COLLECT writes there is behind it. */
#define CLA_Q_IN_P (!CLA_QRES && CLA_PARTS == 1 && 2 * CLA_CH <= CLA_BK - CLA_TX)
#define CLA_P_AT (CLA_Q_IN_P ? 0 : CLA_QBUF)
#define CLA_KVSTEP CLA_MAX(CLA_CH * CLA_KP, CLA_CV * CLA_DVP)
#define CLA_PARTS ((CLA_D + CLA_CHAIN - 1) / CLA_CHAIN) /* of Q K^T: a chain of additions each */
#define CLA_PART_CHUNKS (CLA_CHAIN / CLA_CH)
#define CLA_TURNS ((CLA_BK + CLA_CHAIN - 1) / CLA_CHAIN) /* of P V: likewise */
#define CLA_OWN_WORDS 0
#define CLA_WORK_GROUP_AGAIN CLA_GROUP
#define CLA_ITEM_AGAIN get_local_id(0)
#define CLA_K_SCALED (!CLA_QRES && CLA_BK < CLA_BQ) /* what is stored less often is scaled */
#define CLA_ROUNDS(rows, width) (((rows) * (width) / 4 + CLA_LANES - 1) / CLA_LANES)

typedef struct {
    int unused; /* see args.h */
    int tx, ty, lane, r0, end, wide; /* wide: whether four elements can be loaded at once */
    cla_scalar scale;
    __local cla_scalar *q, *kv, *p;
    __local cla_scalar *m; /* of each row the running maximum, then what it subtracts, then its factor */
    __local int *seen; /* whether some query sees a key of the tile */
    cla_raw4_q qr[CLA_ROUNDS(CLA_BQ, CLA_CH)]; /* on their way */
    cla_raw4_k kr[CLA_ROUNDS(CLA_BK, CLA_CH)];
    cla_raw4_v vr[CLA_ROUNDS(CLA_CV, CLA_DVP)];
} cla_tile;

#define CLA_LOCAL(t) \
    __local cla_scalar cla_local_q[CLA_P_AT + CLA_BK * CLA_QP] __attribute__((aligned(32))); \
    __local cla_scalar cla_local_kv[2 * CLA_KVSTEP] __attribute__((aligned(32))); \
    __local cla_scalar cla_local_m[3 * CLA_BQ] __attribute__((aligned(32))); \
    __local int cla_local_seen[CLA_DROPS ? CLA_BK : 1]; \
    t.seen = cla_local_seen; \
    t.m = cla_local_m; \
    t.q = cla_local_q; \
    t.kv = cla_local_kv; \
    t.p = cla_local_q + CLA_P_AT;

/* to += x * y. By name where it is one instruction: Intel's compiler for GPUs makes 40 moves per 256 of sums that it
 * may contract. AMD's older devices have one for those sums only. */
#if defined(__AMDGCN__) && !defined(FP_FAST_FMAF)
#define CLA_ADD_PRODUCT CLA_ADD_PRODUCT_0
#else
#define CLA_ADD_PRODUCT CLA_CAT(CLA_ADD_PRODUCT_, CLA_FMA)
#endif
#define CLA_ADD_PRODUCT_0(to, x, y) (to) += (x) * (y);
#define CLA_ADD_PRODUCT_1(to, x, y) (to) = fma(x, y, to);

/* Items before those of this one's sub-group, and its place there. Where a whole sub-group of Intel's shares its rows
 * ty comes from the former: what is read of Q and P is then known to be the same for all, and read once. */
#define CLA_AHEAD_0 get_local_id(0)
#define CLA_AHEAD_8 (get_sub_group_id() * 8)
#define CLA_AHEAD_16 (get_sub_group_id() * 16)
#define CLA_INSIDE_0 0
#define CLA_INSIDE_8 get_sub_group_local_id()
#define CLA_INSIDE_16 get_sub_group_local_id()
/* Who an item is, once more in every tile and for each product: max() and min() change nothing, but compilers do not
 * see through them. AMD's keep all that they compute from it in registers over the whole loop otherwise, and have too
 * few then. Since clang 20 they also read ahead too far in P V where V has most columns, but not for gfx9, which has
 * more. */
#if defined(__AMDGCN__)
#define CLA_FORGET_PLACES(t, key) \
    (t)->lane = max((t)->lane, min(key, 0)); \
    (t)->tx = (t)->lane % CLA_TX; \
    (t)->ty = (t)->lane / CLA_TX;
#else
#define CLA_FORGET_PLACES(t, key)
#endif
#if defined(__AMDGCN__) && !defined(__GFX9__)
#define CLA_PV_STEPS (__clang_major__ > 19 && CLA_PARTS > 1 ? 1 : 4)
#else
#define CLA_PV_STEPS CLA_CAT(CLA_PV_STEPS_, CLA_SUB_GROUP)
#endif
#define CLA_SHARES_ROWS (CLA_TX % CLA_MAX(CLA_SUB_GROUP, 1) == 0)

#define CLA_ROW_STEP 1
#define CLA_KEY_STEP 0
#define CLA_OWNS_ROWS(t) CLA_ALL_IF((t)->tx == 0)
#define CLA_RAISE(t, top, m, f) cla_raise_shared(t, top, f)
#define CLA_ROW_MAX(t, m, r) CLA_AT4((t)->m + cla_row_in_tile(t, r))
#define CLA_O_FACTOR(f, i) (real)(CLA_COMPONENT(f[(i) / CLA_GD / 4], (i) / CLA_GD % 4))
#define CLA_COMPONENT(x, i) ((i) == 0 ? (x).s0 : (i) == 1 ? (x).s1 : (i) == 2 ? (x).s2 : (x).s3)
/* Steps without a loop: a chunk on Intel's GPUs, where a loop costs 64 moves of sums. */
#define CLA_PV_STEPS_0 4
#define CLA_PV_STEPS_8 CLA_CV
#define CLA_PV_STEPS_16 CLA_CV
#define CLA_STEPS_0 4
#define CLA_STEPS_8 CLA_CH
#define CLA_STEPS_16 CLA_CH
#define CLA_GREATER(x, y) fmax(x, y) /* one instruction on GPUs, a comparison and a choice are two */
#define CLA_AT4(p) (*(__local cla_real4 *)(p))
/* A vector of conditions: SPIR-V before 1.4 selects vectors by no other. */
#define CLA_ALL_IF(condition) ((integer)(-((condition) != 0)))

CLA_FN int cla_row_in_tile(const cla_tile *t, int g) { return t->ty * CLA_TM + g * 4; }
CLA_FN int cla_key_in_tile(int j, int tx) { return j / 4 * 4 * CLA_TX + 4 * tx + j % 4; }
CLA_FN int cla_slot_row(const cla_tile *t, int g) { return t->r0 + cla_row_in_tile(t, g); }
/* max() changes nothing, but compilers do not see through it: else they keep the places of all slots in registers. */
CLA_FN int cla_slot_k(const cla_tile *t, int k0, int j) { return max(k0 + 4 * t->tx, 0) + cla_key_in_tile(j, 0); }

/* Transfers of `rows` x `width` elements, 4 per item and round: this item's row and first element in round n. */
#define CLA_EACH_ROUND(rows, width) \
    CLA_UNROLL for (int n = 0; n < CLA_ROUNDS(rows, width); n++) { \
        const int at = t->lane + n * CLA_LANES, row = at / ((width) / 4), c = at % ((width) / 4) * 4; \
        if ((rows) * (width) / 4 % CLA_LANES == 0 || at < (rows) * (width) / 4) {
#define CLA_END_ROUND }}
#define CLA_ROW_OF_ROUND(width) (((t)->lane + n * CLA_LANES) / ((width) / 4))

/* Each row of the tile has one item that owns it: rows that are one transfer wide. */
#define CLA_EACH_OWNED_ROW CLA_EACH_ROUND(CLA_BQ, 4)

CLA_FN void cla_put_transposed(__local cla_scalar *to, int pitch, cla_real4 x)
{
    to[0] = x.s0;
    to[pitch] = x.s1;
    to[2 * pitch] = x.s2;
    to[3 * pitch] = x.s3;
}

/* Where a chunk of Q lies, and one of K or V. By macros: from what functions return NVIDIA's compilers compute in 64
 * bits. */
#define CLA_Q_PLACE(t, chunk) ((t)->q + (CLA_QRES ? (chunk) * CLA_CH * CLA_QP : ((chunk) & 1) * CLA_QSTEP))
#define CLA_KV_PLACE(t, chunk) ((t)->kv + ((chunk) & 1) * CLA_KVSTEP)

/* On pages rows are found before any of them is loaded: the number of a page is waited for, and with it what was loaded
 * earlier. Others are found as they are loaded, which takes fewer registers. Items without one in the last round find
 * some row, of those that are there. */
#define CLA_FINDS_FIRST CLA_PAGED
#define CLA_FOUND(from, row) (CLA_FINDS_FIRST ? (from) : (row))
/* They have nothing on its way then: NVIDIA's compilers look at that before they look at whether it is there. */
#define CLA_BLANK(name, rows, width) \
    if (CLA_FINDS_FIRST && (rows) * (width) / 4 % CLA_LANES != 0) \
        t->name##r[CLA_ROUNDS(rows, width) - 1] = (cla_raw4_##name)(0);

/* Operands of the first product, by name: a chunk of dims of NAME's rows is on its way in NAMEr[], then stored
 * transposed at its place. NAME has cla_load4_NAME(), cla_unpack4_NAME() and cla_NAME_row(). */
#define CLA_CHUNKS_OF(name, rows, width, row_of, scaled, place) \
    CLA_FN void cla_fetch_##name(cla_tile *t, const cla_env *e, int first, int chunk) \
    { \
        cla_##name##_handle from[CLA_ROUNDS(rows, CLA_CH)]; \
        CLA_BLANK(name, rows, CLA_CH) \
        if (CLA_FINDS_FIRST) \
            CLA_UNROLL for (int n = 0; n < CLA_ROUNDS(rows, CLA_CH); n++) \
                from[n] = cla_##name##_row(e, row_of(t, first + CLA_ROW_OF_ROUND(CLA_CH))); \
        CLA_EACH_ROUND(rows, CLA_CH) \
            t->name##r[n] = cla_load4_##name(e, CLA_FOUND(from[n], cla_##name##_row(e, row_of(t, first + row))), \
                                             chunk * CLA_CH + c, (width) % CLA_CH == 0, t->wide); \
        CLA_END_ROUND \
    } \
    CLA_FN void cla_store_##name(cla_tile *t, int chunk) \
    { \
        CLA_EACH_ROUND(rows, CLA_CH) \
            const cla_real4 x = cla_unpack4_##name(t->name##r[n]); \
            cla_put_transposed(place(t, chunk) + c * ((rows) + 4) + row, (rows) + 4, (scaled) ? x * t->scale : x); \
        CLA_END_ROUND \
    }
/* Keys past the last one of the loop repeat it: their scores are dropped by the element test. Rows of Q see to
 * themselves. */
#define CLA_LIMITED(t, k) min(k, (t)->end - 1)
#define CLA_UNLIMITED(t, row) (row)
CLA_CHUNKS_OF(q, CLA_BQ, CLA_D, CLA_UNLIMITED, !CLA_K_SCALED, CLA_Q_PLACE)
CLA_CHUNKS_OF(k, CLA_BK, CLA_D, CLA_LIMITED, CLA_K_SCALED, CLA_KV_PLACE)

/* Chunk v of the tile: its keys are those of rows v * CV .. of P. A chunk is a part of a slot's keys, or those of some
 * slots. */
#define CLA_SLOT_CHUNKS CLA_MAX(CLA_TX / CLA_CV, 1)
#define CLA_CHUNK_SLOTS CLA_MAX(CLA_CV / CLA_TX, 1)
CLA_FN int cla_key_of_chunk(int v, int row)
{
    const int slot = CLA_CHUNK_SLOTS > 1 ? row / CLA_TX : 0, tx = row - slot * CLA_TX;
    return cla_key_in_tile(v / CLA_SLOT_CHUNKS * CLA_CHUNK_SLOTS + slot, v % CLA_SLOT_CHUNKS * CLA_CV + tx);
}
/* An operand of the second product, likewise: keys that no query sees weigh nothing, but 0 * NaN would be NaN. Past the
 * last key of the loop a row is zero as well: the last one, which it repeats, may be inf. */
#define CLA_KEYS_OF(name, width, padded) \
    CLA_FN void cla_fetch_##name(cla_tile *t, const cla_env *e, int k0, int chunk) \
    { \
        cla_##name##_handle from[CLA_ROUNDS(CLA_CV, padded)]; \
        CLA_BLANK(name, CLA_CV, padded) \
        if (CLA_FINDS_FIRST) \
            CLA_UNROLL for (int n = 0; n < CLA_ROUNDS(CLA_CV, padded); n++) \
                from[n] = cla_##name##_row(e, CLA_LIMITED(t, k0 + cla_key_of_chunk(chunk, CLA_ROW_OF_ROUND(padded)))); \
        CLA_EACH_ROUND(CLA_CV, padded) \
            const int k = CLA_LIMITED(t, k0 + cla_key_of_chunk(chunk, row)); \
            t->name##r[n] = cla_load4_##name(e, CLA_FOUND(from[n], cla_##name##_row(e, k)), c, (width) == (padded), \
                                             t->wide); \
        CLA_END_ROUND \
    } \
    CLA_FN void cla_store_##name(cla_tile *t, int k0, int chunk) \
    { \
        CLA_EACH_ROUND(CLA_CV, padded) \
            const int key = cla_key_of_chunk(chunk, row); \
            const int there = k0 + key < t->end, seen = CLA_DROPS ? there && t->seen[key] : there; \
            const cla_real4 x = cla_unpack4_##name(t->name##r[n]); \
            CLA_AT4(CLA_KV_PLACE(t, chunk) + row * (padded) + c) = CLA_ALL_IF(seen) ? x : (cla_real4)(0); \
        CLA_END_ROUND \
    }
CLA_KEYS_OF(v, CLA_DV, CLA_DVP)

/* Marks the keys that some row of the tile sees. */
CLA_FN void cla_mark_seen(cla_tile *t, const real *s, int n)
{
    for (int i = t->lane; i < CLA_BK; i += CLA_LANES) t->seen[i] = 0;
    CLA_BARRIER_CLEARED
    CLA_UNROLL for (int j = 0; j < CLA_TN; j++) {
        integer seen = (integer)(0);
        CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) seen |= s[j * CLA_R_N + g] != (real)(-INFINITY);
        if (any(seen)) atomic_or(t->seen + cla_key_in_tile(j, t->tx), 1);
    }
}

CLA_FN void cla_begin(cla_tile *t, const cla_env *e, int r0, int begin, int end, cla_scalar scale)
{
    const int ahead = CLA_CAT(CLA_AHEAD_, CLA_SUB_GROUP);
    t->lane = ahead + CLA_CAT(CLA_INSIDE_, CLA_SUB_GROUP);
    t->tx = t->lane % CLA_TX;
    t->ty = (CLA_SHARES_ROWS ? ahead : t->lane) / CLA_TX;
    t->r0 = r0;
    t->end = end;
    t->wide = CLA_ALL_WIDE(e);
    t->scale = scale;
    CLA_EACH_OWNED_ROW
        t->m[row] = cla_sink(e, r0 + row);
    CLA_END_ROUND
    if (begin >= end) return;
    if (CLA_QRES)
        CLA_NO_UNROLL for (int i = 0; i < CLA_CHUNKS; i++) {
            cla_fetch_q(t, e, r0, i);
            cla_store_q(t, i);
        }
    else
        cla_fetch_q(t, e, r0, 0);
    cla_fetch_k(t, e, begin, 0);
}

/* Where this item keeps slot j of its rows g. */
CLA_FN __local cla_real4 *cla_own_p(const cla_tile *t, int j, int g)
{
    return (__local cla_real4 *)(t->p + (j * CLA_TX + t->tx) * CLA_QP + cla_row_in_tile(t, g));
}

/* The first product, of one chunk: dst += A B^T, both transposed, from this item's rows a and keys b on. */
CLA_FN void cla_dots(real *dst, const __local cla_scalar *a, const __local cla_scalar *b)
{
    CLA_UNROLL_BY(CLA_CAT(CLA_STEPS_, CLA_SUB_GROUP)) for (int d = 0; d < CLA_CH; d++) {
#define CLA_ADD_KEYS(n, i) \
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) \
        CLA_UNROLL for (int h = 0; h < CLA_TN / 4; h++) \
            CLA_ADD_PRODUCT(dst[(4 * h + (n)) * CLA_R_N + g], CLA_AT4(a + d * CLA_QP + g * 4), \
                            (real)(CLA_AT4(b + d * CLA_KP + h * 4 * CLA_TX).i))
        CLA_ADD_KEYS(0, s0)
        CLA_ADD_KEYS(1, s1)
        CLA_ADD_KEYS(2, s2)
        CLA_ADD_KEYS(3, s3)
    }
}

CLA_FN void cla_qk(cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    CLA_FORGET_PLACES(t, k0)
    for (int part = 0; part < CLA_PARTS; part++) {
        const int end = CLA_PARTS == 1 ? CLA_CHUNKS : min((part + 1) * CLA_PART_CHUNKS, CLA_CHUNKS);
        CLA_UNROLL for (int i = 0; i < CLA_S_N; i++) s[i] = (real)(0);
        CLA_NO_UNROLL for (int i = part * CLA_PART_CHUNKS; i < end; i++) {
            const __local cla_scalar *q = CLA_Q_PLACE(t, i) + cla_row_in_tile(t, 0);
            const __local cla_scalar *k = CLA_KV_PLACE(t, i) + 4 * t->tx;
            cla_store_k(t, i);
            if (!CLA_QRES) cla_store_q(t, i);
            CLA_BARRIER_STAGED
            if (i + 1 < CLA_CHUNKS) {
                cla_fetch_k(t, e, k0, i + 1);
                if (!CLA_QRES) cla_fetch_q(t, e, t->r0, i + 1);
            }
            cla_dots(s, q, k);
        }
        /* Of P an item touches its own places only: others read those behind COLLECTED, and last did before CHUNK. */
        if (CLA_PARTS > 1)
            CLA_UNROLL for (int j = 0; j < CLA_TN; j++)
                CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) {
                    if (part) s[j * CLA_R_N + g] += *cla_own_p(t, j, g);
                    if (part + 1 < CLA_PARTS) *cla_own_p(t, j, g) = s[j * CLA_R_N + g];
                }
    }
    cla_fetch_v(t, e, k0, 0);
}

/* Collects a row's value of all TX items where each has its last slot of P, and lets the row's owner combine them. */
#define CLA_COLLECT(x) \
    const __local cla_scalar *lot = t->p + (CLA_BK - CLA_TX) * CLA_QP; \
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) *cla_own_p(t, CLA_TN - 1, g) = x[g]; \
    CLA_BARRIER_COLLECTED
#define CLA_COMBINE(y, combine) \
    cla_scalar y = lot[row]; \
    CLA_UNROLL for (int i = 1; i < CLA_TX; i++) y = combine(y, lot[i * CLA_QP + row]);
#define CLA_HAND_OUT(x, from) \
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) x[g] = CLA_AT4((from) + cla_row_in_tile(t, g));
#define CLA_SUM(x, y) ((x) + (y))

/* CLA_RAISE. The running maximum of a row is its owner's business, in local memory, not m[] of forward.cl: 8 to 16
 * registers less for every item, and one 2^x a row. */
CLA_FN void cla_raise_shared(cla_tile *t, real *top, real *f)
{
    CLA_COLLECT(top)
    CLA_EACH_OWNED_ROW
        const cla_scalar m = t->m[row];
        CLA_COMBINE(y, CLA_GREATER)
        t->m[row] = y = CLA_GREATER(m, y);
        t->m[CLA_BQ + row] = y = cla_pivot((real)(y)).s0;
        t->m[2 * CLA_BQ + row] = cla_weight((real)(m), (real)(y)).s0;
    CLA_END_ROUND
    CLA_BARRIER_RAISED
    CLA_HAND_OUT(top, t->m + CLA_BQ)
    CLA_HAND_OUT(f, t->m + 2 * CLA_BQ)
}
CLA_FN void cla_row_sum(cla_tile *t, real *x)
{
    CLA_COLLECT(x)
    CLA_EACH_OWNED_ROW
        CLA_COMBINE(y, CLA_SUM)
        t->m[CLA_BQ + row] = y;
    CLA_END_ROUND
    CLA_BARRIER_SUMMED
    CLA_HAND_OUT(x, t->m + CLA_BQ)
}

/* Names the four rows of quad g by their vector component. */
#define CLA_ROWS_OF(g, F) F(4 * (g), s0) F(4 * (g) + 1, s1) F(4 * (g) + 2, s2) F(4 * (g) + 3, s3)

/* Where the weights of chunk v begin. */
CLA_FN const __local cla_scalar *cla_p_place(const cla_tile *t, int v)
{
    return t->p + v * CLA_CV * CLA_QP + cla_row_in_tile(t, 0);
}

/* Moves what follows the first n to the front. Mesa does not unroll long loops, and keeps an array in memory where its
 * index varies. Others only rename registers. */
CLA_FN void cla_shift(real *x, int n, int size)
{
    CLA_UNROLL for (int i = n; i < size; i++) x[i - n] = x[i];
}

/* The second product, of one chunk: dst += weights B, from this item's rows and columns on. Both are walked along, not
 * computed from the step: Intel's compiler multiplies then. */
CLA_FN void cla_sums(cla_real4 *dst, const __local cla_scalar *weights, const __local cla_scalar *b)
{
    CLA_UNROLL_BY(CLA_PV_STEPS) for (int i = 0; i < CLA_CV; i++) {
        real y[CLA_GD];
        CLA_UNROLL for (int c = 0; c < CLA_GD; c++) y[c] = CLA_AT4(b + c * 4 * CLA_TX);
        CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) {
            const real w = CLA_AT4(weights + g * 4);
#define CLA_ADD(r, i) \
    CLA_UNROLL for (int c = 0; c < CLA_GD; c++) CLA_ADD_PRODUCT(dst[(r) * CLA_GD + c], (real)(w.i), y[c])
            CLA_ROWS_OF(g, CLA_ADD)
        }
        weights += CLA_QP;
        b += CLA_DVP;
    }
}

/* Adds the tile's part to O, which its row's factor rescales on the way: that is read again here, to be out of the
 * registers. */
CLA_FN void cla_join(const cla_tile *t, cla_real4 *o, cla_real4 *part, int turn)
{
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) {
        const real f = CLA_ALL_IF(turn) ? (real)(1) : CLA_AT4(t->m + 2 * CLA_BQ + cla_row_in_tile(t, g));
#define CLA_JOIN(r, i) \
    CLA_UNROLL for (int c = 0; c < CLA_GD; c++) { \
        CLA_ADD_PRODUCT(part[(r) * CLA_GD + c], o[(r) * CLA_GD + c], (real)(f.i)) \
        o[(r) * CLA_GD + c] = part[(r) * CLA_GD + c]; \
    }
        CLA_ROWS_OF(g, CLA_JOIN)
    }
}

/* WEIGHTS stands before the loop, so that no compiler lets the tile's part of O begin while S is there. */
CLA_FN void cla_pv(cla_tile *t, const cla_env *e, cla_real4 *o, real *s, const real *f, int k0, int n, int next)
{
    const int chunks = CLA_BK / CLA_CV;
    CLA_FORGET_PLACES(t, next)
    cla_store_v(t, k0, 0);
    CLA_UNROLL for (int j = 0; j < CLA_TN; j++)
        CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) *cla_own_p(t, j, g) = s[j * CLA_R_N + g];
    CLA_BARRIER_WEIGHTS
    CLA_NO_UNROLL for (int turn = 0; turn < CLA_TURNS; turn++) {
        cla_real4 part[CLA_O_N];
        CLA_UNROLL for (int i = 0; i < CLA_O_N; i++) part[i] = (cla_real4)(0);
        CLA_NO_UNROLL for (int v = turn * (chunks / CLA_TURNS); v < (turn + 1) * (chunks / CLA_TURNS); v++) {
            cla_fetch_v(t, e, k0, v + 1); /* of the last key, behind all of them */
            cla_sums(part, cla_p_place(t, v), CLA_KV_PLACE(t, v) + 4 * t->tx);
            if (v + 1 < chunks) cla_store_v(t, k0, v + 1);
            CLA_BARRIER_CHUNK
        }
        cla_join(t, o, part, turn);
    }
    /* Unconditional: a branch here is the test of the tile loop again and makes compilers clone it. */
    cla_fetch_k(t, e, next, 0);
    if (!CLA_QRES) cla_fetch_q(t, e, t->r0, 0);
}

CLA_FN void cla_write_row(const cla_tile *t, const cla_env *e, const cla_real4 *o, int row_in_tile, cla_scalar l)
{
    const int r = t->r0 + row_in_tile;
    if (r >= cla_row_count(e, e->nq)) return;
    cla_put_lse(e, r, t->m[row_in_tile], l, t->tx == 0);
    if (!CLA_IS_WRITTEN(e, l)) return;
    const long row = cla_o_row(e, r);
    const cla_scalar inverse = CLA_INVERSE(l);
    CLA_UNROLL for (int c = 0; c < CLA_GD; c++) {
        const cla_real4 x = cla_finished_row(o[c], l, inverse);
        const int col = (c * CLA_TX + t->tx) * 4;
        if (col < CLA_DV) cla_put(e, row, col, x.s0);
        if (col + 1 < CLA_DV) cla_put(e, row, col + 1, x.s1);
        if (col + 2 < CLA_DV) cla_put(e, row, col + 2, x.s2);
        if (col + 3 < CLA_DV) cla_put(e, row, col + 3, x.s3);
    }
}

CLA_FN void cla_write(cla_tile *t, const cla_env *e, cla_real4 *o, const real *m, real *l)
{
#define CLA_WRITE(r, i) cla_write_row(t, e, o + (r) * CLA_GD, cla_row_in_tile(t, g) + (r), l[0].i);
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) {
        CLA_ROWS_OF(0, CLA_WRITE)
        cla_shift(o, 4 * CLA_GD, CLA_O_N);
        cla_shift(l, 1, CLA_R_N);
    }
}
