"""Training a decoder from scratch."""
