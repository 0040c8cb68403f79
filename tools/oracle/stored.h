/* stored.h - K and V as a cache holds them: quantised, in pages
 * SPDX-License-Identifier: Apache-2.0
 *
 * Arrays on the host are contiguous in the order of clattn.h, [b,h,n,width]. Where K and V are paged, pages take the
 * place of batch entries and the rows of a page that of keys: [pages,hk,page,width]. */
#ifndef STORED_H
#define STORED_H

#include <clattn.h>

/* One of K and V. */
struct stored {
    int type;
    int64_t b, h, n, width, group;
    double *value;                       /* what is not quantised; NULL where setup_inputs has it */
    unsigned char *bytes;                /* what is: rows of quantise_bytes(type, width) */
    int64_t scale_shape[4], zero_shape[4]; /* of b, h, n and groups: 1 where broadcast */
    double *scale, *zero;                /* of int8 and int4; zero NULL: no zero points */
};

/* Where the rows of sequences lie: key n of entry b is row n % page of page table[b slots + n / page]. */
struct pages {
    int64_t b, page, slots, n; /* n: how many pages there are */
    int32_t *table;            /* [b,slots]; NULL: K and V are not paged */
};

struct stored_kv {
    struct stored k, v;
    struct pages pages;
};

/* Quantises the values x [b,h,n,width] into `s`, whose type, sizes and group are set: int8 and int4 with a scale, and a
 * zero point if it has them, for each group of each row. Rows with a NaN become what nobody may use. Returns 0, or -1
 * without memory. */
int stored_quantise(struct stored *s, int has_zero, const double *x);
/* The values back, [b,h,n,width]. */
void stored_values(const struct stored *s, double *x);
void stored_free(struct stored *s);

/* Makes pages for sequences of up to nk keys: in an order by the seed, with a few spare ones between, and with slots
 * that lead nowhere behind kv_len[b] (NULL: nk). Returns 0, or -1 without memory. */
int pages_make(struct pages *p, int64_t b, int64_t nk, int64_t page, const int32_t *kv_len, uint64_t seed);
/* x [b,h,nk,width] into a pool [n,h,page,width], whose other rows become NaN. */
void pages_scatter(const struct pages *p, int64_t h, int64_t nk, int64_t width, const double *x, double *pool);
/* And back; 0 where the table leads to no page. */
void pages_gather(const struct pages *p, int64_t h, int64_t nk, int64_t width, const double *pool, double *x);

/* K and V of a problem string, k [b,hk,nk,d] and v [b,hk,nk,dv], as it wants them stored; rows behind kv_len become
 * NaN. k and v become the values that are stored. Returns 0, or -1 without memory; stored_kv_free() is due in both
 * cases. */
int stored_kv_make(struct stored_kv *c, const clattn_workload *w, double *k, double *v);
void stored_kv_free(struct stored_kv *c);

#endif
