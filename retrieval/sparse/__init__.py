"""BM25: parameters, an index served by bm25s, and rank-bm25 as the reference."""
