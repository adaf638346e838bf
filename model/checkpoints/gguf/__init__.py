"""GGUF files as decoder checkpoints: header, configuration, tensors and tokenizer, all from the one file."""
