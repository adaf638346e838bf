"""Gates: a stored run against a baseline file."""
