"""Estimates with intervals clustered by question. Knows nothing of texts: it sees outcomes."""
