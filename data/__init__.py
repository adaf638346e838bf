"""Documents, questions, their loaders, and the SQL store. Does not depend on tensors, retrieval or models."""
