"""Generators for instruction-tuned decoder checkpoints."""
