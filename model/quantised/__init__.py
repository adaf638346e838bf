"""Weights quantised in groups of 32 (4 or 8 bits), and decoding steps that multiply with them."""
