"""The embedded reader as a generator."""
