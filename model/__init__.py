"""Neural networks: checkpoints, tokenizers, decoders, training. Independent of documents, prompts and the database."""
