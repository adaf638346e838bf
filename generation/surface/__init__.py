"""Restore the written form of an answer that was copied from a passage."""
