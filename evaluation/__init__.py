"""Claims, verifiers, arms, experiments, estimates and reports. Independent of HTTP and environment variables."""
