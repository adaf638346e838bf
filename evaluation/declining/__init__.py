"""Whether an answer declines to answer, in the languages that most people write."""
