"""How well verifiers tell supported from hallucinated: figures, intervals, baselines, calibration."""
