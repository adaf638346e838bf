"""Answers of other systems, scored."""
