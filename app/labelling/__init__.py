"""Labelling of a run's answers by people."""
