"""The embedded reader as a Generator."""
