"""Break down a run's rate by repeated samples, kinds of questions, documents, and retrieval."""
