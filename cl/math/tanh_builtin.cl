/* The device's own function. */
CLA_FN real cla_tanh(real x) { return tanh(x); }
