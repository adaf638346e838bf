"""Policies: what becomes of an answer once a verifier has scored its claims. Each is one file behind one protocol."""
