"""The network of the embedded reader."""
