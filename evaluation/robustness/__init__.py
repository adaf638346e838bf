"""Breakdowns of a run's rate: repeated samples, kinds of questions, documents, and retrieval."""
