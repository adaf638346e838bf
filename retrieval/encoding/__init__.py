"""How texts become vectors: by sentence-transformers, or, for BERT on a CPU, by our own blocks of packed weights."""
