"""Models by name: open, check and evaluate them."""
