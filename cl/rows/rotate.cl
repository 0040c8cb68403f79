/* Rotary embedding: pair j of a row has the angle j of the row's position, by tables of its cosine and sine. */
CLA_FN int cla_angles(const cla_args *a) { return a->rotary_width / 2; }
CLA_FN int cla_first_of(const cla_args *a, int j) { return a->interleaved ? 2 * j : j; }
CLA_FN int cla_second_of(const cla_args *a, int j) { return a->interleaved ? 2 * j + 1 : j + cla_angles(a); }

/* The row of the tables for row i of sequence b, which has `length` rows before it. */
CLA_FN int cla_position(const cla_args *a, const cla_pointers *at, int b, int i, int length)
{
    const int given = a->given & CLA_POSITIONS_GIVEN;
    const int p = at->positions[a->positions_offset + (given ? (long)b * a->nq + i : 0)];
    return clamp(given ? p : length + i, 0, a->rotary_rows - 1);
}
CLA_FN const __global float *cla_cosines(const cla_args *a, const cla_pointers *at, int position)
{
    return at->cosines + (a->cosines_offset + (long)position * cla_angles(a));
}
CLA_FN const __global float *cla_sines(const cla_args *a, const cla_pointers *at, int position)
{
    return at->sines + (a->sines_offset + (long)position * cla_angles(a));
}

/* Both elements of a pair, turned. */
CLA_FN cla_scalar cla_turned_first(cla_scalar x, cla_scalar y, float c, float s) { return x * c - y * s; }
CLA_FN cla_scalar cla_turned_second(cla_scalar x, cla_scalar y, float c, float s) { return x * s + y * c; }
