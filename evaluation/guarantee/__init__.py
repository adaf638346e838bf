"""Certificates of a hallucination rate: tests, thresholds, label draws, and monitoring (docs/guarantees.md).

Pure statistics on arrays, without access to a store, a clock or a key.
"""
