"""Nearest vectors by inner product, served by FAISS: parameters, the index, building it, its recall."""
