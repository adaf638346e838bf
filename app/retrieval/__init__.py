"""Retrieval in the application: locations of chunks, tuning, query rewriting, uploads and watched folders."""
