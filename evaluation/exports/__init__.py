"""Exports of a run to other formats. Each reports what the format cannot hold."""
