"""Retrieval: chunking, BM25, dense vectors, rank fusion, index generations and the indexing job.

Does not depend on prompts or answers.
"""
