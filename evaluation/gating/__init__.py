"""Regression gate, which compares a run with a baseline file."""
