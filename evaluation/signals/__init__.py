"""Compute signals without references, and evaluate how well they detect hallucinations."""
