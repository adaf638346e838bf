"""Alteration of an answer's evidence, so that the truth of claims changes although they are not rewritten."""
