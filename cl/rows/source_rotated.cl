/* Elements of a row of K that is turned as it is read, and of one of V, whose width is 0. */
typedef struct {
    int unused; /* see args.h */
    int width, interleaved;
    const __global cla_q_elem *row;
    const __global float *cosines, *sines;
} cla_source;

CLA_FN cla_scalar cla_take(const cla_source *x, int c)
{
    const int half_ = x->width / 2;
    if (c >= x->width) return cla_load_q(x->row + c);
    const int second = x->interleaved ? c & 1 : c >= half_, j = x->interleaved ? c / 2 : second ? c - half_ : c;
    const cla_scalar mine = cla_load_q(x->row + c);
    const cla_scalar other = cla_load_q(x->row + (x->interleaved ? c ^ 1 : second ? j : c + half_));
    const float cosine = x->cosines[j], sine = x->sines[j];
    return second ? cla_turned_second(other, mine, cosine, sine) : cla_turned_first(mine, other, cosine, sine);
}

CLA_FN void cla_source_init(cla_source *x, const __global cla_q_elem *row)
{
    x->row = row;
    x->width = x->interleaved = 0;
    x->cosines = x->sines = 0;
}
CLA_FN void cla_turn_source(cla_source *x, const cla_args *a, const cla_pointers *at, int b, int i, int length)
{
    const int position = cla_position(a, at, b, i, length);
    x->width = a->rotary_width;
    x->interleaved = a->interleaved;
    x->cosines = cla_cosines(a, at, position);
    x->sines = cla_sines(a, at, position);
}
