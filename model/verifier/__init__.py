"""The network of the embedded verifier, its files, and the lexical rules applied with it."""
