"""Evaluation of verifiers as detectors of hallucination: metrics, intervals, baselines, calibration."""
