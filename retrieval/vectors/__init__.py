"""Dense nearest-neighbour search with FAISS by inner product: parameters, index, building and recall."""
