"""Dense nearest-neighbour search by inner product with FAISS: parameters, index, building and recall."""
