"""Other queries for the same question: feedback from the first results, a generator's rewrites, further hops."""
