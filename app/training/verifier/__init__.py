"""Training the embedded verifier."""
