"""Exports of a run to other formats. Each reports the samples that the format cannot hold."""
