/* Dense K and V, every sequence whole. */
CLA_FN void cla_sequence(cla_env *e)
{
    cla_whole(e);
    cla_diagonal(e);
}
