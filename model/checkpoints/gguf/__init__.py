"""Read GGUF files as decoder checkpoints: header, configuration, tensors and tokenizer."""
