/* The gradient of slopes, from what the items of a work-group came to for each tile of keys: of one head, over the
 * entries that share it. */
__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_sum_dslopes(const cla_args a, CLA_PARAMS)
{
    cla_env e;
    CLA_TAKE_PARAMS(e.at)
    e.a = &a;
    const int entries = a.heads / a.h, shared = a.slopes_stride == 0;
    const int first = CLA_GROUP * CLA_BLOCK, n = shared ? a.h : a.heads;
    CLA_NO_UNROLL for (int i = first + (int)get_local_id(0); i < min(first + CLA_BLOCK, n); i += CLA_ITEMS) {
        cla_scalar sum = 0, lost = 0;
        CLA_NO_UNROLL for (int b = 0; b < (shared ? entries : 1); b++) {
            const long parts = (long)a.tiles * a.segments * CLA_PARTNERS;
            const __global cla_scalar *from = cla_slope_parts(&e) + ((long)b * a.h + i) * parts;
            CLA_NO_UNROLL for (long rest = parts; rest > 0; rest -= CLA_CHAIN) {
                cla_scalar part = 0;
                CLA_NO_UNROLL for (int n = (int)min(rest, (long)CLA_CHAIN); n > 0; n--) part += *from++;
                sum = cla_add_kept_scalar(sum, part, &lost);
            }
        }
        e.at.dslopes[a.dslopes_offset + (shared ? 0 : i / a.h * a.slopes_stride) + i % a.h] = (float)sum;
    }
}
