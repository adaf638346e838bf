"""From a question and retrieved chunks to a completion with citations. Knows nothing of verdicts."""
