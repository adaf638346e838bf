"""Rewrite short answers as full sentences."""
