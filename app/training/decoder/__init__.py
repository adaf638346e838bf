"""Fine-tuning of decoder checkpoints."""
