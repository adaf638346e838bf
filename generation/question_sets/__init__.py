"""Evaluation questions written by rule or by a model from the documents of a collection."""
