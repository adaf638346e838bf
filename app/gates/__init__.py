"""Gates: compare a stored run with a baseline file."""
