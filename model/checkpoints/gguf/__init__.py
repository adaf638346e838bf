"""GGUF files as decoder checkpoints: header, configuration, tensors and tokenizer from one file."""
