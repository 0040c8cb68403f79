/* Dense K and V, with the true lengths of each batch entry in arrays. */
CLA_FN void cla_sequence(cla_env *e)
{
    cla_lengths(e);
    cla_diagonal(e);
}
