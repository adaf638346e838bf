"""Verifiers: what V(c) is, behind one protocol."""
