"""Labels of people for a run."""
