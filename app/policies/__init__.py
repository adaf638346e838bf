"""Policies in the pipeline: their request, verifier and certificate, and queries that are answered with policies."""
