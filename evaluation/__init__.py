"""Claims, verifiers, arms, experiments, estimates and reports. Knows nothing of HTTP or the environment."""
