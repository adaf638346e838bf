"""Text encoders: sentence-transformers models, with a fast path for BERT models on a CPU."""
