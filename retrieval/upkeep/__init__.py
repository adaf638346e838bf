"""Verify, repair, export and import collections."""
