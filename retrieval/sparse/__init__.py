"""BM25: its parameters, its arrays served by bm25s, and rank-bm25 as the reference."""
