"""The decoder: tensors and tokens. Knows nothing of documents, prompts or the database."""
