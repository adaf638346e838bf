"""Evaluate retrieval: judgements, measures with intervals, paired tests, tuning, and failures."""
