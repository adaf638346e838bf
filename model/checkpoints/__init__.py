"""Read, validate and write checkpoints."""
