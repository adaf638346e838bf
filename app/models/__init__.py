"""Open, check and evaluate models by name."""
