"""Whether a sentence says something else than its evidence with the same words, by rule."""
