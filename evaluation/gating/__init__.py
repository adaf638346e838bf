"""Regression gate: comparison of a run with a baseline file."""
