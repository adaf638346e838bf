"""Certificates of a hallucination rate: tests, thresholds, label draws, and the watch afterwards (docs/guarantees.md).

Pure statistics: arrays in, results out. Nothing here reads a store, a clock or a key.
"""
