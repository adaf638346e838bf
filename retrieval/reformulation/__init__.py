"""Query reformulation: relevance feedback, generated rewrites and multi-hop retrieval."""
