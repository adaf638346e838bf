"""Answering queries, many at a time."""
