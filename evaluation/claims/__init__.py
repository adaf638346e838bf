"""Claims: found in answers and split into sentences."""
