"""Where the two indexes of a generation live: in its folder (local), in PostgreSQL with pgvector, or in Milvus."""
