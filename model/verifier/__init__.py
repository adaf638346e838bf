"""The network of the embedded verifier, its files, and lexical rules that correct its scores."""
