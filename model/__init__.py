"""The decoder: tensors and tokens. Does not depend on documents, prompts or the database."""
