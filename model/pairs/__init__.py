"""Scoring pairs of evidence and claim with classifiers of any origin."""
