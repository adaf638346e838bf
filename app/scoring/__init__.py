"""Score answers of other systems."""
