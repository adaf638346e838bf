"""Training on token rows: next-token cross-entropy over answers."""
