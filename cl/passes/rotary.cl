/* Rotates rows of Q: a work-item turns a pair of elements, or copies one of those behind them, and nobody else reads or
 * writes it. So input and output may be one. */
#define cla_raw CLA_CAT(cla_raw_, CLA_TQ)
#define cla_store CLA_CAT(cla_store_, CLA_TQ)

__kernel void cla_rotary(const cla_args a, CLA_PARAMS)
{
    cla_pointers at;
    CLA_TAKE_PARAMS(at)
    size_t id = get_global_id(1) * get_global_size(0) + get_global_id(0);
    if (id >= (size_t)a.rotary_items) return;
    const int part = id % a.row_parts, i = (id /= a.row_parts) % a.nq, h = (id /= a.nq) % a.h, b = id / a.h;
    const __global cla_q_elem *in = at.q + (a.q.offset + b * a.q.b + h * a.q.h + i * a.q.row);
    __global cla_q_elem *out = at.o + (a.o.offset + b * a.o.b + h * a.o.h + i * a.o.row);
    const int angles = cla_angles(&a);
    if (part >= angles) {
        *(__global cla_raw *)(out + part + angles) = *(const __global cla_raw *)(in + part + angles);
        return;
    }
    const int given = a.given & CLA_KV_LEN_GIVEN, length = at.kv_len[a.kv_len_offset + (given ? b : 0)];
    const int position = cla_position(&a, &at, b, i, given ? clamp(length, 0, CLA_LIMIT) : 0);
    const float cosine = cla_cosines(&a, &at, position)[part], sine = cla_sines(&a, &at, position)[part];
    const int first = cla_first_of(&a, part), second = cla_second_of(&a, part);
    const cla_scalar x = cla_load_q(in + first), y = cla_load_q(in + second);
    cla_store(cla_turned_first(x, y, cosine, sine), out + first);
    cla_store(cla_turned_second(x, y, cosine, sine), out + second);
}
