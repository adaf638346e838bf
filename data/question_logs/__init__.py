"""Questions that people asked, out of request logs and traces."""
