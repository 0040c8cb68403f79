/* Caches in one piece: a sequence has room for nk rows. */
#define CLA_ROOM_MEMORY(name)

/* Of the n rows behind the `length` that sequence b has, how many fit. */
#define CLA_FITTING(a, at, b, length, n, name) min(n, max((a)->nk - (length), 0))

/* Where the row at a position of sequence b lies: on axis b, and on axis row. */
CLA_FN int cla_first_axis(const cla_args *a, const cla_pointers *at, int b, int position) { return b; }
CLA_FN int cla_row_axis(const cla_args *a, int position) { return position; }
