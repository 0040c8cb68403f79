/* Scores as they are: already in units of log2, since Q was scaled by scale * CLA_SCORE_UNIT. */
#define CLA_SCORE_UNIT CLA_LOG2E
CLA_FN real cla_score(const cla_env *e, real s, integer q, integer k) { return s; }
