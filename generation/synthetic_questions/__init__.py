"""Rule-based question generation from documents."""
