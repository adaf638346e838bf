"""Training of decoders from scratch."""
