/* Tiles of K and V come to local memory an item's chunks at a time: there are no reads of blocks of two dimensions. */
#define CLA_SURFACES 0
#define CLA_IS_DIRECT(t) 0
#define CLA_CAN_BE_DIRECT(e, rows) 0
#define CLA_DOTS_OF_SURFACE(t, e, s, k0)
#define CLA_FETCH_K_OF_SURFACE(t, e, k0)
#define CLA_FETCH_V_OF_SURFACE(t, e, k0)
#define CLA_STORE_V_OF_SURFACE(t)
