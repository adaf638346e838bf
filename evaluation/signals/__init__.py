"""Signals that need no reference: what samples and their probabilities say of an answer, and how far that holds."""
