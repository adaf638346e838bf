"""The network of the embedded verifier, its files, and the lexical rules beside it."""
