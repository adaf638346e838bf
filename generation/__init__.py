"""Generate completions with citations from a question and retrieved chunks.

This package does not depend on evaluation.
"""
