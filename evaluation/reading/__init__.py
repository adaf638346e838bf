"""Evaluate readers: exact match, F1, refusal, calibration, risk and coverage."""
