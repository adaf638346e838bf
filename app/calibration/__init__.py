"""Certificates of hallucination rates: compute them from a labelled run, sign, store and check them."""
