"""Fusion, filtering, reranking, deduplication, diversification and context expansion of ranked chunks."""
