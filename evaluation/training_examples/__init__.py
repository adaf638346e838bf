"""Labelled pairs as rows that train the verifier."""
