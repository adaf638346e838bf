"""Chunks, BM25, dense vectors, fusion, index generations and the indexing job. Knows nothing of prompts or answers."""
