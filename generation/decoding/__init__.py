"""Sampling, the reference decoding loop, and streaming."""
