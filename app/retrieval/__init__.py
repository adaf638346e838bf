"""Searching, tuning and watching collections."""
