"""BM25: parameters, an index based on bm25s, and a reference index based on rank-bm25."""
