"""Answers many queries concurrently."""
