"""Analyses of a finished run beyond its rates: decoding grids, drift, calibration, signals, effect of retrieval."""
