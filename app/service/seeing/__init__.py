"""Seeing the service run: metrics and logs."""
