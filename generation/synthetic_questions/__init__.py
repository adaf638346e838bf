"""Rule-based generation of training questions from encyclopedia articles."""
