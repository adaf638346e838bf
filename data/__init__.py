"""Documents, questions, their loaders, and the SQL store. Knows nothing of tensors, retrieval or models."""
