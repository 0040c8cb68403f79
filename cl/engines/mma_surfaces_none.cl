/* Tiles of K and V come to local memory an item's chunks at a time: there are no reads of blocks of two dimensions. */
#define CLA_SURFACES 0
CLA_FN int cla_are_surfaces(const cla_env *e, int rows) { return 0; }
CLA_FN void cla_dots_of_surface(const cla_tile *t, const cla_env *e, real *s, int k0) {}
CLA_FN void cla_fetch_k_of_surface(const cla_tile *t, const cla_env *e, int k0) {}
CLA_FN void cla_fetch_v_of_surface(cla_tile *t, const cla_env *e, int k0) {}
CLA_FN void cla_store_v_of_surface(cla_tile *t) {}
