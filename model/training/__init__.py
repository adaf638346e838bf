"""Training on token rows: next-token cross-entropy over answers. Knows nothing of questions, documents or files."""
