"""Analyses of a finished run beyond its rates: decoding grids, drift, claim calibration, signals, effect of
retrieval.
"""
