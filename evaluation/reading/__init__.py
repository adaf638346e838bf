"""How well readers read: exact match, F1, refusal, calibration, risk and coverage."""
