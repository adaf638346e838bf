"""Split documents into sentences and chunks."""
