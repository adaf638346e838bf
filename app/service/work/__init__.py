"""How requests share what there is: turns, batches, generation, verification."""
