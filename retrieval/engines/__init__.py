"""Engines that store the two indexes of a generation: local files, PostgreSQL with pgvector, or Milvus."""
