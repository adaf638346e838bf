"""The watch on a certified deployment: confidence sequence, alarm, covariate shift and verifier anchors.

Statistics of streams. Every bound here holds at every look, however often one looks.
"""
