"""Alters the evidence of an answer, so that claims change their truth without being rewritten."""
