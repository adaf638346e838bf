"""Conversion of labelled pairs to the token rows that train the embedded verifier."""
