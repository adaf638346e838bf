"""Evidence for verifiers: passages, windows, and structured records converted to sentences."""
