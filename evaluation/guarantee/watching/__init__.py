"""Monitoring of a certified deployment: confidence sequence, alarm, covariate shift and verifier anchors.

All bounds hold at every look, regardless of the number of looks.
"""
