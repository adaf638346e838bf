"""Evaluation runs: planned, run, analysed and reported."""
