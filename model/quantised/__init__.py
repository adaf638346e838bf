"""Group-quantised weights (32 numbers of 4 or 8 bits): a file's own blocks, and decoding steps that multiply with
them.
"""
