"""Training of embedded readers."""
