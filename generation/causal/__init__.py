"""Decoder checkpoints that follow instructions, as generators."""
