"""Extraction of claims from answers, and splitting of sentences into claims."""
