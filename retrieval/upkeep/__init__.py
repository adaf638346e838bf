"""Looking after collections: checking everything, rebuilding what can be rebuilt, and moving them between machines."""
