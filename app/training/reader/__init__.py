"""Training the embedded reader."""
