"""Certificates of a hallucination rate: tests, thresholds, label draws, and monitoring (docs/guarantees.md).

This package contains statistics on arrays only. It does not access a store, a clock or a key.
"""
