/* 2^x by the device's own function. */
CLA_FN real cla_exp2(real x) { return exp2(x); }
