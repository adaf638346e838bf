"""Weights in groups of 32 numbers of 4 or 8 bits: the file's own blocks, and decoding steps that multiply with them."""
