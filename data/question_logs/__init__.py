"""User questions from request logs and traces."""
