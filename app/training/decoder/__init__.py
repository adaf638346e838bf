"""Fine-tuning a decoder checkpoint."""
