"""Training of embedded verifiers."""
