"""Evidence as verifiers read it: passages, windows, records as sentences."""
