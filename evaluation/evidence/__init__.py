"""Evidence for verifiers: passages, windows, and records as sentences."""
