"""The indexing job and its stages. Reading, chunking and embedding run concurrently; then the index is assembled."""
