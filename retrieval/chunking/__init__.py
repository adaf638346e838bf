"""Sentences, chunks, and how documents are cut into them."""
