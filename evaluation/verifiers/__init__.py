"""Verifiers: implementations of V(c) with one protocol."""
